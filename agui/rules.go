package agui

import "fmt"

// apply checks an event of an open run against what is open, and who owns it,
// and takes it into account if it is right.
func (t *tracker) apply(e Event, v Version) error {
	tag := e.base().SubagentRunID
	switch e := e.(type) {
	case *TextMessageStart:
		return t.begin(entText, e.MessageID, tag)
	case *TextMessageContent:
		return t.goOn(entText, e.MessageID, tag)
	case *TextMessageEnd:
		return t.finish(entText, e.MessageID, tag)
	case *ToolCallStart:
		return t.call(e, tag)
	case *ToolCallArgs:
		return t.goOn(entToolCall, e.ToolCallID, tag)
	case *ToolCallEnd:
		return t.finish(entToolCall, e.ToolCallID, tag)
	case *ToolCallResult:
		t.own(entText, e.MessageID, tag)
	case *ActivitySnapshot:
		if _, known := t.owner(entActivity, e.MessageID); !known || !e.Keep {
			t.own(entActivity, e.MessageID, tag)
		}
	case *ActivityDelta:
		return t.agrees(entActivity, e.MessageID, tag)
	case *ReasoningEncryptedValue:
		return t.encrypted(e, tag)
	case *MessagesSnapshot:
		t.history(e.Messages, true)
	case *StepStarted, *StepFinished, *SubagentStarted, *SubagentFinished, *SubagentError:
		return t.applyScope(e, tag)
	case *ReasoningStart, *ReasoningEnd, *ReasoningMessageStart, *ReasoningMessageContent, *ReasoningMessageEnd:
		return t.applyReasoning(e, tag, v)
	case *TextMessageChunk, *ToolCallChunk, *ReasoningMessageChunk:
		return fmt.Errorf("a chunk depends on what stands before it; write START, CONTENT, END")
	}
	return nil
}

func (t *tracker) applyReasoning(e Event, tag string, v Version) error {
	var kind entity
	var id string
	var do func(entity, string, string) error
	switch e := e.(type) {
	case *ReasoningStart:
		kind, id, do = entSpan, e.MessageID, t.begin
	case *ReasoningEnd:
		kind, id, do = entSpan, e.MessageID, t.finish
	case *ReasoningMessageStart:
		kind, id, do = entReasoning, e.MessageID, t.begin
	case *ReasoningMessageContent:
		kind, id, do = entReasoning, e.MessageID, t.goOn
	case *ReasoningMessageEnd:
		kind, id, do = entReasoning, e.MessageID, t.finish
	}
	if v == V1 {
		return do(kind, id, tag)
	}
	// 0.0.59 only looks at owners.
	if err := t.agrees(kind, id, tag); err != nil {
		return err
	}
	switch e.(type) {
	case *ReasoningStart, *ReasoningMessageStart:
		t.start(kind, id, tag)
	case *ReasoningEnd, *ReasoningMessageEnd:
		t.stop(kind, id)
	}
	return nil
}

func (t *tracker) applyScope(e Event, tag string) error {
	switch e := e.(type) {
	case *StepStarted:
		key := stepKey{tag, e.StepName}
		if _, open := t.steps[key]; open {
			return fmt.Errorf("step %q is open", e.StepName)
		}
		t.startStep(key)
	case *StepFinished:
		key := stepKey{tag, e.StepName}
		if _, open := t.steps[key]; !open {
			return fmt.Errorf("step %q is not open here", e.StepName)
		}
		delete(t.steps, key)
	case *SubagentStarted:
		if t.subagent[tag] {
			return fmt.Errorf("sub-agent %q was there before in this run", tag)
		}
		if e.ParentSubagentRunID != "" && !t.subagent[e.ParentSubagentRunID] {
			return fmt.Errorf("its parent %q was not announced", e.ParentSubagentRunID)
		}
		t.announce(tag)
	default:
		if !t.isOpen(entSubagent, tag) {
			return fmt.Errorf("sub-agent %q is not open", tag)
		}
		t.stop(entSubagent, tag)
	}
	return nil
}

// agrees says whether a tag names the owner of id; no tag always does.
func (t *tracker) agrees(k entity, id, tag string) error {
	if owner, known := t.owner(k, id); tag != "" && known && owner != tag {
		return fmt.Errorf("sub-agent %q is not the owner of %q, %q is", tag, id, owner)
	}
	return nil
}

func (t *tracker) begin(k entity, id, tag string) error {
	if t.isOpen(k, id) {
		return fmt.Errorf("%q is open already", id)
	}
	if err := t.agrees(k, id, tag); err != nil {
		return err
	}
	t.start(k, id, tag)
	return nil
}

func (t *tracker) goOn(k entity, id, tag string) error {
	if !t.isOpen(k, id) {
		return fmt.Errorf("%q is not open", id)
	}
	return t.agrees(k, id, tag)
}

func (t *tracker) finish(k entity, id, tag string) error {
	err := t.goOn(k, id, tag)
	if err == nil {
		t.stop(k, id)
	}
	return err
}

// call opens a tool call. It belongs to the owner of the message that carries
// it, which a call that comes again cannot change.
func (t *tracker) call(e *ToolCallStart, tag string) error {
	if t.isOpen(entToolCall, e.ToolCallID) {
		return fmt.Errorf("%q is open already", e.ToolCallID)
	}
	effective := tag
	if parent, known := t.owner(entText, e.ParentMessageID); known && e.ParentMessageID != "" {
		if tag != "" && tag != parent {
			return fmt.Errorf("sub-agent %q is not the owner of message %q, %q is", tag, e.ParentMessageID, parent)
		}
		if owner, again := t.owner(entToolCall, e.ToolCallID); again && tag == "" && owner != parent {
			return fmt.Errorf("call %q is %q's, its message %q's", e.ToolCallID, owner, parent)
		}
		effective = parent
	}
	if err := t.agrees(entToolCall, e.ToolCallID, tag); err != nil {
		return err
	}
	t.start(entToolCall, e.ToolCallID, effective)
	return nil
}

func (t *tracker) encrypted(e *ReasoningEncryptedValue, tag string) error {
	kind := entToolCall
	if e.Subtype == "message" {
		kind = entReasoning
		if _, known := t.owner(entText, e.EntityID); known {
			kind = entText
		}
	}
	return t.agrees(kind, e.EntityID, tag)
}
