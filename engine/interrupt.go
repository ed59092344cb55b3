package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// A run ends with an interrupt when the agent has been quiet for quietFor, so
// that requests that come together are shown together, and at most askedFor
// after the first of them.
const (
	quietFor = 50 * time.Millisecond
	askedFor = 250 * time.Millisecond
)

// quiet is the timer's callback.
func (t *turn) quiet() {
	defer t.survive()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.quietTimer = nil
	if t.ending || t.waiting || len(t.asks) == 0 {
		return
	}
	quiet, asked := time.Since(t.lastSaid), time.Since(t.firstAsk)
	if quiet < quietFor && asked < askedFor {
		t.quietTimer = time.AfterFunc(min(quietFor-quiet, askedFor-asked), t.quiet)
		return
	}
	t.suspend()
	t.j.commit()
}

// suspend ends the run with an interrupt. The turn goes on when it is answered.
func (t *turn) suspend() {
	t.b.Suspend()
	requests := make([]Request, 0, len(t.asks))
	for _, a := range t.asks {
		requests = append(requests, a.req)
	}
	t.waiting, t.rec.Turn.Waiting = true, true
	t.rec.State = "waiting"
	if t.e.o.OnInterrupt {
		for _, i := range interruptsOf(requests) {
			t.emitCustom("on_interrupt", i)
		}
	}
	t.closeRun(RunInterrupted, func() {
		t.emit.Finish(agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: interruptsOf(requests)}})
	})
}

// hold keeps what the agent says while no run is open, durably.
func (t *turn) hold(e agentstream.Event) {
	t.note(e)
	note := noteEvent("held", e)
	t.held = append(t.held, e)
	t.heldBytes += len(note)
	t.j.event(eventlog.KindNote, t.run.ID, note)
}

// note learns the names of tools.
func (t *turn) note(e agentstream.Event) {
	if info, ok := e.(agentstream.ToolCallInfo); ok && info.Name != "" {
		t.tools[info.ID] = info.Name
	}
}

// newRunID makes the id of a run that no client named.
func (t *turn) newRunID() string {
	return fmt.Sprintf("%s-run%d", t.rec.Turn.Prefix, t.rec.Turn.Runs+1)
}

// reopen goes on in a new run with what was held. Requests that still wait end it
// again once the agent is quiet.
func (t *turn) reopen(id string) {
	parent := t.run.ID
	t.newRun(id, parent)
	t.open(agui.RunStarted{ParentRunID: parent})
	if t.b != nil {
		t.b.Resume(id, t.events())
		for _, e := range t.held {
			t.b.Forward(e)
		}
	}
	t.held, t.heldBytes = nil, 0
	close(t.reopened)
	t.reopened = make(chan struct{})
	for _, a := range t.asks {
		if t.b != nil && a.req.ToolCallID == "" && a.q.ToolCallID != "" {
			// Its call was among what was held.
			if a.req.ToolCallID, _ = t.b.CallID(a.q.ToolCallID); a.req.ToolCallID != "" {
				t.b.Hold(a.q.ToolCallID)
				t.saveAsk(a)
			}
		}
	}
	t.lastSaid = time.Now()
	if len(t.asks) > 0 && !t.ending {
		t.firstAsk = t.lastSaid
		t.quietTimer = time.AfterFunc(quietFor, t.quiet)
	}
}

// Interrupts gives what waits for an answer as the interrupts of AG-UI.
func (m *Messages) Interrupts() []agui.Interrupt { return interruptsOf(m.Pending) }

// interruptsOf gives requests as a stock client's RUN_FINISHED takes them: one for
// each call, and of one reason only, because clients show no buttons for a
// mixture.
func interruptsOf(requests []Request) []agui.Interrupt {
	var out []agui.Interrupt
	calls := map[string]bool{}
	for _, r := range requests {
		i := interruptOf(r)
		if len(out) > 0 && i.Reason != out[0].Reason || r.ToolCallID != "" && calls[r.ToolCallID] {
			continue
		}
		calls[r.ToolCallID] = true
		out = append(out, i)
	}
	return out
}

func interruptOf(r Request) agui.Interrupt {
	about := map[string]any{"title": r.Title, "kind": r.Kind, "options": r.Options, "agent": r.Agent}
	if r.ExpiresAt != nil {
		about["expiresAt"] = r.ExpiresAt.Format(time.RFC3339)
	}
	i := agui.Interrupt{ID: r.ID, Reason: "tool_call", ToolCallID: r.ToolCallID, Message: r.Title}
	if e := r.Elicitation; e != nil {
		i.Reason, i.Message, i.ResponseSchema = "input_required", e.Message, objectOnly(e.Schema)
		about["mode"], about["url"] = e.Mode, e.URL
	} else {
		i.ResponseSchema = approvalSchema(r.Options)
	}
	// TanStack AI lets nothing be answered whose metadata lacks the last three.
	i.Metadata = encode(map[string]any{"agentstream": about, "kind": "approval", "toolName": r.Title, "input": map[string]any{}})
	return i
}

func objectOnly(schema json.RawMessage) json.RawMessage {
	var object map[string]json.RawMessage
	if json.Unmarshal(schema, &object) != nil || object == nil {
		return nil
	}
	return schema
}

// approvalSchema has only what clients with buttons of their own understand.
func approvalSchema(options []RequestOption) json.RawMessage {
	properties := map[string]any{
		"approved": map[string]string{"type": "boolean"},
		"reason":   map[string]string{"type": "string"},
	}
	if len(options) > 0 {
		ids := []string{}
		for _, o := range options {
			ids = append(ids, o.OptionID)
		}
		properties["optionId"] = map[string]any{"type": "string", "enum": ids}
	}
	return encode(map[string]any{"type": "object", "required": []string{"approved"}, "properties": properties})
}

// resumed reads an AG-UI resume entry. Only approved: true approves, and only an
// object fills in a form; whatever else there is refuses.
func resumed(r agui.Resume, elicitation bool) Answer {
	no := false
	if r.Status != "resolved" {
		return Answer{Approved: &no}
	}
	var p struct {
		Approved any    `json:"approved"`
		OptionID string `json:"optionId"`
		Reason   string `json:"reason"`
	}
	if json.Unmarshal(r.Payload, &p) != nil {
		return Answer{Approved: &no}
	}
	if elicitation {
		if p.Approved == false {
			return Answer{Approved: &no, Reason: p.Reason}
		}
		return Answer{Content: r.Payload}
	}
	approved := p.Approved == true
	return Answer{Approved: &approved, OptionID: p.OptionID, Reason: p.Reason}
}

// sameAnswer reports whether an answer is the one that settled the request.
func sameAnswer(r Request, a Answer) bool {
	chosen, err := choose(r.question(), a)
	if r.State != "resolved" || r.Resolution == nil {
		// It ended without an answer; to walk away from it is no contradiction.
		return err == nil && chosen.Content == nil && !strings.HasPrefix(kindOf(r.question().Options, chosen.OptionID), "allow")
	}
	return err == nil && chosen.OptionID == r.Resolution.OptionID && sameJSON(chosen.Content, r.Resolution.Content)
}

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if len(a) == 0 || len(b) == 0 {
		return len(a) == len(b)
	}
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && string(encode(x)) == string(encode(y))
}

// question is the request as the agent put it, as far as it is recorded.
func (r Request) question() source.Request {
	q := source.Request{Title: r.Title, Kind: r.Kind, Locations: r.Locations}
	for _, o := range r.Options {
		q.Options = append(q.Options, source.Option{ID: o.OptionID, Name: o.Name, Kind: o.Kind})
	}
	if e := r.Elicitation; e != nil {
		q.Elicitation = &source.Elicitation{Message: e.Message, Mode: e.Mode, Schema: e.Schema, URL: e.URL}
	}
	return q
}
