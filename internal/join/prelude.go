package join

import (
	"slices"

	"github.com/agentstream-go/agentstream/agui"
)

// Form is one of the two ways to restate a thread.
type Form uint8

const (
	// Replay restates the thread as it was before the last message of the open
	// run and replays the rest, for readers that hold nothing of the run.
	Replay Form = iota
	// Snapshot restates everything and re-opens what is open, for readers that
	// hold something already.
	Snapshot
)

// Reader says who joins.
type Reader struct {
	Form    Form
	Version string           // protocolVersion it names; empty: an old client
	Reorder bool             // it holds messages in an order that one snapshot cannot mend
	Pending []agui.Interrupt // what waits now, where the last run was interrupted
}

// Prelude gives the events by which a reader joins: list is what clients hold
// just before the run, run the run's events up to the place of joining. No run at
// all is an empty prelude.
func Prelude(list *agui.List, run []agui.Event, r Reader) []agui.Event {
	cut := len(run)
	if r.Form == Replay {
		cut = replayFrom(run)
	}
	p := NewPoint(list)
	for _, e := range run[:cut] {
		p.Apply(e)
	}
	if p.run == nil {
		return nil
	}
	state := p.List
	if cut < len(run) {
		state = p.List.Clone()
		for _, e := range run[cut:] {
			state.Apply(e)
		}
	}
	out := p.restate(state, r)
	if p.end != nil {
		return append(out, terminal(p.end, r))
	}
	for _, e := range Merge(run[cut:]) {
		switch e := e.(type) {
		case *agui.StateSnapshot, *agui.StateDelta:
		case *agui.RunFinished, *agui.RunError:
			out = append(out, terminal(e, r))
		default:
			out = append(out, e)
		}
	}
	return out
}

// replayFrom finds the place just before the last root text of the run, or just
// after its RUN_STARTED.
func replayFrom(run []agui.Event) int {
	for i, e := range slices.Backward(run) {
		if t, ok := e.(*agui.TextMessageStart); ok && t.SubagentRunID == "" {
			return i
		}
	}
	return min(1, len(run))
}

// restate gives the prelude up to what is open: its order is what both clients'
// verifiers demand.
func (p *Point) restate(state *agui.List, r Reader) []agui.Event {
	started := &agui.RunStarted{ThreadID: p.run.ThreadID, RunID: p.run.RunID, ParentRunID: p.run.ParentRunID}
	started.Timestamp = p.run.Timestamp
	if r.Version != "" {
		started.ProtocolVersion = agui.ProtocolVersion
	}
	out := []agui.Event{started}
	if s := state.State(); s != nil {
		out = append(out, &agui.StateSnapshot{Snapshot: s})
	}
	messages, said := p.shells()
	out = append(out, snapshots(messages, r.Reorder)...)
	out = append(out, p.subagents()...)
	for _, start := range p.open {
		out = append(out, start)
		switch kind, id := key(start); kind {
		case agui.TypeTextMessageStart:
			out = filled(out, said["m"+id], &agui.TextMessageContent{MessageID: id, Delta: said["m"+id]})
		case agui.TypeReasoningMessageStart:
			out = filled(out, said["m"+id], &agui.ReasoningMessageContent{MessageID: id, Delta: said["m"+id]})
		case agui.TypeToolCallStart:
			out = filled(out, said["c"+id], &agui.ToolCallArgs{ToolCallID: id, Delta: said["c"+id]})
		}
	}
	return out
}

// filled appends the one delta of what has been said, tagged as what it fills.
func filled(out []agui.Event, text string, delta agui.Event) []agui.Event {
	if text == "" {
		return out
	}
	tag := owner(out[len(out)-1])
	switch d := delta.(type) {
	case *agui.TextMessageContent:
		d.SubagentRunID = tag
	case *agui.ReasoningMessageContent:
		d.SubagentRunID = tag
	case *agui.ToolCallArgs:
		d.SubagentRunID = tag
	}
	return append(out, delta)
}

func owner(e agui.Event) string {
	switch e := e.(type) {
	case *agui.TextMessageStart:
		return e.SubagentRunID
	case *agui.ReasoningMessageStart:
		return e.SubagentRunID
	case *agui.ToolCallStart:
		return e.SubagentRunID
	}
	return ""
}

// subagents announces all of the run's, then ends those that have ended: a later
// child may name a parent that has.
func (p *Point) subagents() []agui.Event {
	var started, ended []agui.Event
	for _, e := range p.subs {
		if _, ok := e.(*agui.SubagentStarted); ok {
			started = append(started, e)
		} else {
			ended = append(ended, e)
		}
	}
	return append(started, ended...)
}

// terminal gives the end of the run as it is now: an interrupted one with what
// waits at this moment, not with what waited then.
func terminal(e agui.Event, r Reader) agui.Event {
	f, ok := e.(*agui.RunFinished)
	if !ok || f.Outcome == nil || f.Outcome.Type != agui.OutcomeInterrupt {
		return e
	}
	now := *f
	now.Outcome = nil
	if len(r.Pending) > 0 {
		now.Outcome = &agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: r.Pending}
	}
	return &now
}
