package proc

import (
	"bytes"
	"sync"
)

const tailSize = 8 << 10

// tail keeps the last bytes that were written to it.
type tail struct {
	mu  sync.Mutex
	max int
	buf []byte
	cut bool
}

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, b...)
	if n := len(t.buf) - t.max; n > 0 {
		t.buf = append(t.buf[:0], t.buf[n:]...)
		t.cut = true
	}
	return len(b), nil
}

// String leaves out a line whose beginning is gone, unless it is all there is.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := t.buf
	if t.cut {
		if n := bytes.IndexByte(b, '\n'); n >= 0 && n+1 < len(b) {
			b = b[n+1:]
		}
	}
	return string(bytes.TrimSpace(bytes.ToValidUTF8(b, []byte("\uFFFD"))))
}
