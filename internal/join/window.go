package join

import (
	"encoding/json"

	"github.com/agentstream-go/agentstream/agui"
)

// window keeps the last n messages, for a reader that asked for no more; 0 keeps
// all. A result is never without its owner. What may still change comes along
// whatever its age, because a client puts what it does not know at the end: what
// keep names, calls without a result, and the activities of the turn. For a reader
// that may hold something there is one message of each role that a client keeps
// where a snapshot has none of it; else it would keep a thought in part for good.
// before is the first of the last ones; it is empty if nothing was left out.
func window(messages []agui.Message, n int, keep map[string]bool, holds bool) (kept []agui.Message, before string) {
	if n <= 0 || len(messages) <= n {
		return messages, ""
	}
	from := len(messages) - n
	for from > 0 && messages[from].Role == agui.RoleTool {
		from-- // results stand right behind their owner
	}
	stays := changing(messages, from, keep)
	if holds {
		for _, stand := range stands {
			i := from - 1
			for i >= 0 && messages[i].Role != stand.Role {
				i--
			}
			if i >= 0 && !hasRole(messages[from:], stand.Role) {
				stays[i] = true
			}
		}
	}
	for i := range messages[:from] {
		if stays[i] {
			kept = append(kept, messages[i])
		}
	}
	if len(kept) == from {
		return messages, ""
	}
	return append(kept, messages[from:]...), messages[from].ID
}

// changing says which of the messages before from may still change.
func changing(messages []agui.Message, from int, keep map[string]bool) map[int]bool {
	waiting, owned, stays := unanswered(messages), map[string]bool{}, map[int]bool{}
	turn := 0
	for i := range messages {
		if messages[i].Role == agui.RoleUser {
			turn = i
		}
	}
	for i := range messages[:from] {
		m := &messages[i]
		is := keep[m.ID] || i > turn && m.Role == agui.RoleActivity || m.Role == agui.RoleTool && owned[m.ToolCallID]
		for _, c := range m.ToolCalls {
			is = is || waiting[c.ID]
		}
		if !is {
			continue
		}
		stays[i] = true
		for _, c := range m.ToolCalls {
			owned[c.ID] = true
		}
	}
	return stays
}

// unanswered gives the calls that have no result.
func unanswered(messages []agui.Message) map[string]bool {
	calls := map[string]bool{}
	for i := range messages {
		m := &messages[i]
		for _, c := range m.ToolCalls {
			calls[c.ID] = true
		}
		if m.Role == agui.RoleTool {
			delete(calls, m.ToolCallID)
		}
	}
	return calls
}

// windowed tells a reader that there is more, and from where to page back.
func windowed(before string) []agui.Event {
	if before == "" {
		return nil
	}
	value, _ := json.Marshal(map[string]string{"before": before})
	return []agui.Event{&agui.Custom{Name: "agentstream.window", Value: value}}
}

// changeable gives the messages that what follows in the open run may add to: what
// is open, and the last text of the agent itself, which further calls join.
func (p *Point) changeable(messages []agui.Message) map[string]bool {
	keep, calls := map[string]bool{}, map[string]bool{}
	for _, start := range p.open {
		kind, id, _ := opened(start)
		switch filling(kind) {
		case agui.TypeToolCallArgs:
			calls[id] = true
		case "":
		default:
			keep[id] = true
		}
	}
	text := p.end == nil
	for i := len(messages) - 1; i >= 0 && (text || len(calls) > 0); i-- {
		m := &messages[i]
		if text && m.Role == agui.RoleAssistant && m.SubagentRunID == "" && len(m.Content) > 0 && p.own[m.ID] {
			keep[m.ID], text = true, false
		}
		for _, c := range m.ToolCalls {
			if calls[c.ID] {
				keep[m.ID] = true
				delete(calls, c.ID)
			}
		}
	}
	return keep
}
