package main

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"

	"github.com/spf13/cobra"
	xterm "golang.org/x/term"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/blob"
	"github.com/agentstream-go/agentstream/internal/neutral"
	"github.com/agentstream-go/agentstream/internal/term"
	"github.com/agentstream-go/agentstream/source"
)

// sink is where a turn goes, by --format.
type sink interface {
	event(e agui.Event, data []byte) error
	end(last engine.Run, rounds []json.RawMessage, runs []string) error
}

func newSink(format string, c *cobra.Command, cl *client) sink {
	w := bufio.NewWriter(c.OutOrStdout())
	switch format {
	case "agui":
		return lines{w}
	case "rounds":
		return roundLines{w}
	case "events":
		return &contract{to: eventLines{w: w}, load: cl.blob(c.Context())}
	}
	r := newRenderer(c)
	return &contract{to: r, renderer: r}
}

func newRenderer(c *cobra.Command) *term.Renderer { return term.New(screen(c)) }

// screen is what the command writes to.
func screen(c *cobra.Command) term.Options {
	o := term.Options{Out: c.OutOrStdout(), Err: c.ErrOrStderr()}
	o.OutTTY, _ = terminal(o.Out)
	o.ErrTTY, o.Width = terminal(o.Err)
	o.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return o
}

func terminal(w any) (is bool, width int) {
	f, ok := w.(*os.File)
	if !ok || !xterm.IsTerminal(int(f.Fd())) {
		return false, 0
	}
	width, _, _ = xterm.GetSize(int(f.Fd()))
	return true, width
}

// lines prints AG-UI events as they are, one a line.
type lines struct{ w *bufio.Writer }

func (s lines) event(_ agui.Event, data []byte) error {
	_, _ = s.w.Write(data)
	_ = s.w.WriteByte('\n')
	return s.w.Flush()
}

func (s lines) end(engine.Run, []json.RawMessage, []string) error { return s.w.Flush() }

// roundLines prints the turn's rounds when it has ended.
type roundLines struct{ w *bufio.Writer }

func (roundLines) event(agui.Event, []byte) error { return nil }

func (s roundLines) end(_ engine.Run, rounds []json.RawMessage, runs []string) error {
	for _, r := range rounds {
		var of struct{ Run string }
		if json.Unmarshal(r, &of) == nil && slices.Contains(runs, of.Run) {
			_, _ = s.w.Write(r)
			_ = s.w.WriteByte('\n')
		}
	}
	return s.w.Flush()
}

// contract reads the events by the contract, for a handler that shows them.
type contract struct {
	translator neutral.Translator
	to         agentstream.StreamHandler
	renderer   *term.Renderer
	load       func(hash string) ([]byte, error) // what is large; nil: previews do
}

func (s *contract) event(e agui.Event, _ []byte) error {
	if s.load != nil {
		var err error
		if e, err = blob.Event(e, s.load); err != nil {
			return err
		}
	}
	s.translator.Event(e, s.to)
	if l, ok := s.to.(eventLines); ok {
		return l.w.Flush()
	}
	return nil
}

func (s *contract) end(last engine.Run, _ []json.RawMessage, _ []string) error {
	if s.renderer == nil {
		return nil
	}
	reason := last.StopReason
	if last.State == engine.RunCancelled {
		reason = source.Cancelled
	}
	s.renderer.Finish(reason)
	return nil
}

// eventLines prints neutral events, one a line.
type eventLines struct{ w *bufio.Writer }

// Forward implements agentstream.Forwarder.
func (s eventLines) Forward(e agentstream.Event) bool {
	line := agentstream.AppendEvent(nil, e)
	_, _ = s.w.Write(append(line, '\n'))
	return true
}

// OnMessageChunk implements agentstream.StreamHandler.
func (s eventLines) OnMessageChunk(text string) { s.Forward(agentstream.MessageChunk{Text: text}) }

// OnThoughtChunk implements agentstream.StreamHandler.
func (s eventLines) OnThoughtChunk(text string) { s.Forward(agentstream.ThoughtChunk{Text: text}) }

// OnToolCall implements agentstream.StreamHandler.
func (s eventLines) OnToolCall(id, title string) {
	s.Forward(agentstream.ToolCall{ID: id, Title: title})
}

// OnToolCallUpdate implements agentstream.StreamHandler.
func (s eventLines) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	s.Forward(agentstream.ToolCallUpdate{ID: id, Content: content, Status: status})
}

// OnToolCallArgsSnapshot implements agentstream.StreamHandler.
func (s eventLines) OnToolCallArgsSnapshot(id, args string) {
	s.Forward(agentstream.ToolCallArgsSnapshot{ID: id, Args: args})
}

// OnTokenUsage implements agentstream.StreamHandler.
func (s eventLines) OnTokenUsage(n int) { s.Forward(agentstream.TokenUsage{TotalTokens: n}) }
