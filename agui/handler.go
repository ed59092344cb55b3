package agui

import "encoding/json"

// Kind is a kind of thing that opens, grows and closes.
type Kind uint8

// The kinds of Item.
const (
	KindText Kind = iota + 1
	KindReasoning
	KindToolCall
)

// Item is something that opens: a text message, a stretch of reasoning (span
// and message together, with one id) or a tool call.
type Item struct {
	Kind     Kind
	ID       string
	Name     string          // tool call: the function's name
	Parent   string          // tool call: the message that owns it, "" for one of its own
	Subagent string          // the sub-agent it belongs to, "" for the agent itself
	Metadata json.RawMessage // a JSON object, or nil
}

// Result is the result of a tool call; it becomes a tool message of its own.
type Result struct {
	MessageID string
	CallID    string
	Content   string
	Subagent  string
	Metadata  json.RawMessage // a JSON object, or nil
}

// EventHandler takes a turn's happenings as AG-UI knows them. Calls come in
// order and never two at once. What an implementation keeps of an Event or of
// raw JSON it may keep without copying: the caller does not change it later.
type EventHandler interface {
	// Start opens an item.
	Start(Item)
	// Delta appends text to an open item.
	Delta(kind Kind, id, text string)
	// End closes an item; metadata is an object for a tool call, or nil.
	End(kind Kind, id string, metadata json.RawMessage)
	// ReplaceArgs says that the arguments of a call that has ended are now
	// these; a client learns of it by a MESSAGES_SNAPSHOT only.
	ReplaceArgs(callID, args string)
	// Result answers a call.
	Result(Result)
	// Emit passes on everything else: Custom, ActivitySnapshot, sub-agents, …
	Emit(Event)
}

type tee []EventHandler

// Handlers returns a handler that passes each call to all of h, in order; nil
// ones are left out.
func Handlers(h ...EventHandler) EventHandler {
	t := make(tee, 0, len(h))
	for _, one := range h {
		if one != nil {
			t = append(t, one)
		}
	}
	return t
}

func (t tee) Start(i Item) {
	for _, h := range t {
		h.Start(i)
	}
}

func (t tee) Delta(kind Kind, id, text string) {
	for _, h := range t {
		h.Delta(kind, id, text)
	}
}

func (t tee) End(kind Kind, id string, metadata json.RawMessage) {
	for _, h := range t {
		h.End(kind, id, metadata)
	}
}

func (t tee) ReplaceArgs(callID, args string) {
	for _, h := range t {
		h.ReplaceArgs(callID, args)
	}
}

func (t tee) Result(r Result) {
	for _, h := range t {
		h.Result(r)
	}
}

func (t tee) Emit(e Event) {
	for _, h := range t {
		h.Emit(e)
	}
}
