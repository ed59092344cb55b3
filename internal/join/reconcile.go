package join

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentstream-go/agentstream/agui"
)

// snapshots restates messages by one MESSAGES_SNAPSHOT, or by two where the
// reader's order is wrong: a snapshot cannot move what a client holds, so the
// first one empties it. Roles that a snapshot lacks are kept by clients, hence
// the stand-ins.
func snapshots(messages []agui.Message, reorder bool) []agui.Event {
	if messages == nil {
		messages = []agui.Message{}
	}
	whole := &agui.MessagesSnapshot{Messages: messages}
	if !reorder {
		return []agui.Event{whole}
	}
	almost := &agui.MessagesSnapshot{Messages: []agui.Message{}}
	for _, stand := range stands {
		if hasRole(messages, stand.Role) {
			almost.Messages = append(almost.Messages, stand)
		}
	}
	return []agui.Event{almost, whole}
}

var stands = []agui.Message{
	{ID: "join-reasoning", Role: agui.RoleReasoning, Content: json.RawMessage(`""`)},
	{ID: "join-activity", Role: agui.RoleActivity, ActivityType: "join", Content: json.RawMessage(`{}`)},
}

func hasRole(messages []agui.Message, role agui.Role) bool {
	return slices.ContainsFunc(messages, func(m agui.Message) bool { return m.Role == role })
}

// Reconcile gives what brings a poster up to date that is behind, right after its
// RUN_STARTED: list is what clients hold there, held what it posted. A poster that
// is not behind needs nothing. One that wants the last messages alone (0: all) is
// judged by those and by what it holds.
func Reconcile(list *agui.List, held []agui.Message, last int) []agui.Event {
	all := list.Messages()
	messages, before := window(all, last, nil, true)
	judged := messages
	if before != "" {
		judged = concerning(all, messages, held)
	}
	if !Behind(judged, held) {
		return nil
	}
	return append(snapshots(messages, mends(messages, before, held)), windowed(before)...)
}

// concerning gives the messages that are in the window or held, and the results of
// calls that are.
func concerning(all, window, held []agui.Message) (out []agui.Message) {
	ids, calls := map[string]bool{}, map[string]bool{}
	for _, list := range [][]agui.Message{window, held} {
		for i := range list {
			ids[list[i].ID] = true
		}
	}
	for i := range all {
		m := &all[i]
		if !ids[m.ID] && !calls[m.ToolCallID] {
			continue
		}
		out = append(out, *m)
		for _, c := range m.ToolCalls {
			calls[c.ID] = true
		}
	}
	return out
}

// Behind reports whether a poster lacks a user's message, an assistant's text, a
// call or a call's result, has a text or arguments in part, or holds a result that it made up: a client keeps that
// one and drops the agent's. Reasoning and activities do not count, since clients
// need not post them, nor do messages that are not stored.
func Behind(stored, held []agui.Message) bool {
	ids, calls, results := map[string]*agui.Message{}, map[string]string{}, map[string]string{}
	for i := range held {
		m := &held[i]
		ids[m.ID] = m
		for _, c := range m.ToolCalls {
			calls[c.ID] = c.Arguments
		}
		if m.Role == agui.RoleTool {
			results[m.ToolCallID] = m.Text()
		}
	}
	open := map[string]bool{} // calls without a result
	for i := range stored {
		m := &stored[i]
		switch m.Role {
		case agui.RoleUser:
			if ids[m.ID] == nil {
				return true
			}
		case agui.RoleAssistant:
			if h := ids[m.ID]; len(m.Content) > 0 && (h == nil || cut(h.Text(), m.Text())) {
				return true
			}
			for _, c := range m.ToolCalls {
				if args, has := calls[c.ID]; !has || cut(args, c.Arguments) {
					return true
				}
				open[c.ID] = true
			}
		case agui.RoleTool:
			// Some clients give results ids of their own.
			if text, has := results[m.ToolCallID]; ids[m.ID] == nil && (!has || text != m.Text()) {
				return true
			}
			delete(open, m.ToolCallID)
		}
	}
	for id := range open {
		if _, has := results[id]; has {
			return true
		}
	}
	return false
}

// cut reports whether a text is the beginning of another one, as a client has it
// that went away in mid-stream.
func cut(text, whole string) bool { return len(text) < len(whole) && strings.HasPrefix(whole, text) }

// Reorders reports whether one snapshot may leave the poster's messages in
// another order than stored: what a client lacks goes to the end of what it
// holds. Clients never post activities, and some post no reasoning; they hold all
// of those or none, and either must come out right. Whoever posts nothing that is
// stored has nothing.
func Reorders(stored, held []agui.Message) bool {
	place := make(map[string]int, len(held))
	for i := range held {
		place[held[i].ID] = i
	}
	silent := map[agui.Role]bool{agui.RoleActivity: true, agui.RoleReasoning: !hasRole(held, agui.RoleReasoning)}
	if !common(stored, held) {
		return false
	}
	last, lacking := -1, false
	unsaid := map[agui.Role]bool{} // of these there was one before
	for i := range stored {
		m := &stored[i]
		at, holds := place[m.ID]
		switch {
		case silent[m.Role] && !holds:
			if lacking {
				return true // if it is held
			}
			unsaid[m.Role] = true
		case !holds:
			lacking = true
		case lacking || at < last || len(unsaid) > 0: // if those are not held
			return true
		default:
			last = at
		}
	}
	return len(unsaid) > 1
}

// common reports whether a poster holds a message that is stored.
func common(stored, held []agui.Message) bool {
	has := map[string]bool{}
	for i := range held {
		has[held[i].ID] = true
	}
	return slices.ContainsFunc(stored, func(m agui.Message) bool { return has[m.ID] })
}

// mends is Reorders for a window that begins with before. Who posts none of it may
// still hold thoughts and activities of it, of an earlier window.
func mends(stored []agui.Message, before string, held []agui.Message) bool {
	return Reorders(stored, held) || before != "" && len(held) > 0 && !common(stored, held)
}
