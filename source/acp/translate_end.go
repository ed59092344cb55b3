package acp

import (
	"strings"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/source"
)

// end closes the turn with the answer to the prompt: its result, its error, or
// neither if the agent is gone. cancelled: we asked for the end.
func (t *translator) end(result []byte, rpc *acpwire.Error, cancelled bool) (source.StopReason, error) {
	w := t.turn
	if w == nil {
		return "", &source.Error{Code: source.CodeAgentProtocol, Message: "an answer to no prompt"}
	}
	reason := source.StopReason(text(field(result, "stopReason")))
	if reason == "" && result != nil {
		reason = source.EndTurn
	}
	w.close(reason == source.EndTurn && rpc == nil && !cancelled)
	if spent := t.spending(w, result); len(spent) > 0 {
		w.send(agentstream.Usage{Turn: spent})
	}
	for id := range w.calls {
		t.past[id] = true
	}
	t.turn = nil
	if cancelled {
		return source.Cancelled, nil
	}
	return reason, w.failure(result, rpc, reason)
}

// close ends what the agent left open. A call that showed output has that as its
// result; of the others nothing is known, and that is the consumer's to say.
func (w *turn) close(well bool) {
	w.refuse()
	w.main.flush()
	for _, s := range w.inOrder {
		s.flush()
	}
	status := agentstream.ToolCallStatusFailed
	if well {
		status = agentstream.ToolCallStatusCompleted
	}
	for _, c := range w.order {
		w.flushOutput(c)
		if so := first(c.output.String(), c.progress); so != "" && !c.done {
			w.end(c, so, status, true)
		}
	}
	for _, s := range w.inOrder {
		w.closeChild(s, "")
	}
}

// failure gives the error of a turn that did not end well, also one whose
// answer pretends it did.
func (w *turn) failure(result []byte, rpc *acpwire.Error, reason source.StopReason) error {
	switch {
	case rpc != nil:
		return rpcError(rpc)
	case result == nil:
		return &source.Error{Code: source.CodeAgentExited, Message: "the agent gave no answer"}
	case reason == source.EndTurn && (w.failed || w.lastErr != ""):
		return &source.Error{Code: source.CodeAgentError, Message: first(readable(w.lastErr), "the agent says that the turn failed")}
	}
	return nil
}

// readable takes the text out of an error that is a model's HTTP answer.
func readable(s string) string {
	if !well([]byte(s)) {
		return s
	}
	return first(outputText([]byte(s), 4), s)
}

// rpcError makes an error of the answer's. Some agents give the status of their
// model's HTTP answer as the code.
func rpcError(e *acpwire.Error) *source.Error {
	out := &source.Error{Code: source.CodeAgentError, Message: readable(e.Message), Err: e}
	switch e.Code {
	case acpwire.CodeAuthRequired, 401, 403:
		out.Code = source.CodeAuthRequired
	case acpwire.CodeMethodNotFound, acpwire.CodeInvalidParams, acpwire.CodeInvalidRequest, acpwire.CodeParse:
		out.Code = source.CodeAgentProtocol
	case acpwire.CodeNotFound:
		if field(e.Data, "sessionId") != nil { // it has forgotten the session, which is of no more use
			out.Code = source.CodeAgentProtocol
		}
	}
	if out.Message == "" {
		out.Message = e.Error()
	}
	detail := first(text(field(e.Data, "details")), text(field(e.Data, "message")), text(e.Data))
	if detail == "" && hasArguments(e.Data) {
		b, _ := compact(e.Data)
		detail = string(b)
	}
	out.Detail = strings.TrimSpace(detail)
	return out
}
