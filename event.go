package agentstream

// Event is the value form of one happening of a stream. The set is closed:
// the six core events of StreamHandler and the rich ones, one file each.
// Values are snapshots, not edits; a receiver may keep them.
type Event interface {
	// deliver hands the event to h by the event's own method, and reports
	// whether h has one. The six core events are always taken.
	deliver(h StreamHandler) bool
	// name is the event's name in its JSON form.
	name() string
}

// Forwarder is the catch-all for events that a handler has no method of its
// own for. A wrapper or a tee implements it once and so passes on every kind
// there is and will be, in order. Forward reports whether anyone took it.
type Forwarder interface {
	Forward(e Event) bool
}

// Send delivers e to h: by the event's own interface if h has it, else through
// h's Forwarder. It reports whether anyone took the event; the fallback of a
// rich event that nobody took is the caller's, in view. Send is the only place
// that asserts optional interfaces.
func Send(h StreamHandler, e Event) bool {
	if e == nil || h == nil {
		return false
	}
	if e.deliver(h) {
		return true
	}
	f, ok := h.(Forwarder)
	return ok && f.Forward(e)
}

// MessageChunk is the value form of OnMessageChunk.
type MessageChunk struct {
	Text string `json:"text"`
}

// ThoughtChunk is the value form of OnThoughtChunk.
type ThoughtChunk struct {
	Text string `json:"text"`
}

// ToolCall is the value form of OnToolCall.
type ToolCall struct {
	ID    string `json:"id"`
	Title string `json:"title"`
}

// ToolCallUpdate is the value form of OnToolCallUpdate.
type ToolCallUpdate struct {
	ID      string         `json:"id"`
	Content string         `json:"content"`
	Status  ToolCallStatus `json:"status"`
}

// ToolCallArgsSnapshot is the value form of OnToolCallArgsSnapshot.
type ToolCallArgsSnapshot struct {
	ID   string `json:"id"`
	Args string `json:"args"`
}

// TokenUsage is the value form of OnTokenUsage.
type TokenUsage struct {
	TotalTokens int `json:"totalTokens"`
}

func (e MessageChunk) deliver(h StreamHandler) bool { h.OnMessageChunk(e.Text); return true }
func (e ThoughtChunk) deliver(h StreamHandler) bool { h.OnThoughtChunk(e.Text); return true }
func (e ToolCall) deliver(h StreamHandler) bool     { h.OnToolCall(e.ID, e.Title); return true }
func (e ToolCallUpdate) deliver(h StreamHandler) bool {
	h.OnToolCallUpdate(e.ID, e.Content, e.Status)
	return true
}
func (e ToolCallArgsSnapshot) deliver(h StreamHandler) bool {
	h.OnToolCallArgsSnapshot(e.ID, e.Args)
	return true
}
func (e TokenUsage) deliver(h StreamHandler) bool { h.OnTokenUsage(e.TotalTokens); return true }

func (MessageChunk) name() string         { return "message_chunk" }
func (ThoughtChunk) name() string         { return "thought_chunk" }
func (ToolCall) name() string             { return "tool_call" }
func (ToolCallUpdate) name() string       { return "tool_call_update" }
func (ToolCallArgsSnapshot) name() string { return "tool_call_args_snapshot" }
func (TokenUsage) name() string           { return "token_usage" }
