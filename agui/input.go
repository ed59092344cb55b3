package agui

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Input is a RunAgentInput: what a client posts to start a run.
type Input struct {
	ThreadID        string          `json:"threadId"`
	RunID           string          `json:"runId"`
	ParentRunID     string          `json:"parentRunId,omitzero"`
	ProtocolVersion string          `json:"protocolVersion,omitzero"` // "" from clients before 1.0
	Messages        []Message       `json:"messages"`
	State           json.RawMessage `json:"state,omitzero"`
	Tools           []Tool          `json:"tools"`
	Context         []ContextEntry  `json:"context"`
	ForwardedProps  json.RawMessage `json:"forwardedProps,omitzero"`
	Resume          []Resume        `json:"resume,omitzero"`
}

// Tool is a tool that the client runs itself.
type Tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters,omitzero"` // JSON Schema
	Metadata    json.RawMessage `json:"metadata,omitzero"`
}

// ContextEntry is a piece of context that the application gives the agent.
type ContextEntry struct {
	Description string `json:"description"`
	Value       string `json:"value"` // as JSON text if the client sent another value than a string
}

// Resume answers one interrupt. Status is "resolved" (Payload has the answer)
// or "cancelled" (the user walked away).
type Resume struct {
	InterruptID string          `json:"interruptId"`
	Status      string          `json:"status"`
	Payload     json.RawMessage `json:"payload,omitzero"`
	Metadata    json.RawMessage `json:"metadata,omitzero"`
}

// wireInput reads what old clients write differently.
type wireInput struct {
	Input
	Context []struct {
		Description string          `json:"description"`
		Value       json.RawMessage `json:"value"`
	} `json:"context"`
}

// DecodeInput decodes what a client posted. Null means absent everywhere, fields
// of other versions are ignored, messages with a role that the protocol does not
// know are left out, and what old clients write differently gets the form of 1.0.
// The error names the field that is wrong.
func DecodeInput(data []byte) (Input, error) {
	var w wireInput
	if kindOf(data) != '{' {
		return Input{}, errors.New("agui: input: expected a JSON object")
	}
	if err := unmarshal(data, &w); err != nil {
		return Input{}, fmt.Errorf("agui: input: %w", fieldError(err))
	}
	in := w.Input
	for _, c := range w.Context {
		value, ok := unquote(c.Value)
		if !ok {
			value = string(c.Value)
		}
		in.Context = append(in.Context, ContextEntry{c.Description, value})
	}
	if err := in.check(); err != nil {
		return Input{}, fmt.Errorf("agui: input: %w", err)
	}
	known := in.Messages[:0]
	for _, m := range in.Messages {
		if m.Role.known() {
			m.canonical()
			known = append(known, m)
		}
	}
	in.Messages = known
	return in, nil
}

func (in *Input) check() error {
	switch {
	case in.ThreadID == "":
		return errors.New("threadId: missing")
	case in.RunID == "":
		return errors.New("runId: missing")
	case in.Messages == nil:
		return errors.New("messages: missing")
	}
	for i, r := range in.Resume {
		if r.InterruptID == "" {
			return fmt.Errorf("resume[%d].interruptId: missing", i)
		}
		if r.Status != "resolved" && r.Status != "cancelled" {
			return fmt.Errorf("resume[%d].status: %q is neither resolved nor cancelled", i, r.Status)
		}
	}
	return CheckMessages(in.Messages)
}

// CheckMessages says whether messages are well formed: each has an id and
// a role, its content is of a form that the role allows, and a tool message
// names its call. Roles that the protocol does not know pass unchecked. The
// error names the field.
func CheckMessages(messages []Message) error {
	for i := range messages {
		m := &messages[i]
		switch {
		case m.ID == "":
			return fmt.Errorf("messages[%d].id: missing", i)
		case m.Role == "":
			return fmt.Errorf("messages[%d].role: missing", i)
		}
		if err := m.check(); err != nil {
			return fmt.Errorf("messages[%d].%w", i, err)
		}
	}
	return nil
}

func (m *Message) check() error {
	kind := kindOf(m.Content)
	ok := kind == '"'
	switch m.Role {
	case RoleUser, RoleTool:
		ok = ok || kind == '['
	case RoleAssistant:
		ok = ok || kind == '[' || kind == 0
	case RoleActivity:
		ok = kind == '{'
	case RoleReasoning:
		ok = ok || kind == 0
	default:
		ok = ok || !m.Role.known()
	}
	if !ok {
		return fmt.Errorf("content: a %s message cannot have this", m.Role)
	}
	if m.Role == RoleTool && m.ToolCallID == "" {
		return errors.New("toolCallId: missing")
	}
	for i, c := range m.ToolCalls {
		if c.ID == "" {
			return fmt.Errorf("toolCalls[%d].id: missing", i)
		}
	}
	return nil
}

func (r Role) known() bool {
	switch r {
	case RoleDeveloper, RoleSystem, RoleUser, RoleAssistant, RoleTool, RoleReasoning, RoleActivity:
		return true
	}
	return false
}
