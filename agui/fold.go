package agui

import (
	"encoding/json"
	"slices"
)

// Apply folds one event the way that both clients do.
func (l *List) Apply(ev Event) {
	b := ev.base()
	switch e := ev.(type) {
	case *RunStarted:
		if e.Input != nil {
			l.add(e.Input.Messages)
		}
	case *RunFinished:
		l.interrupts = nil
		if e.Outcome != nil && e.Outcome.Type == OutcomeInterrupt {
			l.interrupts = e.Outcome.Interrupts
		}
	case *TextMessageStart:
		role := e.Role
		if role == "" {
			role = RoleAssistant
		}
		l.startText(Message{ID: e.MessageID, Role: role, Name: e.Name, SubagentRunID: b.SubagentRunID}, b.Metadata)
	case *ReasoningMessageStart:
		l.startText(Message{ID: e.MessageID, Role: RoleReasoning, SubagentRunID: b.SubagentRunID}, b.Metadata)
	case *TextMessageContent:
		l.growText(e.MessageID, e.Delta, b.Metadata)
	case *ReasoningMessageContent:
		l.growText(e.MessageID, e.Delta, b.Metadata)
	case *TextMessageEnd:
		l.endText(e.MessageID, b.Metadata)
	case *ReasoningMessageEnd:
		l.endText(e.MessageID, b.Metadata)
	case *ToolCallStart:
		l.startCall(e)
	case *ToolCallArgs:
		l.growArgs(e.ToolCallID, e.Delta, b.Metadata)
	case *ToolCallEnd:
		l.growArgs(e.ToolCallID, "", b.Metadata)
	case *ToolCallResult:
		l.result(e)
	default:
		l.applyRest(ev)
	}
}

func (l *List) applyRest(ev Event) {
	switch e := ev.(type) {
	case *StateSnapshot:
		l.state.set(e.Snapshot)
		if len(e.Snapshot) == 0 {
			l.state.set(json.RawMessage("null"))
		}
	case *StateDelta:
		l.patchState(e.Delta)
	case *MessagesSnapshot:
		l.replaceAll(e.Messages)
	case *ActivitySnapshot:
		l.activity(e)
	case *ActivityDelta:
		l.patchActivity(e)
	case *ReasoningEncryptedValue:
		l.encrypted(e)
	}
}

// patchState changes the state; a client that never got one has an empty object.
func (l *List) patchState(patch json.RawMessage) {
	state := l.state
	if state.raw() == nil {
		state.set(json.RawMessage("{}"))
	}
	if state.patch(patch) {
		l.state = state
	}
}

func (l *List) startText(m Message, metadata json.RawMessage) {
	e := l.byID[m.ID]
	if e == nil {
		e = &entry{Message: m, is: contentText}
		l.push(e)
	}
	if e.Role != RoleActivity {
		mergeMetadata(&e.Metadata, metadata)
	}
}

func (l *List) growText(id, delta string, metadata json.RawMessage) {
	e := l.byID[id]
	if e == nil || e.Role == RoleActivity {
		return
	}
	e.appendText(delta)
	mergeMetadata(&e.Metadata, metadata)
}

func (l *List) endText(id string, metadata json.RawMessage) {
	if e := l.byID[id]; e != nil && e.Role != RoleActivity {
		mergeMetadata(&e.Metadata, metadata)
	}
}

// startCall adds a call to the message that owns it. A call that is known
// already keeps its place and its arguments.
func (l *List) startCall(e *ToolCallStart) {
	if ref := l.byCall[e.ToolCallID]; ref != nil {
		ref.call.Name = e.ToolCallName
		mergeMetadata(&ref.call.Metadata, e.Metadata)
		return
	}
	owner := l.byID[e.ParentMessageID]
	if e.ParentMessageID == "" || owner == nil || owner.Role != RoleAssistant {
		id := e.ParentMessageID
		if id == "" || owner != nil {
			id = e.ToolCallID
		}
		// The tag goes to the message only if its id was new.
		tag := e.SubagentRunID
		if l.byID[id] != nil {
			tag = ""
		}
		owner = &entry{Message: Message{ID: id, Role: RoleAssistant, SubagentRunID: tag}}
		l.push(owner)
	}
	call := &callEntry{ToolCall: ToolCall{ID: e.ToolCallID, Name: e.ToolCallName}}
	mergeMetadata(&call.Metadata, e.Metadata)
	owner.calls = append(owner.calls, call)
	owner.flags |= hasCalls
	l.byCall[e.ToolCallID] = &callRef{owner, call}
}

func (l *List) growArgs(id, delta string, metadata json.RawMessage) {
	ref := l.byCall[id]
	if ref == nil {
		return
	}
	ref.call.args = append(ref.call.args, validText(delta)...)
	mergeMetadata(&ref.call.Metadata, metadata)
}

// result adds a tool message behind the message that owns the call and the
// results that it has already, or at the end.
func (l *List) result(r *ToolCallResult) {
	e := newEntry(&Message{ID: r.MessageID, Role: RoleTool, ToolCallID: r.ToolCallID, Content: r.Content, SubagentRunID: r.SubagentRunID})
	if e.is == contentAbsent {
		e.is = contentText
	}
	mergeMetadata(&e.Metadata, r.Metadata)
	at := len(l.items)
	if ref := l.byCall[r.ToolCallID]; ref != nil && ref.owner.Role == RoleAssistant {
		at = l.place(ref.owner) + 1
		for at < len(l.items) && l.items[at].Role == RoleTool {
			at++
		}
	}
	l.insert(at, e)
	if at < len(l.items)-1 { // an equal id further back is no longer the first
		l.first(e)
	}
}

// place is where e stands; recent messages are found at once.
func (l *List) place(e *entry) int {
	for i, one := range slices.Backward(l.items) {
		if one == e {
			return i
		}
	}
	return -1
}

func (l *List) first(e *entry) {
	if known := l.byID[e.ID]; known != e && l.place(known) > l.place(e) {
		l.byID[e.ID] = e
	}
}

// replaceAll is the merge of a MESSAGES_SNAPSHOT: what is known stays in its
// place, what is new comes at the end, the rest goes, but reasoning (activity)
// stays if the snapshot has none of it.
func (l *List) replaceAll(messages []Message) {
	incoming := make(map[string]*Message, len(messages))
	has := map[Role]bool{}
	for i := range messages {
		incoming[messages[i].ID] = &messages[i] // of equal ids the last
		has[messages[i].Role] = true
	}
	kept := l.items[:0:0]
	present := make(map[string]bool, len(l.items))
	for _, e := range l.items {
		m, known := incoming[e.ID]
		clientOnly := (e.Role == RoleReasoning || e.Role == RoleActivity) && !has[e.Role]
		switch {
		case known:
			e = newEntry(m)
		case !clientOnly:
			continue
		}
		kept = append(kept, e)
		present[e.ID] = true
	}
	for i := range messages {
		if !present[messages[i].ID] {
			kept = append(kept, newEntry(&messages[i]))
		}
	}
	l.items = kept
	l.reindex()
}

func (l *List) activity(a *ActivitySnapshot) {
	content := a.Content
	if len(content) == 0 {
		content = json.RawMessage("{}")
	}
	e := l.byID[a.MessageID]
	fresh := Message{ID: a.MessageID, Role: RoleActivity, ActivityType: a.ActivityType, Content: content, SubagentRunID: a.SubagentRunID}
	switch {
	case e == nil:
		e = newEntry(&fresh)
		l.push(e)
	case e.Role == RoleActivity && !a.Keep:
		e.ActivityType, e.SubagentRunID = a.ActivityType, a.SubagentRunID
		e.setContent(content)
	case !a.Keep:
		*e = *newEntry(&fresh)
		l.reindex()
	case e.Role != RoleActivity:
		return
	}
	mergeMetadata(&e.Metadata, a.Metadata)
}

func (l *List) patchActivity(a *ActivityDelta) {
	e := l.byID[a.MessageID]
	if e == nil || e.Role != RoleActivity {
		return
	}
	mergeMetadata(&e.Metadata, a.Metadata)
	var d document
	d.set(e.Content)
	if d.patch(a.Patch) {
		e.setContent(d.raw())
		e.ActivityType = a.ActivityType
	}
}

func (l *List) encrypted(e *ReasoningEncryptedValue) {
	if e.Subtype == "tool-call" {
		if ref := l.byCall[e.EntityID]; ref != nil && ref.owner.Role == RoleAssistant {
			ref.call.EncryptedValue = e.EncryptedValue
		}
		return
	}
	if m := l.byID[e.EntityID]; m != nil && m.Role != RoleActivity {
		m.EncryptedValue = e.EncryptedValue
	}
}

// Start implements EventHandler.
func (l *List) Start(i Item) {
	switch i.Kind {
	case KindText:
		l.startText(Message{ID: i.ID, Role: RoleAssistant, SubagentRunID: i.Subagent}, i.Metadata)
	case KindReasoning:
		l.startText(Message{ID: i.ID, Role: RoleReasoning, SubagentRunID: i.Subagent}, i.Metadata)
	case KindToolCall:
		l.startCall(&ToolCallStart{Base{Metadata: i.Metadata, SubagentRunID: i.Subagent}, i.ID, i.Name, i.Parent})
	}
}

// Delta implements EventHandler.
func (l *List) Delta(kind Kind, id, text string) {
	if kind == KindToolCall {
		l.growArgs(id, text, nil)
		return
	}
	l.growText(id, text, nil)
}

// End implements EventHandler.
func (l *List) End(kind Kind, id string, metadata json.RawMessage) {
	if kind == KindToolCall {
		l.growArgs(id, "", metadata)
	}
}

// ReplaceArgs implements EventHandler: the call's arguments are now these.
func (l *List) ReplaceArgs(callID, args string) {
	if ref := l.byCall[callID]; ref != nil {
		ref.call.args = []byte(validText(args))
	}
}

// Result implements EventHandler.
func (l *List) Result(r Result) {
	l.result(&ToolCallResult{
		Base:      Base{Metadata: r.Metadata, SubagentRunID: r.Subagent},
		MessageID: r.MessageID, ToolCallID: r.CallID, Content: StringContent(r.Content),
	})
}

// Emit implements EventHandler; it is Apply.
func (l *List) Emit(e Event) { l.Apply(e) }
