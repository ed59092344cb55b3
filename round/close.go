package round

import (
	"github.com/agentstream-go/agentstream/agui"
)

// Hold marks an approval of the call as open: its round is not handed out until
// Release was called as often, or the turn is closed. agentID is the agent's own
// id of the call; an unknown one is ignored.
func (b *Builder) Hold(agentID string) {
	b.mu.Lock()
	defer b.unlock()
	if c := b.find(agentID); c != nil {
		c.held++
		c.round.held++
	}
}

// Release takes a Hold back, and hands the round out if it was due.
func (b *Builder) Release(agentID string) {
	b.mu.Lock()
	defer b.unlock()
	c := b.find(agentID)
	if c == nil || c.held == 0 {
		return
	}
	c.held--
	c.round.held--
	if !b.closed {
		c.lane.offer(c.round)
	}
}

// Close ends the turn: open texts end, each call without a result gets its
// arguments, its end and a placeholder with the reason ("cancelled", "failed",
// "unfinished"; "" stands for a turn that ended by itself, where a call without
// a result is unfinished), and every round that is due is handed out, approvals
// or not. The terminal event is the caller's. A second Close does nothing.
func (b *Builder) Close(reason string) {
	b.mu.Lock()
	defer b.unlock()
	if b.closed {
		return
	}
	b.main.closeSegment()
	for len(b.subs) > 0 {
		b.subs[len(b.subs)-1].finish(reason, reason)
	}
	b.main.answer(reason)
	b.closed = true
	for _, r := range b.main.rounds {
		r.over = true
		if r.dirty || r.again {
			b.handOut(r)
		}
	}
}

// answer gives every call that has no result a placeholder.
func (l *lane) answer(reason string) {
	if reason == "" {
		reason = unfinished
	}
	for _, r := range l.rounds {
		for _, c := range r.calls {
			if l.b.restored && c.replaced != "" {
				l.b.replaceArgs(c.id, c.replaced) // whoever said it before may not have come to the snapshot
			}
			if c.result == nil {
				c.finish(&outcome{
					id: l.b.mint('t'), content: placeholder(reason), failed: true, placeholder: reason,
				})
			}
		}
	}
}

const unfinished = "unfinished"

func placeholder(reason string) string { return "[no result: " + reason + "]" }

// Suspend closes what is open for the end of a run that is not the end of the
// turn: texts end, calls end without arguments and without a result. The run's
// terminal is the caller's. Until Resume nothing may be passed in but Hold,
// Release and CallID.
func (b *Builder) Suspend() {
	b.mu.Lock()
	defer b.unlock()
	if b.closed {
		return
	}
	b.main.suspend()
	for i := len(b.subs) - 1; i >= 0; i-- {
		l := b.subs[i]
		if !l.shown {
			continue
		}
		l.suspend()
		l.shown = false
		e := &agui.SubagentFinished{Outcome: &agui.Outcome{Type: agui.OutcomeSuspended}}
		e.SubagentRunID = l.id
		b.emit(e)
	}
}

func (l *lane) suspend() {
	l.closeSegment()
	for _, r := range l.rounds {
		if r.unanswered == 0 {
			continue
		}
		for _, c := range r.calls {
			if c.result == nil {
				c.close()
			}
		}
	}
}

// Resume goes on in another run of the turn. What follows opens new messages;
// results still go to the calls of earlier runs.
func (b *Builder) Resume(run string, events agui.EventHandler) {
	b.mu.Lock()
	defer b.unlock()
	b.cfg.Run = run
	b.runNo++
	b.events = events
	if events == nil {
		b.events = nobody{}
	}
}
