package agui

// ReasoningStart opens a span of reasoning.
type ReasoningStart struct {
	Base
	MessageID string `json:"messageId"`
}

// ReasoningEnd closes a span.
type ReasoningEnd struct {
	Base
	MessageID string `json:"messageId"`
}

// ReasoningMessageStart opens a reasoning message. A span and a message may
// share an id.
type ReasoningMessageStart struct {
	Base
	MessageID string `json:"messageId"`
	Role      Role   `json:"role,omitzero"` // always written as "reasoning"
}

// ReasoningMessageContent appends Delta to an open reasoning message.
type ReasoningMessageContent struct {
	Base
	MessageID string `json:"messageId"`
	Delta     string `json:"delta"`
}

// ReasoningMessageEnd closes a reasoning message.
type ReasoningMessageEnd struct {
	Base
	MessageID string `json:"messageId"`
}

// ReasoningMessageChunk is the shorthand form that a client expands to the
// three others. It is decoded, never emitted.
type ReasoningMessageChunk struct {
	Base
	MessageID string `json:"messageId,omitzero"`
	Delta     string `json:"delta,omitzero"`
}

// ReasoningEncryptedValue hands the client an opaque value to keep at a message
// or a tool call and to send back. Subtype is "message" or "tool-call".
type ReasoningEncryptedValue struct {
	Base
	Subtype        string `json:"subtype"`
	EntityID       string `json:"entityId"`
	EncryptedValue string `json:"encryptedValue"`
}

// Type is REASONING_START.
func (*ReasoningStart) Type() Type { return TypeReasoningStart }

// Type is REASONING_END.
func (*ReasoningEnd) Type() Type { return TypeReasoningEnd }

// Type is REASONING_MESSAGE_START.
func (*ReasoningMessageStart) Type() Type { return TypeReasoningMessageStart }

// Type is REASONING_MESSAGE_CONTENT.
func (*ReasoningMessageContent) Type() Type { return TypeReasoningMessageContent }

// Type is REASONING_MESSAGE_END.
func (*ReasoningMessageEnd) Type() Type { return TypeReasoningMessageEnd }

// Type is REASONING_MESSAGE_CHUNK.
func (*ReasoningMessageChunk) Type() Type { return TypeReasoningMessageChunk }

// Type is REASONING_ENCRYPTED_VALUE.
func (*ReasoningEncryptedValue) Type() Type { return TypeReasoningEncryptedValue }
