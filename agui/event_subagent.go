package agui

import "encoding/json"

// SubagentStarted announces a sub-agent, whose id is Base.SubagentRunID. An id
// belongs to one invocation and does not come back in the same run.
type SubagentStarted struct {
	Base
	Name                string `json:"name"`
	Description         string `json:"description,omitzero"`
	ParentSubagentRunID string `json:"parentSubagentRunId,omitzero"`
	ParentToolCallID    string `json:"parentToolCallId,omitzero"`
	ParentMessageID     string `json:"parentMessageId,omitzero"`
}

// SubagentFinished ends a sub-agent. Outcome nil means success.
type SubagentFinished struct {
	Base
	Result  json.RawMessage `json:"result,omitzero"`
	Outcome *Outcome        `json:"outcome,omitzero"`
}

// SubagentError ends a sub-agent that failed.
type SubagentError struct {
	Base
	Message string `json:"message"`
	Code    string `json:"code,omitzero"`
}

// Type is SUBAGENT_STARTED.
func (*SubagentStarted) Type() Type { return TypeSubagentStarted }

// Type is SUBAGENT_FINISHED.
func (*SubagentFinished) Type() Type { return TypeSubagentFinished }

// Type is SUBAGENT_ERROR.
func (*SubagentError) Type() Type { return TypeSubagentError }
