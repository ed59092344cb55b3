package sse

import (
	"bytes"
	"io"
)

// Frame is one event. Data is valid until the next call of Next.
type Frame struct {
	ID   string // of this frame, empty if it has none
	Data []byte
}

// Reader reads frames from a stream. It cuts on bytes, however long a frame is,
// so that a stream that breaks off in mid-frame yields nothing of it. For one
// goroutine.
type Reader struct {
	r     io.Reader
	buf   []byte
	at    int // start of what is not read yet
	look  int // where to look for the line's end
	began bool
	err   error

	id      string
	data    []byte // of the frame that is being read
	hasData bool
	inFrame bool
}

// NewReader returns a Reader of r.
func NewReader(r io.Reader) *Reader { return &Reader{r: r} }

// Next gives the next frame that has data. It ends with io.EOF where the stream
// ends between frames, and with io.ErrUnexpectedEOF within one.
func (r *Reader) Next() (Frame, error) {
	r.reset()
	for {
		line, ok := r.line()
		switch {
		case !ok && r.err == io.EOF && (r.inFrame || r.at < len(r.buf)):
			return Frame{}, io.ErrUnexpectedEOF
		case !ok:
			return Frame{}, r.err
		case len(line) > 0:
			r.field(line)
		case r.hasData:
			return Frame{ID: r.id, Data: r.data}, nil
		default:
			r.reset()
		}
	}
}

func (r *Reader) reset() {
	r.id, r.data, r.hasData, r.inFrame = "", r.data[:0], false, false
}

// line returns the next line without its end, valid until the next call.
func (r *Reader) line() ([]byte, bool) {
	for {
		if i := bytes.IndexByte(r.buf[r.look:], '\n'); i >= 0 {
			line := r.buf[r.at : r.look+i]
			r.at = r.look + i + 1
			r.look = r.at
			if !r.began {
				r.began = true
				line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
			}
			return bytes.TrimSuffix(line, []byte{'\r'}), true
		}
		if r.err != nil {
			return nil, false
		}
		r.fill()
	}
}

func (r *Reader) fill() {
	if r.at > 0 {
		r.buf = r.buf[:copy(r.buf, r.buf[r.at:])]
		r.at = 0
	}
	r.look = len(r.buf)
	if len(r.buf) == cap(r.buf) {
		r.buf = append(make([]byte, 0, max(4096, 2*cap(r.buf))), r.buf...)
	}
	var n int
	n, r.err = r.r.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
}

func (r *Reader) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte{':'})
	value = bytes.TrimPrefix(value, []byte{' '})
	switch string(name) {
	case "": // a comment, which may stand anywhere
		return
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.id = string(value)
		}
	case "data":
		if r.hasData {
			r.data = append(r.data, '\n')
		}
		r.data = append(r.data, value...)
		r.hasData = true
	}
	r.inFrame = true
}
