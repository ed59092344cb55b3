package join

import (
	"encoding/json"

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
	var reasoning, activity bool
	for _, m := range messages {
		if m.Role == agui.RoleReasoning && !reasoning {
			reasoning = true
			almost.Messages = append(almost.Messages, agui.Message{ID: "join-reasoning", Role: m.Role, Content: json.RawMessage(`""`)})
		}
		if m.Role == agui.RoleActivity && !activity {
			activity = true
			almost.Messages = append(almost.Messages, agui.Message{ID: "join-activity", Role: m.Role, ActivityType: "join", Content: json.RawMessage(`{}`)})
		}
	}
	return []agui.Event{almost, whole}
}

// Reconcile gives what brings a poster up to date that is behind, right after its
// RUN_STARTED: list is what clients hold there, held what it posted. A poster that
// is not behind needs nothing.
func Reconcile(list *agui.List, held []agui.Message) []agui.Event {
	messages := list.Messages()
	if !Behind(messages, held) {
		return nil
	}
	return snapshots(messages, Reorders(messages, held))
}

// Behind reports whether a poster lacks a user's message, an assistant's text, a
// call or a call's result. Clients post no activity and need post no reasoning.
func Behind(stored, held []agui.Message) bool {
	ids, calls, results := map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, m := range held {
		ids[m.ID] = true
		for _, c := range m.ToolCalls {
			calls[c.ID] = true
		}
		if m.Role == agui.RoleTool {
			results[m.ToolCallID] = m.ID
		}
	}
	for _, m := range stored {
		switch m.Role {
		case agui.RoleUser:
			if !ids[m.ID] {
				return true
			}
		case agui.RoleAssistant:
			if len(m.Content) > 0 && !ids[m.ID] {
				return true
			}
			for _, c := range m.ToolCalls {
				if !calls[c.ID] {
					return true
				}
			}
		case agui.RoleTool:
			// One that the client made up counts as none.
			if results[m.ToolCallID] != m.ID {
				return true
			}
		}
	}
	return invented(stored, held)
}

// invented reports whether the poster holds a result that is not the stored one of
// its call: a made-up one would hide the agent's.
func invented(stored, held []agui.Message) bool {
	known, calls := map[string]bool{}, map[string]bool{}
	for _, m := range stored {
		known[m.ID] = true
		for _, c := range m.ToolCalls {
			calls[c.ID] = true
		}
	}
	for _, m := range held {
		if m.Role == agui.RoleTool && calls[m.ToolCallID] && !known[m.ID] {
			return true
		}
	}
	return false
}

// Holds reports whether a poster holds something of the run that began where
// clients held before: then only a snapshot is right for it.
func Holds(before, now, held []agui.Message) bool {
	old, own := map[string]bool{}, map[string]bool{}
	for _, m := range before {
		old[m.ID] = true
	}
	for _, m := range now {
		if !old[m.ID] && m.Role != agui.RoleUser {
			own[m.ID] = true
		}
	}
	for _, m := range held {
		if own[m.ID] {
			return true
		}
	}
	return false
}

// Reorders reports whether one snapshot would leave the poster's messages in
// another order: a message that it lacks stands before one that it holds, or
// common ones stand otherwise. Activities count as lacking, since clients never
// post them.
func Reorders(stored, held []agui.Message) bool {
	place := map[string]int{}
	for i, m := range held {
		place[m.ID] = i
	}
	last, lacking := -1, false
	for _, m := range stored {
		at, holds := place[m.ID]
		if !holds {
			lacking = true
			continue
		}
		if lacking || at < last {
			return true
		}
		last = at
	}
	return false
}
