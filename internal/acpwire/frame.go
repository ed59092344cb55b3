package acpwire

import (
	"bytes"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type frame struct {
	ID     []byte
	Method string
	Params any
	Result any
	Err    *Error
}

// encode gives f as one line.
func encode(f frame) ([]byte, error) {
	line := []byte(`{"jsonrpc":"2.0"`)
	var err error
	if f.ID != nil {
		line = append(append(line, `,"id":`...), f.ID...)
	}
	switch {
	case f.Method != "":
		if line, err = appendMember(line, "method", f.Method); err == nil && f.Params != nil {
			line, err = appendMember(line, "params", f.Params)
		}
	case f.Err != nil:
		line, err = appendMember(line, "error", f.Err)
	default:
		line, err = appendMember(line, "result", f.Result)
	}
	if err != nil {
		return nil, err
	}
	// In valid JSON a bare line break is white space.
	for i, b := range line {
		if b == '\n' || b == '\r' {
			line[i] = ' '
		}
	}
	return append(line, '}', '\n'), nil
}

func appendMember(line []byte, name string, v any) ([]byte, error) {
	value, err := json.Marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	line = append(append(append(line, `,"`...), name...), `":`...)
	return append(line, value...), err
}

// Reply answers one request. Its methods may be called from any goroutine;
// only the first answer counts.
type Reply struct {
	id   []byte
	conn *Conn
	used atomic.Bool
}

// ID is the request's id, raw.
func (r *Reply) ID() []byte { return r.id }

// Send answers with a result; it reports whether it was the first answer.
func (r *Reply) Send(result any) bool { return r.answer(frame{ID: r.id, Result: result}) }

// Fail answers with an error; it reports whether it was the first answer.
func (r *Reply) Fail(e *Error) bool { return r.answer(frame{ID: r.id, Err: e}) }

func (r *Reply) answer(f frame) bool {
	if !r.used.CompareAndSwap(false, true) {
		return false
	}
	line, err := encode(f)
	if err != nil {
		line, _ = encode(frame{ID: r.id, Err: &Error{Code: CodeInternal, Message: "the answer cannot be encoded"}})
	}
	if !r.conn.out.push(outgoing{line: line}) {
		r.conn.Post(func() { r.conn.diagnose("an answer was dropped: the agent does not read") })
	}
	return true
}

func (c *Conn) newReply(id []byte) *Reply { return &Reply{id: bytes.Clone(id), conn: c} }
