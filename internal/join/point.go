// Package join makes what a reader gets who comes in the middle of a thread: a
// prelude that stock AG-UI clients accept and that leaves them with the same
// messages, state and interrupts as a client that was there from the start. It is
// pure: it folds events and makes events.
package join

import (
	"encoding/json"
	"slices"

	"github.com/agentstream-go/agentstream/agui"
)

// Point is a thread at one place of its log: the list that clients hold, and what
// the run has open there. Apply moves it on. Not for concurrent use.
type Point struct {
	List *agui.List

	run  *agui.RunStarted // of the open run, or of the last one
	end  agui.Event       // its terminal; nil while it is open
	open []agui.Event     // STARTs of what is open, in order
	subs []agui.Event     // SUBAGENT_* of the run, in order
}

// NewPoint returns the place just before a run, where clients hold list.
func NewPoint(list *agui.List) *Point { return &Point{List: list} }

// Apply takes the next event of the log.
func (p *Point) Apply(e agui.Event) {
	p.List.Apply(e)
	switch e := e.(type) {
	case *agui.RunStarted:
		p.run, p.end, p.open, p.subs = e, nil, nil, nil
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

// stepKey tells steps of one name apart by who takes them.
func stepKey(name, owner string) string { return name + "\x00" + owner }

// key names what a START opens.
func key(start agui.Event) (agui.Type, string) {
	switch e := start.(type) {
	case *agui.TextMessageStart:
		return e.Type(), e.MessageID
	case *agui.ReasoningStart:
		return e.Type(), e.MessageID
	case *agui.ReasoningMessageStart:
		return e.Type(), e.MessageID
	case *agui.ToolCallStart:
		return e.Type(), e.ToolCallID
	case *agui.StepStarted:
		return e.Type(), stepKey(e.StepName, e.SubagentRunID)
	}
	return "", ""
}

func (p *Point) close(t agui.Type, id string) {
	i := slices.IndexFunc(p.open, func(start agui.Event) bool {
		kind, name := key(start)
		return kind == t && name == id
	})
	if i >= 0 {
		p.open = slices.Delete(p.open, i, i+1)
	}
}

// shells gives the messages with what is open as empty shells in their places,
// and for each open thing all that it has so far, by its kind and id.
func (p *Point) shells() ([]agui.Message, map[string]string) {
	messages := p.List.Messages()
	texts, calls := map[string]bool{}, map[string]bool{}
	for _, start := range p.open {
		switch kind, id := key(start); kind {
		case agui.TypeTextMessageStart, agui.TypeReasoningMessageStart:
			texts[id] = true
		case agui.TypeToolCallStart:
			calls[id] = true
		}
	}
	said := map[string]string{}
	if len(texts)+len(calls) == 0 {
		return messages, said
	}
	for i := range messages {
		m := &messages[i]
		var text string
		if texts[m.ID] && m.Role != agui.RoleActivity && json.Unmarshal(m.Content, &text) == nil {
			said["m"+m.ID], m.Content = text, json.RawMessage(`""`)
			delete(texts, m.ID)
		}
		for j := range m.ToolCalls {
			if c := &m.ToolCalls[j]; calls[c.ID] {
				said["c"+c.ID], c.Arguments = c.Arguments, ""
				delete(calls, c.ID)
			}
		}
	}
	return messages, said
}
