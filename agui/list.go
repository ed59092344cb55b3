package agui

import (
	"encoding/json"
	"slices"
)

// List is what a stock client holds of a thread: the messages in its order, the
// state, and the interrupts that the last run ended with. It folds decoded
// events (Apply) and, equally, the calls of an EventHandler. Appending a delta
// costs its length. Not for concurrent use; the zero value is an empty list.
type List struct {
	items      []*entry
	byID       map[string]*entry   // the first of each id
	byCall     map[string]*callRef // the first of each call id
	state      document
	interrupts []Interrupt
}

// entry is a message that may still grow.
type entry struct {
	Message
	text  []byte // the inside of Content, escaped, if isText
	is    contentKind
	calls []*callEntry
	flags entryFlags
}

type contentKind uint8

const (
	contentAbsent contentKind = iota
	contentText               // text
	contentRaw                // Message.Content
)

type entryFlags uint8

const hasCalls entryFlags = 1 // the key toolCalls is there, even if empty

type callEntry struct {
	ToolCall
	args []byte
}

type callRef struct {
	owner *entry
	call  *callEntry
}

// NewList returns an empty list.
func NewList() *List { return &List{} }

// Add appends messages whose ids are not in the list, in their portable form, as
// an Emitter writes them into RUN_STARTED.input.
func (l *List) Add(messages ...Message) { l.add(portable(messages)) }

func (l *List) add(messages []Message) {
	for i := range messages {
		if l.byID[messages[i].ID] == nil {
			l.push(newEntry(&messages[i]))
		}
	}
}

func newEntry(m *Message) *entry {
	e := &entry{Message: *m}
	e.Content, e.ToolCalls = nil, nil
	e.setContent(m.Content)
	if m.ToolCalls != nil {
		e.flags |= hasCalls
	}
	for _, c := range m.ToolCalls {
		e.calls = append(e.calls, &callEntry{ToolCall: c, args: []byte(c.Arguments)})
	}
	return e
}

func (e *entry) setContent(raw json.RawMessage) {
	e.Content, e.text, e.is = nil, nil, contentAbsent
	if len(raw) == 0 {
		return
	}
	if s, ok := unquote(raw); ok {
		e.is, e.text = contentText, appendEscaped(nil, s)
		return
	}
	e.is, e.Content = contentRaw, raw
}

func (e *entry) appendText(text string) {
	if e.is != contentText {
		e.Content, e.is = nil, contentText
	}
	e.text = appendEscaped(e.text, text)
}

// push appends an entry, and insert puts it at a place.
func (l *List) push(e *entry) { l.insert(len(l.items), e) }

func (l *List) insert(at int, e *entry) {
	l.items = slices.Insert(l.items, at, e)
	l.index(e)
}

func (l *List) index(e *entry) {
	if l.byID == nil {
		l.byID, l.byCall = map[string]*entry{}, map[string]*callRef{}
	}
	if l.byID[e.ID] == nil {
		l.byID[e.ID] = e
	}
	for _, c := range e.calls {
		if l.byCall[c.ID] == nil {
			l.byCall[c.ID] = &callRef{e, c}
		}
	}
}

func (l *List) reindex() {
	l.byID, l.byCall = nil, nil
	for _, e := range l.items {
		l.index(e)
	}
}

// Len is the number of messages.
func (l *List) Len() int { return len(l.items) }

// Messages returns the messages, in the client's order. The caller owns the
// slice; raw JSON in it is shared and must not be changed.
func (l *List) Messages() []Message {
	list := make([]Message, len(l.items))
	for i, e := range l.items {
		list[i] = e.message()
	}
	return list
}

func (e *entry) message() Message {
	m := e.Message
	if e.is == contentText {
		m.Content = e.quoted(make([]byte, 0, len(e.text)+2))
	}
	if e.flags&hasCalls != 0 {
		m.ToolCalls = make([]ToolCall, len(e.calls))
	}
	for i, c := range e.calls {
		m.ToolCalls[i] = c.ToolCall
		m.ToolCalls[i].Arguments = string(c.args)
	}
	return m
}

func (e *entry) quoted(dst []byte) []byte { return append(append(append(dst, '"'), e.text...), '"') }

// AppendJSON appends the messages as a JSON array.
func (l *List) AppendJSON(dst []byte) []byte {
	w := encoder{buf: dst}
	w.each("", len(l.items), func(i int) { l.items[i].append(&w) })
	return w.buf
}

func (e *entry) append(w *encoder) {
	m := &e.Message
	w.str(`{"id":`, m.ID)
	w.str(`,"role":`, string(m.Role))
	if e.is == contentText {
		w.buf = e.quoted(append(w.buf, `,"content":`...))
	} else {
		w.messageContent(m)
	}
	w.opt(`,"name":`, m.Name)
	if e.flags&hasCalls != 0 {
		w.each(`,"toolCalls":`, len(e.calls), func(i int) {
			c := e.calls[i]
			w.toolCall(&c.ToolCall, c.args)
		})
	}
	w.messageRest(m)
}

// State is the thread's state as a client holds it, nil if it never had one.
// The caller must not change it.
func (l *List) State() json.RawMessage { return l.state.raw() }

// SetState makes state the current one, as a client starts with what it posted.
func (l *List) SetState(state json.RawMessage) { l.state.set(state) }

// Interrupts are those that the last terminal left open; RUN_ERROR leaves them
// as they were. The caller must not change them.
func (l *List) Interrupts() []Interrupt { return l.interrupts }

// Clone returns a copy that shares nothing that changes. It costs one step a
// message, whatever their length.
func (l *List) Clone() *List {
	c := &List{state: l.state.clone(), interrupts: l.interrupts, items: make([]*entry, len(l.items))}
	for i, e := range l.items {
		d := *e
		d.text = slices.Clip(d.text)
		d.calls = make([]*callEntry, len(e.calls))
		for j, call := range e.calls {
			copied := *call
			copied.args = slices.Clip(copied.args)
			d.calls[j] = &copied
		}
		c.items[i] = &d
	}
	c.reindex()
	return c
}
