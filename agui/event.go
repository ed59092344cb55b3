package agui

import "encoding/json"

// Type is the wire name of an event, in upper snake case.
type Type string

// The event types of protocol 1.0.
const (
	TypeRunStarted              Type = "RUN_STARTED"
	TypeRunFinished             Type = "RUN_FINISHED"
	TypeRunError                Type = "RUN_ERROR"
	TypeStepStarted             Type = "STEP_STARTED"
	TypeStepFinished            Type = "STEP_FINISHED"
	TypeTextMessageStart        Type = "TEXT_MESSAGE_START"
	TypeTextMessageContent      Type = "TEXT_MESSAGE_CONTENT"
	TypeTextMessageEnd          Type = "TEXT_MESSAGE_END"
	TypeTextMessageChunk        Type = "TEXT_MESSAGE_CHUNK"
	TypeToolCallStart           Type = "TOOL_CALL_START"
	TypeToolCallArgs            Type = "TOOL_CALL_ARGS"
	TypeToolCallEnd             Type = "TOOL_CALL_END"
	TypeToolCallChunk           Type = "TOOL_CALL_CHUNK"
	TypeToolCallResult          Type = "TOOL_CALL_RESULT"
	TypeReasoningStart          Type = "REASONING_START"
	TypeReasoningEnd            Type = "REASONING_END"
	TypeReasoningMessageStart   Type = "REASONING_MESSAGE_START"
	TypeReasoningMessageContent Type = "REASONING_MESSAGE_CONTENT"
	TypeReasoningMessageEnd     Type = "REASONING_MESSAGE_END"
	TypeReasoningMessageChunk   Type = "REASONING_MESSAGE_CHUNK"
	TypeReasoningEncryptedValue Type = "REASONING_ENCRYPTED_VALUE"
	TypeStateSnapshot           Type = "STATE_SNAPSHOT"
	TypeStateDelta              Type = "STATE_DELTA"
	TypeMessagesSnapshot        Type = "MESSAGES_SNAPSHOT"
	TypeActivitySnapshot        Type = "ACTIVITY_SNAPSHOT"
	TypeActivityDelta           Type = "ACTIVITY_DELTA"
	TypeSubagentStarted         Type = "SUBAGENT_STARTED"
	TypeSubagentFinished        Type = "SUBAGENT_FINISHED"
	TypeSubagentError           Type = "SUBAGENT_ERROR"
	TypeRaw                     Type = "RAW"
	TypeCustom                  Type = "CUSTOM"
)

// Terminal reports whether an event of the type ends a run.
func (t Type) Terminal() bool { return t == TypeRunFinished || t == TypeRunError }

// Event is one AG-UI event. The set is closed: a pointer to one of this
// package's structs, one for each type, and *Unknown for what a newer peer
// sends. Receivers must not change an event that was handed to them.
type Event interface {
	// Type is the event's wire name.
	Type() Type
	base() *Base
	append(*encoder)
}

// Base holds the fields that every event may have; the zero value means that
// they are absent. SubagentRunID is written only where the protocol knows it:
// not on RUN_* and MESSAGES_SNAPSHOT, and on SUBAGENT_* as the required id.
type Base struct {
	Timestamp     int64           `json:"timestamp,omitzero"` // Unix milliseconds
	Metadata      json.RawMessage `json:"metadata,omitzero"`  // an object
	RawEvent      json.RawMessage `json:"rawEvent,omitzero"`
	SubagentRunID string          `json:"subagentRunId,omitzero"`
}

func (b *Base) base() *Base { return b }

// Unknown is an event of a type that this package does not know, kept as it
// came. Append writes Data again.
type Unknown struct {
	Base
	Name Type            // its type, "" if it had none
	Data json.RawMessage // the whole event
}

// Type is the event's wire name.
func (e *Unknown) Type() Type { return e.Name }
