// Package join makes what a reader gets who comes in the middle of a thread: a
// prelude that stock AG-UI clients accept and that leaves them with the same
// messages, state and interrupts as a client that was there from the start. It is
// pure: it folds events and makes events.
package join

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/agentstream-go/agentstream/agui"
)

// Point is a thread at one place of its log: the list that clients hold, and what
// the run has open there. Apply moves it on; the other methods change nothing and
// may be called concurrently while nobody applies.
type Point struct {
	List *agui.List

	run  *agui.RunStarted // of the open run, or of the last one
	end  agui.Event       // its terminal; nil while it is open
	open []agui.Event     // STARTs of what is open, in order
	subs []agui.Event     // SUBAGENT_* of the run, in order
	own  map[string]bool  // ids of the messages that the run has made, the user's left out
}

// NewPoint returns the place just before a run, where clients hold list, which is
// the point's from now on.
func NewPoint(list *agui.List) *Point { return &Point{List: list} }

// Ended returns the place just after a run's terminal, where clients hold list.
func Ended(list *agui.List, run *agui.RunStarted, end agui.Event) *Point {
	return &Point{List: list, run: run, end: end}
}

// Clone returns a copy that moves on by itself.
func (p *Point) Clone() *Point {
	c := *p
	c.List, c.open, c.subs, c.own = p.List.Clone(), slices.Clone(p.open), slices.Clone(p.subs), maps.Clone(p.own)
	return &c
}

// Apply takes the next events of the log.
func (p *Point) Apply(events ...agui.Event) {
	for _, e := range events {
		p.List.Apply(e)
		p.follow(e)
		if id := made(e); id != "" && p.own != nil {
			p.own[id] = true
		}
	}
	p.List.State() // renders what a patch changed, so that reading changes nothing
}

func (p *Point) follow(e agui.Event) {
	switch e := e.(type) {
	case *agui.RunStarted:
		p.run, p.end, p.open, p.subs, p.own = e, nil, nil, nil, map[string]bool{}
	case *agui.RunFinished, *agui.RunError:
		p.end, p.open = e, nil
	case *agui.SubagentStarted, *agui.SubagentFinished, *agui.SubagentError:
		p.subs = append(p.subs, e)
	case *agui.TextMessageStart, *agui.ReasoningStart, *agui.ReasoningMessageStart, *agui.ToolCallStart, *agui.StepStarted:
		p.open = append(p.open, e)
	case *agui.TextMessageEnd:
		p.close(agui.TypeTextMessageStart, e.MessageID)
	case *agui.ReasoningEnd:
		p.close(agui.TypeReasoningStart, e.MessageID)
	case *agui.ReasoningMessageEnd:
		p.close(agui.TypeReasoningMessageStart, e.MessageID)
	case *agui.ToolCallEnd:
		p.close(agui.TypeToolCallStart, e.ToolCallID)
	case *agui.StepFinished:
		p.close(agui.TypeStepStarted, stepKey(e.StepName, e.SubagentRunID))
	}
}

// made gives the id of the message that an event makes, or that it makes one in
// if its run has begun it.
func made(e agui.Event) string {
	switch e := e.(type) {
	case *agui.TextMessageStart:
		return e.MessageID
	case *agui.ReasoningMessageStart:
		return e.MessageID
	case *agui.ToolCallStart:
		if e.ParentMessageID != "" {
			return e.ParentMessageID
		}
		return e.ToolCallID
	case *agui.ToolCallResult:
		return e.MessageID
	case *agui.ActivitySnapshot:
		return e.MessageID
	}
	return ""
}

// Holds reports whether a poster holds something that the run has made, up to
// the end of rest: then only a snapshot is right for it.
func (p *Point) Holds(rest []agui.Event, held []agui.Message) bool {
	own := map[string]bool{}
	maps.Copy(own, p.own)
	for _, e := range rest {
		own[made(e)] = true
	}
	delete(own, "")
	for i := range held {
		if own[held[i].ID] {
			return true
		}
	}
	return false
}

// stepKey tells steps of one name apart by who takes them.
func stepKey(name, owner string) string { return name + "\x00" + owner }

// opened gives what a START opens: its kind, its id and whose it is.
func opened(start agui.Event) (kind agui.Type, id, owner string) {
	switch e := start.(type) {
	case *agui.TextMessageStart:
		id, owner = e.MessageID, e.SubagentRunID
	case *agui.ReasoningStart:
		id, owner = e.MessageID, e.SubagentRunID
	case *agui.ReasoningMessageStart:
		id, owner = e.MessageID, e.SubagentRunID
	case *agui.ToolCallStart:
		id, owner = e.ToolCallID, e.SubagentRunID
	case *agui.StepStarted:
		id, owner = stepKey(e.StepName, e.SubagentRunID), e.SubagentRunID
	}
	return start.Type(), id, owner
}

func (p *Point) close(t agui.Type, id string) {
	for i, start := range slices.Backward(p.open) {
		if kind, name, _ := opened(start); kind == t && name == id {
			p.open = slices.Delete(p.open, i, i+1)
			return
		}
	}
}

// filling gives the type of the deltas that fill what a START opens, and none for
// what has no text.
func filling(start agui.Type) agui.Type {
	switch start {
	case agui.TypeTextMessageStart:
		return agui.TypeTextMessageContent
	case agui.TypeReasoningMessageStart:
		return agui.TypeReasoningMessageContent
	case agui.TypeToolCallStart:
		return agui.TypeToolCallArgs
	}
	return ""
}

// thing names a text or a call.
type thing struct {
	call bool
	id   string
}

// content is what an open thing has by now.
type content struct {
	text     string
	metadata json.RawMessage
}

// shells gives the messages with what is open as empty shells in their places,
// and what each open thing has.
func (p *Point) shells() ([]agui.Message, map[thing]content) {
	messages := p.List.Messages()
	open := map[thing]bool{}
	for _, start := range p.open {
		kind, id, _ := opened(start)
		if fill := filling(kind); fill != "" {
			open[thing{fill == agui.TypeToolCallArgs, id}] = true
		}
	}
	has := map[thing]content{}
	for i := range slices.Backward(messages) {
		if len(has) == len(open) {
			break
		}
		m := &messages[i]
		var text string
		if t := (thing{id: m.ID}); open[t] && json.Unmarshal(m.Content, &text) == nil {
			has[t], m.Content = content{text, m.Metadata}, json.RawMessage(`""`)
		}
		for j := range m.ToolCalls {
			c := &m.ToolCalls[j]
			if t := (thing{true, c.ID}); open[t] {
				has[t], c.Arguments = content{c.Arguments, c.Metadata}, ""
			}
		}
	}
	return messages, has
}

// again gives a START once more, with the metadata that its thing has by now.
func again(start agui.Event, metadata json.RawMessage) agui.Event {
	switch e := start.(type) {
	case *agui.TextMessageStart:
		c := *e
		c.Metadata = metadata
		return &c
	case *agui.ReasoningMessageStart:
		c := *e
		c.Metadata = metadata
		return &c
	case *agui.ToolCallStart:
		c := *e
		c.Metadata = metadata
		return &c
	}
	return start
}
