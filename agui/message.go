package agui

import (
	"encoding/json"
	"strings"
)

// Role is who a message is from.
type Role string

// The roles of messages.
const (
	RoleDeveloper Role = "developer"
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
	RoleReasoning Role = "reasoning"
	RoleActivity  Role = "activity"
)

// Message is one message of a thread. Content is a JSON string, an array of
// parts (user, tool) or an object (activity); nil means that there is no
// content key, as for an assistant message that only carries calls.
type Message struct {
	ID             string          `json:"id"`
	Role           Role            `json:"role"`
	Content        json.RawMessage `json:"content,omitzero"`
	Name           string          `json:"name,omitzero"`
	ToolCalls      []ToolCall      `json:"toolCalls,omitzero"`
	ToolCallID     string          `json:"toolCallId,omitzero"`
	Error          string          `json:"error,omitzero"`
	ActivityType   string          `json:"activityType,omitzero"`
	EncryptedValue string          `json:"encryptedValue,omitzero"`
	SubagentRunID  string          `json:"subagentRunId,omitzero"`
	Metadata       json.RawMessage `json:"metadata,omitzero"` // an object
}

// MarshalJSON encodes the message as Append does inside a snapshot.
func (m Message) MarshalJSON() ([]byte, error) {
	var e encoder
	e.message(&m)
	return e.buf, nil
}

// Text is Content as text: the string, or the text parts joined by newlines, or
// "" for anything else.
func (m *Message) Text() string {
	if s, ok := unquote(m.Content); ok {
		return s
	}
	var parts []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if kindOf(m.Content) != '[' || unmarshal(m.Content, &parts) != nil {
		return ""
	}
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// ToolCall is a call that an assistant message carries. Arguments is the text
// as it was streamed, usually a JSON object.
type ToolCall struct {
	ID             string
	Name           string
	Arguments      string
	EncryptedValue string
	Metadata       json.RawMessage // an object, or nil
}

type wireToolCall struct {
	ID             string          `json:"id"`
	Function       wireFunction    `json:"function"`
	EncryptedValue string          `json:"encryptedValue,omitzero"`
	Metadata       json.RawMessage `json:"metadata,omitzero"`
}

type wireFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// MarshalJSON encodes the call as a message carries it.
func (c ToolCall) MarshalJSON() ([]byte, error) {
	var e encoder
	e.toolCall(&c, []byte(c.Arguments))
	return e.buf, nil
}

// UnmarshalJSON decodes a call as a message carries it.
func (c *ToolCall) UnmarshalJSON(data []byte) error {
	var w wireToolCall
	if err := unmarshal(data, &w); err != nil {
		return err
	}
	*c = ToolCall{w.ID, w.Function.Name, w.Function.Arguments, w.EncryptedValue, w.Metadata}
	return nil
}
