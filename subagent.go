package agentstream

// Subagent carries an event of an agent that the agent started. Such events are
// never part of the parent's rounds. A nil Event announces the sub-agent or, with
// Done, ends it.
type Subagent struct {
	ID         string `json:"id,omitzero"` // of the sub-agent, unique in the run
	Name       string `json:"name,omitzero"`
	ToolCallID string `json:"toolCallId,omitzero"` // the parent's call that started it
	Event      Event  `json:"-"`                   // as "child"
	Done       bool   `json:"done,omitzero"`
	Err        string `json:"error,omitzero"` // why it failed, with Done
}

// SubagentHandler is implemented by a StreamHandler that takes Subagent events.
type SubagentHandler interface{ OnSubagent(e Subagent) }

func (e Subagent) deliver(h StreamHandler) bool {
	x, ok := h.(SubagentHandler)
	if ok {
		x.OnSubagent(e)
	}
	return ok
}

func (Subagent) name() string { return "subagent" }
