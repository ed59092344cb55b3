// Package sse writes and reads server-sent events as agentstream uses them: an
// optional id and one line of data a frame, LF line ends, comments to keep
// connections alive.
package sse

import (
	"bytes"
	"io"
)

// AppendEvent appends a frame. id may be empty; data must be one line.
func AppendEvent(dst []byte, id string, data []byte) []byte {
	if id != "" {
		dst = append(dst, "id: "...)
		dst = append(dst, id...)
		dst = append(dst, '\n')
	}
	dst = append(dst, "data: "...)
	dst = append(dst, data...)
	return append(dst, '\n', '\n')
}

// AppendComment appends a comment of one line, which readers pass over.
func AppendComment(dst []byte, text string) []byte {
	dst = append(dst, ':')
	if text != "" {
		dst = append(dst, ' ')
		dst = append(dst, text...)
	}
	return append(dst, '\n', '\n')
}

// Frame is one event. Data is valid until the next call of Next.
type Frame struct {
	ID   string
	Data []byte
}

// Reader reads frames from a stream. It cuts on bytes, so that a stream that
// breaks off in mid-frame yields nothing of it. For one goroutine.
type Reader struct {
	r    io.Reader
	buf  []byte
	at   int // start of what is not read yet
	from int // where to look for the frame's end
	err  error
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next gives the next frame that has data. It ends with io.EOF where the stream
// ends between frames, and with io.ErrUnexpectedEOF within one.
func (r *Reader) Next() (Frame, error) {
	for {
		if i := bytes.Index(r.buf[r.from:], []byte("\n\n")); i >= 0 {
			block := r.buf[r.at : r.from+i]
			r.at = r.from + i + 2
			r.from = r.at
			if f, ok := parse(block); ok {
				return f, nil
			}
			continue
		}
		if r.err != nil {
			if r.err == io.EOF && len(bytes.TrimSpace(r.buf[r.at:])) > 0 {
				return Frame{}, io.ErrUnexpectedEOF
			}
			return Frame{}, r.err
		}
		r.fill()
	}
}

func (r *Reader) fill() {
	if r.at > 0 {
		r.buf = r.buf[:copy(r.buf, r.buf[r.at:])]
		r.at = 0
	}
	r.from = max(0, len(r.buf)-1) // the end may lie across the reads
	if len(r.buf) == cap(r.buf) {
		r.buf = append(make([]byte, 0, max(4096, 2*cap(r.buf))), r.buf...)
	}
	var n int
	n, r.err = r.r.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
}

func parse(block []byte) (f Frame, ok bool) {
	for len(block) > 0 {
		line, rest, _ := bytes.Cut(block, []byte{'\n'})
		block = rest
		line = bytes.TrimSuffix(line, []byte{'\r'})
		name, value, _ := bytes.Cut(line, []byte{':'})
		value = bytes.TrimPrefix(value, []byte{' '})
		switch string(name) {
		case "id":
			f.ID = string(value)
		case "data":
			if ok {
				f.Data = append(append(bytes.Clone(f.Data), '\n'), value...)
			} else {
				f.Data = value
			}
			ok = true
		}
	}
	return f, ok
}
