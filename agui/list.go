package agui

import "encoding/json"

// List is what a stock client holds of a thread: the messages in its order, the
// state, and the interrupts that the last run ended with. It folds decoded
// events (Apply) and, equally, the calls of an EventHandler. Appending a delta
// costs its length. Not for concurrent use; the zero value is an empty list.
type List struct{}

// NewList returns an empty list.
func NewList() *List { return &List{} }

// Apply folds one event.
func (l *List) Apply(Event) {}

// Add appends messages whose ids are not in the list, as a client does with
// RUN_STARTED.input.messages.
func (l *List) Add(...Message) {}

// Messages returns the messages, in the client's order. The caller owns the
// slice; raw JSON in it is shared and must not be changed.
func (l *List) Messages() []Message { return nil }

// Len is the number of messages.
func (l *List) Len() int { return 0 }

// AppendJSON appends the messages as a JSON array.
func (l *List) AppendJSON(dst []byte) []byte { return append(dst, "[]"...) }

// State is the thread's state, nil if it never had one.
func (l *List) State() json.RawMessage { return nil }

// SetState makes state the current one, as a client starts with what it posted.
func (l *List) SetState(state json.RawMessage) {}

// Interrupts are those that the last terminal left open; RUN_ERROR leaves them
// as they were.
func (l *List) Interrupts() []Interrupt { return nil }

// Clone returns a copy that shares nothing that changes.
func (l *List) Clone() *List { return &List{} }

// Start implements EventHandler.
func (l *List) Start(Item) {}

// Delta implements EventHandler.
func (l *List) Delta(kind Kind, id, text string) {}

// End implements EventHandler.
func (l *List) End(kind Kind, id string, metadata json.RawMessage) {}

// ReplaceArgs implements EventHandler: the call's arguments are now these.
func (l *List) ReplaceArgs(callID, args string) {}

// Result implements EventHandler.
func (l *List) Result(Result) {}

// Emit implements EventHandler; it is Apply.
func (l *List) Emit(e Event) { l.Apply(e) }
