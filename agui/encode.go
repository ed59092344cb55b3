package agui

import (
	"encoding/json"
	"strconv"
)

// Append appends e's JSON to dst and returns the extended slice: one line, nulls
// left out, U+2028 and U+2029 escaped, invalid UTF-8 replaced by U+FFFD. Raw
// JSON in e that is not valid is written as a JSON string; metadata that is not
// an object is left out.
func Append(dst []byte, e Event) []byte { return appendEvent(dst, e, 0) }

func appendEvent(dst []byte, e Event, now int64) []byte {
	enc := encoder{buf: dst, now: now}
	e.append(&enc)
	return enc.buf
}

// encoder appends one event. Keys are given with their comma and colon, so that
// writing a field is two appends.
type encoder struct {
	buf []byte
	now int64 // stamps an event that has no timestamp, if not zero
}

func (e *encoder) open(t Type) {
	e.buf = append(append(append(e.buf, `{"type":"`...), t...), '"')
}

// end writes the common fields and closes the event. tagged says whether the
// protocol knows subagentRunId on this type.
func (e *encoder) end(b *Base, tagged bool) {
	ts := b.Timestamp
	if ts == 0 {
		ts = e.now
	}
	e.buf = appendTimestamp(e.buf, ts)
	e.object(`,"metadata":`, b.Metadata)
	e.optRaw(`,"rawEvent":`, b.RawEvent)
	if tagged {
		e.opt(`,"subagentRunId":`, b.SubagentRunID)
	}
	e.buf = append(e.buf, '}')
}

func (e *encoder) str(key, s string) { e.buf = appendString(append(e.buf, key...), s) }

func (e *encoder) opt(key, s string) {
	if s != "" {
		e.str(key, s)
	}
}

func (e *encoder) int(key string, n int64) {
	if n != 0 {
		e.buf = strconv.AppendInt(append(e.buf, key...), n, 10)
	}
}

func (e *encoder) raw(key string, r json.RawMessage, absent string) {
	e.buf = append(e.buf, key...)
	if len(r) == 0 {
		e.buf = append(e.buf, absent...)
		return
	}
	e.buf = appendRaw(e.buf, r)
}

func (e *encoder) optRaw(key string, r json.RawMessage) {
	if len(r) != 0 {
		e.raw(key, r, "")
	}
}

func (e *encoder) object(key string, r json.RawMessage) {
	if isObject(r) {
		e.raw(key, r, "")
	}
}

func (e *encoder) strings(key string, list []string) {
	e.buf = append(append(e.buf, key...), '[')
	for i, s := range list {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		e.buf = appendString(e.buf, s)
	}
	e.buf = append(e.buf, ']')
}

// each writes an array of n values, each by write.
func (e *encoder) each(key string, n int, write func(i int)) {
	e.buf = append(append(e.buf, key...), '[')
	for i := range n {
		if i > 0 {
			e.buf = append(e.buf, ',')
		}
		write(i)
	}
	e.buf = append(e.buf, ']')
}

func appendTimestamp(dst []byte, ms int64) []byte {
	if ms == 0 {
		return dst
	}
	return strconv.AppendInt(append(dst, `,"timestamp":`...), ms, 10)
}
