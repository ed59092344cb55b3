package agentstream

// ToolCallInfo says more about a call than its id and title. The first one
// for an id comes just before its OnToolCall, because the name is fixed there;
// later ones carry only what changed, zero values mean "as before".
type ToolCallInfo struct {
	ID        string     `json:"id,omitzero"`
	Name      string     `json:"name,omitzero"`      // the tool's programmatic name, as the agent gives it
	Kind      string     `json:"kind,omitzero"`      // read, edit, delete, move, search, execute, think, fetch, switch_mode, other
	Title     string     `json:"title,omitzero"`     // for people; may change during the call
	Locations []Location `json:"locations,omitzero"` // files the call touches
	ExitCode  *int       `json:"exitCode,omitzero"`  // of a command, once known
	Partial   bool       `json:"partial,omitzero"`   // the result to come is what was seen of it, not what the agent called final
}

// Location is a place in a file. Line counts from 1; 0 is none.
type Location struct {
	Path string `json:"path,omitzero"`
	Line int    `json:"line,omitzero"`
}

// ToolCallInfoHandler is implemented by a StreamHandler that takes ToolCallInfo events.
type ToolCallInfoHandler interface{ OnToolCallInfo(e ToolCallInfo) }

func (e ToolCallInfo) deliver(h StreamHandler) bool {
	x, ok := h.(ToolCallInfoHandler)
	if ok {
		x.OnToolCallInfo(e)
	}
	return ok
}

func (ToolCallInfo) name() string { return "tool_call_info" }
