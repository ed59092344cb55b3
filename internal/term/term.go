// Package term shows a stream to somebody at a terminal: the answer on stdout,
// all else on stderr. What an agent says is untrusted: no control character of
// it reaches the terminal.
package term

import (
	"context"
	"io"
	"time"

	"github.com/agentstream-go/agentstream/source"
)

// Options say where and how to render.
type Options struct {
	Out, Err       io.Writer // the answer; all else
	OutTTY, ErrTTY bool      // whether they are terminals
	Color          bool      // ANSI colours on terminals; false for NO_COLOR
	Width          int       // columns; 0: 80
	Now            func() time.Time
	Quiet          bool // only the answer and errors
}

// Renderer implements agentstream.StreamHandler and the rich handlers. It is
// safe for concurrent calls.
type Renderer struct{ o Options }

// New makes a Renderer.
func New(o Options) *Renderer { return &Renderer{o: o} }

// Finish ends the turn: closes open lines and shows the stop reason unless it
// is end_turn, and the use of the context. The renderer can then take the next turn.
func (r *Renderer) Finish(reason source.StopReason) {}

// Fail ends the turn with an error, shown on one line: what, why, what to do.
func (r *Renderer) Fail(err error) {}

// Ask shows a question of the agent and reads the answer. The end of input and
// the end of ctx refuse.
func (r *Renderer) Ask(ctx context.Context, q source.Request, in *Input) source.Answer {
	return source.Refuse(q)
}

// Input reads lines that somebody types.
type Input struct{ r io.Reader }

// NewInput makes an Input.
func NewInput(r io.Reader) *Input { return &Input{r: r} }

// Line gives the next line without its end; io.EOF at the end of the input,
// the cause of ctx when that ends first (the line is then not lost). One call
// at a time.
func (in *Input) Line(ctx context.Context) (string, error) { return "", io.EOF }
