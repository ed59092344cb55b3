package agui

import "encoding/json"

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

// ToolCall is a call that an assistant message carries. Arguments is the text
// as it was streamed, usually a JSON object.
type ToolCall struct {
	ID             string
	Name           string
	Arguments      string
	EncryptedValue string
	Metadata       json.RawMessage // an object, or nil
}

// Text is Content as text: the string, or the text parts joined by newlines,
// or "" for anything else.
func (m *Message) Text() string { return contentText(m.Content) }

// StringContent is text as the Content of a message or a result.
func StringContent(text string) json.RawMessage { return appendString(nil, text) }
