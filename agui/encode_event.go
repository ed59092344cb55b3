package agui

func (e *Unknown) append(w *encoder) {
	if isObject(e.Data) {
		w.buf = appendRaw(w.buf, e.Data)
		return
	}
	w.buf = append(w.buf, '{')
	w.str(`"type":`, string(e.Name))
	w.end(&e.Base, true)
}

func (e *RunStarted) append(w *encoder) {
	w.open(TypeRunStarted)
	w.str(`,"threadId":`, e.ThreadID)
	w.str(`,"runId":`, e.RunID)
	w.opt(`,"protocolVersion":`, e.ProtocolVersion)
	w.opt(`,"parentRunId":`, e.ParentRunID)
	if e.Input != nil {
		w.buf = append(w.buf, `,"input":`...)
		w.input(e.Input)
	}
	w.end(&e.Base, false)
}

func (e *RunFinished) append(w *encoder) {
	w.open(TypeRunFinished)
	w.str(`,"threadId":`, e.ThreadID)
	w.str(`,"runId":`, e.RunID)
	w.optRaw(`,"result":`, e.Result)
	w.outcome(e.Outcome)
	w.usage(e.Usage)
	w.end(&e.Base, false)
}

func (e *RunError) append(w *encoder) {
	w.open(TypeRunError)
	w.str(`,"message":`, e.Message)
	w.opt(`,"code":`, e.Code)
	w.usage(e.Usage)
	w.end(&e.Base, false)
}

func (e *StepStarted) append(w *encoder) { w.one(TypeStepStarted, `,"stepName":`, e.StepName, &e.Base) }
func (e *StepFinished) append(w *encoder) {
	w.one(TypeStepFinished, `,"stepName":`, e.StepName, &e.Base)
}

func (e *TextMessageStart) append(w *encoder) {
	w.open(TypeTextMessageStart)
	w.str(`,"messageId":`, e.MessageID)
	role := e.Role
	if role == "" {
		role = RoleAssistant
	}
	w.str(`,"role":`, string(role))
	w.opt(`,"name":`, e.Name)
	w.end(&e.Base, true)
}

func (e *TextMessageContent) append(w *encoder) {
	w.two(TypeTextMessageContent, `,"messageId":`, e.MessageID, e.Delta, &e.Base)
}

func (e *TextMessageEnd) append(w *encoder) {
	w.one(TypeTextMessageEnd, `,"messageId":`, e.MessageID, &e.Base)
}

func (e *TextMessageChunk) append(w *encoder) {
	w.open(TypeTextMessageChunk)
	w.opt(`,"messageId":`, e.MessageID)
	w.opt(`,"role":`, string(e.Role))
	w.opt(`,"name":`, e.Name)
	w.opt(`,"delta":`, e.Delta)
	w.end(&e.Base, true)
}

func (e *ToolCallStart) append(w *encoder) {
	w.open(TypeToolCallStart)
	w.str(`,"toolCallId":`, e.ToolCallID)
	w.str(`,"toolCallName":`, e.ToolCallName)
	w.opt(`,"parentMessageId":`, e.ParentMessageID)
	w.end(&e.Base, true)
}

func (e *ToolCallArgs) append(w *encoder) {
	w.two(TypeToolCallArgs, `,"toolCallId":`, e.ToolCallID, e.Delta, &e.Base)
}

func (e *ToolCallEnd) append(w *encoder) {
	w.one(TypeToolCallEnd, `,"toolCallId":`, e.ToolCallID, &e.Base)
}

func (e *ToolCallChunk) append(w *encoder) {
	w.open(TypeToolCallChunk)
	w.opt(`,"toolCallId":`, e.ToolCallID)
	w.opt(`,"toolCallName":`, e.ToolCallName)
	w.opt(`,"parentMessageId":`, e.ParentMessageID)
	w.opt(`,"delta":`, e.Delta)
	w.end(&e.Base, true)
}

func (e *ToolCallResult) append(w *encoder) {
	w.open(TypeToolCallResult)
	w.str(`,"messageId":`, e.MessageID)
	w.str(`,"toolCallId":`, e.ToolCallID)
	w.raw(`,"content":`, e.Content, `""`)
	w.str(`,"role":`, string(RoleTool))
	w.end(&e.Base, true)
}

func (e *ReasoningStart) append(w *encoder) {
	w.one(TypeReasoningStart, `,"messageId":`, e.MessageID, &e.Base)
}

func (e *ReasoningEnd) append(w *encoder) {
	w.one(TypeReasoningEnd, `,"messageId":`, e.MessageID, &e.Base)
}

func (e *ReasoningMessageStart) append(w *encoder) {
	w.open(TypeReasoningMessageStart)
	w.str(`,"messageId":`, e.MessageID)
	w.str(`,"role":`, string(RoleReasoning))
	w.end(&e.Base, true)
}

func (e *ReasoningMessageContent) append(w *encoder) {
	w.two(TypeReasoningMessageContent, `,"messageId":`, e.MessageID, e.Delta, &e.Base)
}

func (e *ReasoningMessageEnd) append(w *encoder) {
	w.one(TypeReasoningMessageEnd, `,"messageId":`, e.MessageID, &e.Base)
}

func (e *ReasoningMessageChunk) append(w *encoder) {
	w.open(TypeReasoningMessageChunk)
	w.opt(`,"messageId":`, e.MessageID)
	w.opt(`,"delta":`, e.Delta)
	w.end(&e.Base, true)
}

func (e *ReasoningEncryptedValue) append(w *encoder) {
	w.open(TypeReasoningEncryptedValue)
	w.str(`,"subtype":`, e.Subtype)
	w.str(`,"entityId":`, e.EntityID)
	w.str(`,"encryptedValue":`, e.EncryptedValue)
	w.end(&e.Base, true)
}

func (e *StateSnapshot) append(w *encoder) {
	w.open(TypeStateSnapshot)
	w.raw(`,"snapshot":`, e.Snapshot, "null")
	w.end(&e.Base, true)
}

func (e *StateDelta) append(w *encoder) {
	w.open(TypeStateDelta)
	w.raw(`,"delta":`, e.Delta, "[]")
	w.end(&e.Base, true)
}

func (e *MessagesSnapshot) append(w *encoder) {
	w.open(TypeMessagesSnapshot)
	w.messages(`,"messages":`, e.Messages)
	w.end(&e.Base, false)
}

func (e *ActivitySnapshot) append(w *encoder) {
	w.open(TypeActivitySnapshot)
	w.str(`,"messageId":`, e.MessageID)
	w.str(`,"activityType":`, e.ActivityType)
	w.raw(`,"content":`, e.Content, "{}")
	if e.Keep {
		w.buf = append(w.buf, `,"replace":false`...)
	}
	w.end(&e.Base, true)
}

func (e *ActivityDelta) append(w *encoder) {
	w.open(TypeActivityDelta)
	w.str(`,"messageId":`, e.MessageID)
	w.str(`,"activityType":`, e.ActivityType)
	w.raw(`,"patch":`, e.Patch, "[]")
	w.end(&e.Base, true)
}

func (e *Raw) append(w *encoder) {
	w.open(TypeRaw)
	w.raw(`,"event":`, e.Event, "null")
	w.opt(`,"source":`, e.Source)
	w.end(&e.Base, true)
}

func (e *Custom) append(w *encoder) {
	w.open(TypeCustom)
	w.str(`,"name":`, e.Name)
	w.raw(`,"value":`, e.Value, "null")
	w.end(&e.Base, true)
}

func (e *SubagentStarted) append(w *encoder) {
	w.open(TypeSubagentStarted)
	w.str(`,"subagentRunId":`, e.SubagentRunID)
	w.str(`,"name":`, e.Name)
	w.opt(`,"description":`, e.Description)
	w.opt(`,"parentSubagentRunId":`, e.ParentSubagentRunID)
	w.opt(`,"parentToolCallId":`, e.ParentToolCallID)
	w.opt(`,"parentMessageId":`, e.ParentMessageID)
	w.end(&e.Base, false)
}

func (e *SubagentFinished) append(w *encoder) {
	w.open(TypeSubagentFinished)
	w.str(`,"subagentRunId":`, e.SubagentRunID)
	w.optRaw(`,"result":`, e.Result)
	w.outcome(e.Outcome)
	w.end(&e.Base, false)
}

func (e *SubagentError) append(w *encoder) {
	w.open(TypeSubagentError)
	w.str(`,"subagentRunId":`, e.SubagentRunID)
	w.str(`,"message":`, e.Message)
	w.opt(`,"code":`, e.Code)
	w.end(&e.Base, false)
}

// one writes an event whose only field of its own is an id or a name.
func (e *encoder) one(t Type, key, id string, b *Base) {
	e.open(t)
	e.str(key, id)
	e.end(b, true)
}

// two writes an event that appends delta to the thing with this id.
func (e *encoder) two(t Type, key, id, delta string, b *Base) {
	e.open(t)
	e.str(key, id)
	e.str(`,"delta":`, delta)
	e.end(b, true)
}
