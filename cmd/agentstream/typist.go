package main

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// cancelWord cancels the turn when it is typed while the agent works.
const cancelWord = "/cancel"

// typist reads ahead what is typed, so that a line can be heard while the agent
// works; all others wait, in order, for whoever reads next. It is an io.Reader of
// lines, or of whatever there is while keys are read, for one reader at a time.
type typist struct {
	atOnce bool // the word is heard before lines that wait, because a person types it

	mu      sync.Mutex
	typed   []byte
	keys    bool  // single keys are read, not lines
	err     error // what ended the input
	changed chan struct{}
	stop    chan struct{} // of the turn that runs
}

func newTypist(r io.Reader, atOnce bool) *typist {
	t := &typist{atOnce: atOnce, changed: make(chan struct{}, 1)}
	go t.read(r)
	return t
}

func (t *typist) read(r io.Reader) {
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		t.mu.Lock()
		from := bytes.LastIndexByte(t.typed, '\n') + 1
		t.typed = append(t.typed, buf[:n]...)
		if t.atOnce {
			t.overhear(from)
		} else {
			t.heard()
		}
		t.err = err
		t.mu.Unlock()
		select {
		case t.changed <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

// overhear acts on a word among the lines that come from there on.
func (t *typist) overhear(from int) {
	for t.stop != nil && !t.keys {
		n := bytes.IndexByte(t.typed[from:], '\n') + 1
		if n == 0 {
			return
		}
		if isCancel(t.typed[from : from+n]) {
			t.typed = append(t.typed[:from], t.typed[from+n:]...)
			t.cancel()
			return
		}
		from += n
	}
}

func isCancel(line []byte) bool { return strings.TrimSpace(string(line)) == cancelWord }

func (t *typist) cancel() {
	close(t.stop)
	t.stop = nil
}

// begin says that a turn runs; the channel is closed when it is to be cancelled.
func (t *typist) begin() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	stop := make(chan struct{})
	t.stop = stop
	t.heard()
	return stop
}

// heard acts on a word that is next in the line.
func (t *typist) heard() {
	n := bytes.IndexByte(t.typed, '\n') + 1
	if t.stop != nil && n > 0 && isCancel(t.typed[:n]) {
		t.typed = t.typed[n:]
		t.cancel()
	}
}

// end says that no turn runs.
func (t *typist) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop = nil
}

// readKeys says whether single keys are read. Their end of a line is another one
// than that of lines.
func (t *typist) readKeys(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keys = on
	if !on {
		t.typed = bytes.ReplaceAll(t.typed, []byte{'\r'}, []byte{'\n'})
	}
}

// Read gives the next line, or the part of it that fits, or the next keys.
func (t *typist) Read(p []byte) (int, error) {
	for {
		t.mu.Lock()
		n := bytes.IndexByte(t.typed, '\n') + 1
		if t.keys || n == 0 && t.err != nil {
			n = len(t.typed)
		}
		if n > 0 {
			n = copy(p, t.typed[:n])
			ends := t.typed[n-1] == '\n'
			t.typed = t.typed[n:]
			if ends {
				t.heard()
			}
			t.mu.Unlock()
			return n, nil
		}
		err := t.err
		t.mu.Unlock()
		if err != nil {
			return 0, err
		}
		<-t.changed
	}
}
