package agui

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

const cancelledResult = `{"stopReason":"cancelled"}`

// ForReader returns the event data as a reader that posted protocolVersion is to
// get it: a stored RUN_FINISHED without an outcome whose result says stopReason
// "cancelled" gets the outcome cancelled, and pending, the calls of the run that
// the client has to answer, become the success outcome's pendingToolCallIds.
// Readers before 1.0 (they say no version) know neither and get data as it is,
// as does any other event. data itself is never changed.
func ForReader(data []byte, protocolVersion string, pending ...string) []byte {
	if !knowsOutcomes(protocolVersion) || !bytes.HasPrefix(data, []byte(`{"type":"`+string(TypeRunFinished)+`"`)) {
		return data
	}
	e, err := Decode(data)
	end, ok := e.(*RunFinished)
	if err != nil || !ok || end.Outcome != nil && end.Outcome.Type != OutcomeSuccess {
		return data
	}
	var result struct {
		StopReason string `json:"stopReason"`
	}
	switch {
	case len(end.Result) > 0 && json.Unmarshal(end.Result, &result) == nil && result.StopReason == "cancelled":
		end.Outcome = &Outcome{Type: OutcomeCancelled}
	case len(pending) > 0:
		end.Outcome = &Outcome{Type: OutcomeSuccess, PendingToolCallIDs: pending}
	default:
		return data
	}
	return Append(nil, end)
}

func knowsOutcomes(protocolVersion string) bool {
	major, _, _ := strings.Cut(protocolVersion, ".")
	n, err := strconv.Atoi(major)
	return err == nil && n >= 1
}
