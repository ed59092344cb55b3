package agui

// TextMessageStart opens a text message. Role "" means assistant.
type TextMessageStart struct {
	Base
	MessageID string `json:"messageId"`
	Role      Role   `json:"role,omitzero"`
	Name      string `json:"name,omitzero"`
}

// TextMessageContent appends Delta to an open text message.
type TextMessageContent struct {
	Base
	MessageID string `json:"messageId"`
	Delta     string `json:"delta"`
}

// TextMessageEnd closes a text message.
type TextMessageEnd struct {
	Base
	MessageID string `json:"messageId"`
}

// TextMessageChunk is the shorthand form that a client expands to the three
// others. It is decoded, never emitted.
type TextMessageChunk struct {
	Base
	MessageID string `json:"messageId,omitzero"`
	Role      Role   `json:"role,omitzero"`
	Name      string `json:"name,omitzero"`
	Delta     string `json:"delta,omitzero"`
}

// Type is TEXT_MESSAGE_START.
func (*TextMessageStart) Type() Type { return TypeTextMessageStart }

// Type is TEXT_MESSAGE_CONTENT.
func (*TextMessageContent) Type() Type { return TypeTextMessageContent }

// Type is TEXT_MESSAGE_END.
func (*TextMessageEnd) Type() Type { return TypeTextMessageEnd }

// Type is TEXT_MESSAGE_CHUNK.
func (*TextMessageChunk) Type() Type { return TypeTextMessageChunk }
