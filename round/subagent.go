package round

import (
	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

type subagentMeta struct {
	ID string `json:"id"`
}

// subagent takes what a sub-agent of this lane says. One that was not announced
// is announced by its first event, in each run that it speaks in.
func (l *lane) subagent(e agentstream.Subagent) {
	sub := l.child(e.ID)
	if sub == nil {
		if e.Done && e.Event == nil && e.Name == "" {
			return // the end of one that nobody heard of
		}
		sub = newLane(l.b, l, e.ID, l.b.mint('s'))
		sub.name = valid(e.Name)
		if sub.name == "" {
			sub.name = "agent"
		}
		if c := l.b.find(e.ToolCallID); c != nil {
			sub.owner, c.sub = c.id, sub.id
		}
		l.b.subs = append(l.b.subs, sub)
	}
	sub.announce()
	if e.Event != nil {
		sub.take(e.Event)
	}
	if e.Done {
		sub.finish("", e.Err)
	}
}

func (l *lane) child(agentID string) *lane {
	for _, sub := range l.b.subs {
		if sub.agent == agentID {
			return sub
		}
	}
	return nil
}

func (l *lane) announce() {
	if l.shown || l.parent == nil {
		return
	}
	l.parent.announce()
	l.shown = true
	e := &agui.SubagentStarted{
		Name: l.name, ParentSubagentRunID: l.parent.id, ParentToolCallID: l.owner,
	}
	e.SubagentRunID = l.id
	e.Metadata = encode(wrapped{subagentMeta{l.agent}})
	l.b.emit(e)
}

// finish ends a sub-agent, its own ones first. failure is why it failed, reason
// what its calls without a result are told ("" if it ended by itself).
func (l *lane) finish(reason, failure string) {
	for i := len(l.b.subs) - 1; i >= 0; i-- {
		if i < len(l.b.subs) && l.b.subs[i].parent == l {
			l.b.subs[i].finish(reason, failure)
		}
	}
	if reason == "" && failure != "" {
		reason = "failed"
	}
	if l.unanswered() {
		l.announce()
	}
	l.closeSegment()
	l.answer(reason)
	l.leave()
	switch {
	case !l.shown:
		return
	case failure != "":
		e := &agui.SubagentError{Message: valid(failure)}
		e.SubagentRunID = l.id
		l.b.emit(e)
	default:
		e := &agui.SubagentFinished{}
		e.SubagentRunID = l.id
		l.b.emit(e)
	}
}

func (l *lane) unanswered() bool {
	for _, r := range l.rounds {
		if r.unanswered > 0 {
			return true
		}
	}
	return false
}

func (l *lane) leave() {
	for i, sub := range l.b.subs {
		if sub == l {
			l.b.subs = append(l.b.subs[:i:i], l.b.subs[i+1:]...)
			return
		}
	}
}
