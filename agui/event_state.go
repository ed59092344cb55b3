package agui

import "encoding/json"

// StateSnapshot replaces the state; Snapshot nil is written as null.
type StateSnapshot struct {
	Base
	Snapshot json.RawMessage `json:"snapshot"`
}

// StateDelta changes the state by a JSON Patch (RFC 6902), an array.
type StateDelta struct {
	Base
	Delta json.RawMessage `json:"delta"`
}

// MessagesSnapshot is the whole list of messages. A client keeps its order of
// those that it has, appends the others and drops what is missing, save
// reasoning (activity) messages if the snapshot has none of that role.
type MessagesSnapshot struct {
	Base
	Messages []Message `json:"messages"`
}

// ActivitySnapshot makes or replaces an activity message. Content is an object.
// Keep (the wire's replace:false) leaves a message that exists as it is.
type ActivitySnapshot struct {
	Base
	MessageID    string          `json:"messageId"`
	ActivityType string          `json:"activityType"`
	Content      json.RawMessage `json:"content"`
	Keep         bool            `json:"-"`
}

// ActivityDelta changes an activity message's content by a JSON Patch.
type ActivityDelta struct {
	Base
	MessageID    string          `json:"messageId"`
	ActivityType string          `json:"activityType"`
	Patch        json.RawMessage `json:"patch"`
}

// Raw passes on a foreign event; Event nil is written as null.
type Raw struct {
	Base
	Event  json.RawMessage `json:"event"`
	Source string          `json:"source,omitzero"`
}

// Custom is an application's own event; Value nil is written as null.
type Custom struct {
	Base
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// Type is STATE_SNAPSHOT.
func (*StateSnapshot) Type() Type { return TypeStateSnapshot }

// Type is STATE_DELTA.
func (*StateDelta) Type() Type { return TypeStateDelta }

// Type is MESSAGES_SNAPSHOT.
func (*MessagesSnapshot) Type() Type { return TypeMessagesSnapshot }

// Type is ACTIVITY_SNAPSHOT.
func (*ActivitySnapshot) Type() Type { return TypeActivitySnapshot }

// Type is ACTIVITY_DELTA.
func (*ActivityDelta) Type() Type { return TypeActivityDelta }

// Type is RAW.
func (*Raw) Type() Type { return TypeRaw }

// Type is CUSTOM.
func (*Custom) Type() Type { return TypeCustom }
