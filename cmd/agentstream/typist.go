package main

import (
	"bufio"
	"io"
	"strings"
	"sync"
)

// cancelWord cancels the turn when it is typed while the agent works.
const cancelWord = "/cancel"

// typist reads lines ahead, so that one can be heard while the agent works; all
// others wait, in order, for whoever reads next. It is an io.Reader of lines, for
// one reader at a time.
type typist struct {
	atOnce bool // the word is heard before lines that wait, because a person types it

	mu      sync.Mutex
	lines   []string
	err     error // what ended the input
	changed chan struct{}
	stop    chan struct{} // of the turn that runs
}

func newTypist(r io.Reader, atOnce bool) *typist {
	t := &typist{atOnce: atOnce, changed: make(chan struct{}, 1)}
	go t.read(bufio.NewReader(r))
	return t
}

func (t *typist) read(r *bufio.Reader) {
	for {
		line, err := r.ReadString('\n')
		t.mu.Lock()
		switch {
		case t.stop != nil && isCancel(line) && (t.atOnce || len(t.lines) == 0):
			t.cancel()
		case line != "":
			t.lines = append(t.lines, line)
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

func isCancel(line string) bool { return strings.TrimSpace(line) == cancelWord }

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
	if t.stop != nil && len(t.lines) > 0 && isCancel(t.lines[0]) {
		t.lines = t.lines[1:]
		t.cancel()
	}
}

// end says that no turn runs.
func (t *typist) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stop = nil
}

// Read gives the next line, or the part of it that fits.
func (t *typist) Read(p []byte) (int, error) {
	for {
		t.mu.Lock()
		if len(t.lines) > 0 {
			n := copy(p, t.lines[0])
			if t.lines[0] = t.lines[0][n:]; t.lines[0] == "" {
				t.lines = t.lines[1:]
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
