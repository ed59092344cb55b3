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
	Window  int              // how many of the last messages it wants; 0: all

	holds bool // it has posted something
}

// Advance moves the point on over the events that follow it, as far as replaying
// allows, and gives the others, which Prelude takes. Replaying begins just before
// the last text of the agent itself, or else after RUN_STARTED: some clients show
// of a run only what they have seen beginning.
func (p *Point) Advance(events []agui.Event) (rest []agui.Event) {
	cut := replayFrom(events)
	p.Apply(events[:cut]...)
	return events[cut:]
}

func replayFrom(events []agui.Event) int {
	for i, e := range slices.Backward(events) {
		switch e := e.(type) {
		case *agui.TextMessageStart:
			if e.SubagentRunID == "" {
				return i
			}
		case *agui.RunStarted:
			return i + 1
		}
	}
	return 0
}

// Prelude gives the events by which a reader joins who is to have seen the rest,
// too. A thread without a run has an empty prelude.
func (p *Point) Prelude(rest []agui.Event, r Reader) []agui.Event {
	if r.Form == Snapshot && len(rest) > 0 {
		p = p.Clone()
		p.Apply(rest...)
		rest = nil
	}
	if p.run == nil {
		return nil
	}
	started := &agui.RunStarted{ThreadID: p.run.ThreadID, RunID: p.run.RunID, ParentRunID: p.run.ParentRunID}
	started.Timestamp = p.run.Timestamp
	if r.Version != "" {
		started.ProtocolVersion = agui.ProtocolVersion
	}
	out := append(make([]agui.Event, 0, 8), started)
	if s := p.state(rest); s != nil {
		out = append(out, &agui.StateSnapshot{Snapshot: s})
	}
	messages, has := p.shells()
	messages, before := window(messages, r.Window, p.changeable(messages), r.Form == Snapshot || r.holds)
	out = append(out, snapshots(messages, r.Reorder)...)
	out = append(out, windowed(before)...)
	if p.end != nil {
		return append(out, terminal(p.end, r))
	}
	out = append(out, p.subagents()...)
	out = append(out, p.reopen(has)...)
	for _, e := range Merge(rest) {
		switch e.(type) {
		case *agui.StateSnapshot, *agui.StateDelta:
		default:
			out = append(out, terminal(e, r))
		}
	}
	return out
}

// Suit gives the reader's form by what it has posted as its messages.
func (p *Point) Suit(rest []agui.Event, held []agui.Message, r Reader) Reader {
	if p.Holds(rest, held) {
		r.Form = Snapshot
		p = p.Clone()
		p.Apply(rest...)
	}
	messages := p.List.Messages()
	messages, before := window(messages, r.Window, p.changeable(messages), true)
	r.Reorder, r.holds = mends(messages, before, held), len(held) > 0
	if r.Reorder {
		r.Form = Snapshot
	}
	return r
}

// state gives the state after the rest.
func (p *Point) state(rest []agui.Event) []byte {
	l := agui.NewList()
	l.SetState(p.List.State())
	for _, e := range rest {
		switch e.(type) {
		case *agui.StateSnapshot, *agui.StateDelta:
			l.Apply(e)
		}
	}
	return l.State()
}

// reopen gives a START for each thing that is open, in order, and behind it one
// delta of what it has said, or several of a long text.
func (p *Point) reopen(has map[thing]content) (out []agui.Event) {
	for _, start := range p.open {
		kind, id, owner := opened(start)
		fill := filling(kind)
		if fill == "" {
			out = append(out, start)
			continue
		}
		c := has[thing{fill == agui.TypeToolCallArgs, id}]
		out = append(out, again(start, c.metadata))
		out = append(out, delta{typ: fill, id: id, owner: owner}.pieces(c.text)...)
	}
	return out
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

// terminal gives the end of an interrupted run as it is now, with what waits at
// this moment and not with what waited then. Other events stay as they are.
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
