package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	xterm "golang.org/x/term"
)

// editor reads what is said at a terminal: a line with history, completion of
// words that begin with a slash, and pasted text as one piece. Not for concurrent
// use.
type editor struct {
	fd     int
	typist *typist
	screen *os.File
	line   *xterm.Terminal
	words  []string // that a slash begins; sorted
	ctrlC  bool
}

// errLeft: Ctrl-C at the prompt.
var errLeft = errors.New("left")

// homeAndEnd are these keys as some terminals send them, which the line does not
// know, and Ctrl-A and Ctrl-E, which do the same.
var homeAndEnd = map[string]byte{"\x1b[1~": 1, "\x1b[7~": 1, "\x1bOH": 1, "\x1b[4~": 5, "\x1b[8~": 5, "\x1bOF": 5}

func newEditor(in *os.File, screen *os.File, t *typist) *editor {
	e := &editor{fd: int(in.Fd()), typist: t, screen: screen}
	e.line = xterm.NewTerminal(e, "> ")
	e.line.AutoCompleteCallback = e.complete
	return e
}

// Read implements io.Reader with the keys that are pressed.
func (e *editor) Read(p []byte) (int, error) {
	n, err := e.typist.Read(p)
	for keys, one := range homeAndEnd {
		n = copy(p, bytes.ReplaceAll(p[:n], []byte(keys), []byte{one}))
	}
	e.ctrlC = e.ctrlC || bytes.IndexByte(p[:n], 3) >= 0
	return n, err
}

// Write implements io.Writer.
func (e *editor) Write(p []byte) (int, error) { return e.screen.Write(p) }

// read gives the next line: io.EOF at its end, errLeft, or the cause of ctx. Lines
// that are pasted together come together.
func (e *editor) read(ctx context.Context) (string, error) {
	state, err := xterm.MakeRaw(e.fd)
	if err != nil {
		return "", err
	}
	e.typist.readKeys(true)
	e.line.SetBracketedPasteMode(true)
	defer func() {
		e.line.SetBracketedPasteMode(false)
		e.typist.readKeys(false)
		_ = xterm.Restore(e.fd, state)
	}()
	if w, h, err := xterm.GetSize(e.fd); err == nil {
		_ = e.line.SetSize(w, h)
	}
	type result struct {
		text string
		err  error
	}
	done := make(chan result, 1)
	go func() {
		var lines []string
		for {
			text, err := e.line.ReadLine()
			lines = append(lines, text)
			if !errors.Is(err, xterm.ErrPasteIndicator) {
				done <- result{strings.Join(lines, "\n"), err}
				return
			}
		}
	}()
	select {
	case r := <-done:
		if errors.Is(r.err, io.EOF) && e.ctrlC {
			r.err = errLeft
		}
		return strings.TrimRight(r.text, "\n"), r.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}

// complete extends a word that a slash begins as far as it is certain.
func (e *editor) complete(line string, pos int, key rune) (string, int, bool) {
	if key != '\t' || !strings.HasPrefix(line, "/") || pos != len(line) {
		return "", 0, false
	}
	var fit []string
	for _, w := range e.words {
		if strings.HasPrefix(w, line) {
			fit = append(fit, w)
		}
	}
	if len(fit) == 0 {
		return "", 0, false
	}
	common := fit[0]
	for _, w := range fit[1:] {
		for !strings.HasPrefix(w, common) {
			common = common[:len(common)-1]
		}
	}
	if len(fit) == 1 {
		common += " "
	}
	return common, len(common), true
}

// know adds words to complete.
func (e *editor) know(words ...string) {
	e.words = append(e.words, words...)
	slices.Sort(e.words)
	e.words = slices.Compact(e.words)
}
