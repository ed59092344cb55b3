package agui

// outcome writes a run's or a sub-agent's outcome, nothing for nil.
func (e *encoder) outcome(o *Outcome) {
	if o == nil {
		return
	}
	e.str(`,"outcome":{"type":`, string(o.Type))
	switch o.Type {
	case OutcomeInterrupt:
		e.each(`,"interrupts":`, len(o.Interrupts), func(i int) { e.interrupt(&o.Interrupts[i]) })
	case OutcomeSuccess:
		if o.PendingToolCallIDs != nil {
			e.strings(`,"pendingToolCallIds":`, o.PendingToolCallIDs)
		}
	case OutcomeSuspended:
		if o.InterruptIDs != nil {
			e.strings(`,"interruptIds":`, o.InterruptIDs)
		}
	}
	e.buf = append(e.buf, '}')
}

func (e *encoder) interrupt(i *Interrupt) {
	e.str(`{"id":`, i.ID)
	e.str(`,"reason":`, i.Reason)
	e.opt(`,"message":`, i.Message)
	e.opt(`,"toolCallId":`, i.ToolCallID)
	e.object(`,"responseSchema":`, i.ResponseSchema)
	e.opt(`,"expiresAt":`, i.ExpiresAt)
	e.opt(`,"subagentRunId":`, i.SubagentRunID)
	e.object(`,"metadata":`, i.Metadata)
	e.buf = append(e.buf, '}')
}

func (e *encoder) usage(list []TokenUsage) {
	if len(list) == 0 {
		return
	}
	e.each(`,"usage":`, len(list), func(i int) {
		u := &list[i]
		start := len(e.buf)
		e.opt(`,"provider":`, u.Provider)
		e.opt(`,"model":`, u.Model)
		e.int(`,"inputTokens":`, u.InputTokens)
		e.int(`,"outputTokens":`, u.OutputTokens)
		e.int(`,"totalTokens":`, u.TotalTokens)
		e.int(`,"reasoningTokens":`, u.ReasoningTokens)
		e.int(`,"cachedInputTokens":`, u.CachedInputTokens)
		e.int(`,"cacheWriteInputTokens":`, u.CacheWriteInputTokens)
		e.close(start, '{', '}')
	})
}

// close makes a value of the fields written since start: their first comma
// becomes the opening bracket.
func (e *encoder) close(start int, open, end byte) {
	if len(e.buf) == start {
		e.buf = append(e.buf, open, end)
		return
	}
	e.buf[start] = open
	e.buf = append(e.buf, end)
}

func (e *encoder) messages(key string, list []Message) {
	e.each(key, len(list), func(i int) { e.message(&list[i]) })
}

func (e *encoder) message(m *Message) {
	e.str(`{"id":`, m.ID)
	e.str(`,"role":`, string(m.Role))
	e.messageContent(m)
	e.opt(`,"name":`, m.Name)
	if m.ToolCalls != nil {
		e.each(`,"toolCalls":`, len(m.ToolCalls), func(i int) {
			e.toolCall(&m.ToolCalls[i], []byte(m.ToolCalls[i].Arguments))
		})
	}
	e.messageRest(m)
}

// messageContent writes the content key; only an assistant message may be
// without one.
func (e *encoder) messageContent(m *Message) {
	if m.Role == RoleActivity {
		e.str(`,"activityType":`, m.ActivityType)
	}
	switch {
	case len(m.Content) != 0:
		e.raw(`,"content":`, m.Content, "")
	case m.Role == RoleActivity:
		e.buf = append(e.buf, `,"content":{}`...)
	case m.Role != RoleAssistant:
		e.buf = append(e.buf, `,"content":""`...)
	}
}

func (e *encoder) messageRest(m *Message) {
	if m.Role == RoleTool {
		e.str(`,"toolCallId":`, m.ToolCallID)
	}
	e.opt(`,"error":`, m.Error)
	e.opt(`,"encryptedValue":`, m.EncryptedValue)
	e.opt(`,"subagentRunId":`, m.SubagentRunID)
	e.object(`,"metadata":`, m.Metadata)
	e.buf = append(e.buf, '}')
}

// toolCall writes a call whose arguments are args.
func (e *encoder) toolCall(c *ToolCall, args []byte) {
	e.str(`{"id":`, c.ID)
	e.str(`,"type":"function","function":{"name":`, c.Name)
	e.buf = append(appendEscaped(append(e.buf, `,"arguments":"`...), args), '"')
	e.buf = append(e.buf, '}')
	e.opt(`,"encryptedValue":`, c.EncryptedValue)
	e.object(`,"metadata":`, c.Metadata)
	e.buf = append(e.buf, '}')
}

// input writes an input complete: clients before 1.0 refuse one without tools
// and context.
func (e *encoder) input(in *Input) {
	e.str(`{"threadId":`, in.ThreadID)
	e.str(`,"runId":`, in.RunID)
	e.opt(`,"parentRunId":`, in.ParentRunID)
	e.opt(`,"protocolVersion":`, in.ProtocolVersion)
	e.messages(`,"messages":`, in.Messages)
	e.raw(`,"state":`, in.State, "{}")
	e.each(`,"tools":`, len(in.Tools), func(i int) {
		t := &in.Tools[i]
		e.str(`{"name":`, t.Name)
		e.str(`,"description":`, t.Description)
		e.optRaw(`,"parameters":`, t.Parameters)
		e.object(`,"metadata":`, t.Metadata)
		e.buf = append(e.buf, '}')
	})
	e.each(`,"context":`, len(in.Context), func(i int) {
		e.str(`{"description":`, in.Context[i].Description)
		e.str(`,"value":`, in.Context[i].Value)
		e.buf = append(e.buf, '}')
	})
	e.raw(`,"forwardedProps":`, in.ForwardedProps, "{}")
	if len(in.Resume) > 0 {
		e.each(`,"resume":`, len(in.Resume), func(i int) {
			r := &in.Resume[i]
			e.str(`{"interruptId":`, r.InterruptID)
			e.str(`,"status":`, r.Status)
			e.optRaw(`,"payload":`, r.Payload)
			e.object(`,"metadata":`, r.Metadata)
			e.buf = append(e.buf, '}')
		})
	}
	e.buf = append(e.buf, '}')
}
