package join

import (
	"bytes"
	"unicode/utf8"

	"github.com/agentstream-go/agentstream/agui"
)

// maxDelta is the length, in bytes, beyond which a delta is not made longer: a
// stock client looks through all it has of an event whenever a piece of it arrives.
const maxDelta = 512 << 10

// Merge joins adjacent deltas of one thing, because a stock client's work for an
// event grows with its history. Events with metadata stay as they are.
func Merge(events []agui.Event) []agui.Event {
	out := make([]agui.Event, 0, min(len(events), 64))
	for i := 0; i < len(events); {
		first, ok := deltaOf(events[i])
		next := i + 1
		if !ok {
			out = append(out, events[i])
			i = next
			continue
		}
		for size := len(first.text); next < len(events) && size < maxDelta; next++ {
			d, ok := deltaOf(events[next])
			if !ok || d.typ != first.typ || d.id != first.id || d.owner != first.owner {
				break
			}
			size += len(d.text)
		}
		if next == i+1 {
			out = append(out, events[i])
		} else {
			out = append(out, first.with(texts(events[i:next])))
		}
		i = next
	}
	return out
}

// delta is a piece of a text, a thought or a call's arguments, and nothing else.
type delta struct {
	typ             agui.Type
	id, owner, text string
}

func deltaOf(e agui.Event) (delta, bool) {
	var b *agui.Base
	var d delta
	switch e := e.(type) {
	case *agui.TextMessageContent:
		b, d = &e.Base, delta{e.Type(), e.MessageID, e.SubagentRunID, e.Delta}
	case *agui.ReasoningMessageContent:
		b, d = &e.Base, delta{e.Type(), e.MessageID, e.SubagentRunID, e.Delta}
	case *agui.ToolCallArgs:
		b, d = &e.Base, delta{e.Type(), e.ToolCallID, e.SubagentRunID, e.Delta}
	default:
		return d, false
	}
	return d, b.Metadata == nil && b.RawEvent == nil
}

// with gives the event that says text of the same thing.
func (d delta) with(text string) agui.Event {
	b := agui.Base{SubagentRunID: d.owner}
	switch d.typ {
	case agui.TypeTextMessageContent:
		return &agui.TextMessageContent{Base: b, MessageID: d.id, Delta: text}
	case agui.TypeReasoningMessageContent:
		return &agui.ReasoningMessageContent{Base: b, MessageID: d.id, Delta: text}
	}
	return &agui.ToolCallArgs{Base: b, ToolCallID: d.id, Delta: text}
}

// pieces gives the event that says text, or several if it is long.
func (d delta) pieces(text string) (out []agui.Event) {
	for len(text) > maxDelta {
		n := maxDelta
		for !utf8.RuneStart(text[n]) && n > maxDelta-utf8.UTFMax {
			n--
		}
		out = append(out, d.with(text[:n]))
		text = text[n:]
	}
	if text != "" {
		out = append(out, d.with(text))
	}
	return out
}

func texts(deltas []agui.Event) string {
	var all []byte
	for _, e := range deltas {
		d, _ := deltaOf(e)
		all = append(all, d.text...)
	}
	return string(all)
}

// Deltas is Merge for encoded events, one after the other and without decoding
// them. The zero value is empty. Not for concurrent use.
type Deltas struct {
	event []byte // the only one, while there is one
	buf   []byte // of several, up to the end of the text
	head  int    // length up to the text
	tail  []byte // from the quote that ends the text
}

// maxMerged bounds a merged event, so that no reader waits for a large one.
const maxMerged = 32 << 10

// Begin takes an event if it is a delta and forgets the ones before.
func (d *Deltas) Begin(event []byte) bool {
	head, end := textOf(event)
	if end < 0 {
		return false
	}
	*d = Deltas{event: event, buf: nil, head: head, tail: event[end:]}
	return true
}

// Add takes an event if it goes on with the same thing.
func (d *Deltas) Add(event []byte) bool {
	head, end := textOf(event)
	if end < 0 || d.event == nil || head != d.head || len(d.buf) > maxMerged ||
		!bytes.Equal(event[:head], d.event[:head]) || !bytes.Equal(event[end:], d.tail) {
		return false
	}
	if d.buf == nil {
		d.buf = append(d.buf, d.event[:len(d.event)-len(d.tail)]...)
	}
	d.buf = append(d.buf, event[head:end]...)
	return true
}

// Event gives all that was taken as one event, encoded as they were.
func (d *Deltas) Event() []byte {
	if d.buf == nil {
		return d.event
	}
	return append(d.buf, d.tail...)
}

var (
	deltaKey = []byte(`,"delta":"`)
	tagKey   = []byte(`","subagentRunId":`)
	kinds    = [][]byte{
		[]byte(`{"type":"` + agui.TypeTextMessageContent + `"`),
		[]byte(`{"type":"` + agui.TypeReasoningMessageContent + `"`),
		[]byte(`{"type":"` + agui.TypeToolCallArgs + `"`),
	}
)

// textOf gives the place of a delta's text in an event as this project encodes
// it: the type first, and no quote inside of a string but an escaped one. Another
// event, or one that says more than whose delta it is, has the end -1.
func textOf(event []byte) (head, end int) {
	if !bytes.HasPrefix(event, kinds[0]) && !bytes.HasPrefix(event, kinds[1]) && !bytes.HasPrefix(event, kinds[2]) {
		return 0, -1
	}
	head = bytes.Index(event, deltaKey)
	if head < 0 {
		return 0, -1
	}
	head += len(deltaKey)
	for end = head; end < len(event) && event[end] != '"'; end++ {
		if event[end] == '\\' {
			end++
		}
	}
	if end >= len(event) || !bytes.Equal(event[end:], []byte(`"}`)) && !bare(event[end:]) {
		return 0, -1
	}
	return head, end
}

// bare reports whether what follows a text is no more than whose it is.
func bare(tail []byte) bool {
	return bytes.HasPrefix(tail, tagKey) && bytes.Count(tail, []byte(`":`)) == 1
}
