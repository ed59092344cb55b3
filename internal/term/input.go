package term

import (
	"bufio"
	"context"
	"io"
	"strings"
	"sync"
)

// Input reads lines that somebody types.
type Input struct {
	r *bufio.Reader

	mu      sync.Mutex
	pending chan typed // of a read that goes on, else nil
}

type typed struct {
	line string
	err  error
}

// NewInput makes an Input.
func NewInput(r io.Reader) *Input { return &Input{r: bufio.NewReader(r)} }

// Line gives the next line without its end; io.EOF at the end of the input,
// the cause of ctx when that ends first (the line is then not lost: the next
// call gets it). One call at a time.
func (in *Input) Line(ctx context.Context) (string, error) {
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.pending == nil {
		pending := make(chan typed, 1)
		in.pending = pending
		go func() {
			line, err := in.r.ReadString('\n')
			if line != "" {
				err = nil // a last line without its end
			}
			pending <- typed{strings.TrimRight(line, "\r\n"), err}
		}()
	}
	select {
	case t := <-in.pending:
		in.pending = nil
		return t.line, t.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
