package agui

import "encoding/json"

// ToolCallStart opens a tool call. ParentMessageID names the assistant message
// that owns it; "" makes a message of its own.
type ToolCallStart struct {
	Base
	ToolCallID      string `json:"toolCallId"`
	ToolCallName    string `json:"toolCallName"`
	ParentMessageID string `json:"parentMessageId,omitzero"`
}

// ToolCallArgs appends Delta to the arguments of an open call.
type ToolCallArgs struct {
	Base
	ToolCallID string `json:"toolCallId"`
	Delta      string `json:"delta"`
}

// ToolCallEnd closes a call: its arguments are complete.
type ToolCallEnd struct {
	Base
	ToolCallID string `json:"toolCallId"`
}

// ToolCallChunk is the shorthand form that a client expands to the three
// others. It is decoded, never emitted.
type ToolCallChunk struct {
	Base
	ToolCallID      string `json:"toolCallId,omitzero"`
	ToolCallName    string `json:"toolCallName,omitzero"`
	ParentMessageID string `json:"parentMessageId,omitzero"`
	Delta           string `json:"delta,omitzero"`
}

// ToolCallResult is the result of a call, as a tool message of its own.
// Content is a JSON string; 1.0 also knows an array of parts.
type ToolCallResult struct {
	Base
	MessageID  string          `json:"messageId"`
	ToolCallID string          `json:"toolCallId"`
	Content    json.RawMessage `json:"content"`
	Role       Role            `json:"role,omitzero"` // "" or RoleTool
}

// Type is TOOL_CALL_START.
func (*ToolCallStart) Type() Type { return TypeToolCallStart }

// Type is TOOL_CALL_ARGS.
func (*ToolCallArgs) Type() Type { return TypeToolCallArgs }

// Type is TOOL_CALL_END.
func (*ToolCallEnd) Type() Type { return TypeToolCallEnd }

// Type is TOOL_CALL_CHUNK.
func (*ToolCallChunk) Type() Type { return TypeToolCallChunk }

// Type is TOOL_CALL_RESULT.
func (*ToolCallResult) Type() Type { return TypeToolCallResult }
