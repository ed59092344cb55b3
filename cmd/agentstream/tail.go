package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/internal/sse"
	"github.com/agentstream-go/agentstream/internal/term"
)

type tail struct {
	target
	from   string
	format string
	once   bool

	thread string
	last   string // cursor of the last event shown
}

func tailCommand() *cobra.Command {
	var t tail
	c := &cobra.Command{
		Use:   "tail THREAD",
		Short: "Follow a thread's events",
		Long: "tail shows the events of a thread from the start, or after --from, and then follows: it goes\n" +
			"on through cuts and over later runs until Ctrl-C. On a data folder that nobody uses, and with\n" +
			"--once, it ends at the end of the log. --from takes a cursor, or an event's number; when tail\n" +
			"is left, it prints the cursor to go on from.",
		Example:           "  agentstream tail t-abc --format agui\n  agentstream tail t-abc --from 120",
		Args:              oneArg("tail takes one thread's id; 'agentstream ls' lists them"),
		ValidArgsFunction: t.completeThreads,
		RunE:              func(c *cobra.Command, args []string) error { return t.run(c, args[0]) },
	}
	t.flags(c)
	c.Flags().StringVar(&t.from, "from", "", "begin after this cursor or number of an event")
	c.Flags().StringVar(&t.format, "format", "text", "text, agui or events")
	c.Flags().BoolVar(&t.once, "once", false, "end at the end of the log")
	_ = c.RegisterFlagCompletionFunc("format", fixed("text", "agui", "events"))
	return c
}

func (t *tail) run(c *cobra.Command, thread string) error {
	if t.thread = thread; !slices.Contains([]string{"text", "agui", "events"}, t.format) {
		return usage("--format %q: use text, agui or events", t.format)
	}
	number, err := strconv.ParseUint(t.from, 10, 64)
	isNumber := err == nil
	if t.from != "" && !isNumber {
		if _, err := eventlog.ParseCursor(t.from); err != nil {
			return usage("--from %q is neither a cursor nor a number", t.from)
		}
	}
	cl, err := t.connect(c, true)
	if err != nil {
		return err
	}
	defer func() { _ = cl.close() }()
	var at engine.Thread
	if err := cl.call(c.Context(), "GET", threadPath(thread), nil, &at); err != nil {
		return threadError(thread, err)
	}
	if t.last = t.from; isNumber {
		// An event is named by its number in the generation that the log has now.
		head, err := eventlog.ParseCursor(at.Cursor)
		if err != nil {
			return failedBy(err)
		}
		t.last = eventlog.Cursor{Gen: head.Gen, Seq: number}.String()
		if number == 0 {
			t.last = ""
		}
	}
	s := readSink(t.format, c, cl)
	if t.once || cl.local {
		return t.failure(t.upTo(c.Context(), cl, s))
	}
	return t.follow(c, cl, s)
}

func (t *tail) failure(err error) error {
	if err == nil {
		return nil
	}
	if codeOf(err) == "cursor_gone" {
		return failedBy(fmt.Errorf("the log has no such place any more (%w); leave out --from, or see 'agentstream show %s'", err, t.thread))
	}
	return threadError(t.thread, err)
}

// follow shows events until somebody ends it. A cut is followed by the rest.
func (t *tail) follow(c *cobra.Command, cl *client, s sink) error {
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	for tries := 0; ; tries++ {
		before := t.last
		resp, err := cl.do(ctx, "GET", t.path(""), "text/event-stream", nil)
		if err == nil {
			err = t.frames(resp.Body, s)
			_ = resp.Body.Close()
		}
		var refused *apiError
		switch {
		case ctx.Err() != nil:
			fmt.Fprintf(c.ErrOrStderr(), "agentstream: 'agentstream tail %s --from %s' goes on\n", t.thread, first(t.last, "0"))
			return &exitError{code: exitCancelled}
		case errors.As(err, &refused) && refused.Status < 500, errors.Is(err, errSink):
			return t.failure(err)
		case t.last != before:
			tries = 0
		case tries >= 8:
			return failedBy(fmt.Errorf("the server does not answer any more; 'agentstream tail %s --from %s' goes on", t.thread, first(t.last, "0")))
		}
		select {
		case <-ctx.Done():
		case <-time.After(min(100*time.Millisecond<<tries, 8*time.Second)):
		}
	}
}

func (t *tail) path(query string) string {
	return threadPath(t.thread) + "/events?after=" + url.QueryEscape(first(t.last, "0")) + query
}

// frames shows events until the stream ends.
func (t *tail) frames(body io.Reader, s sink) error {
	frames := sse.NewReader(body)
	for {
		f, err := frames.Next()
		if err != nil {
			return err
		}
		if err := t.show(f.ID, f.Data, s); err != nil {
			return err
		}
	}
}

func (t *tail) show(id string, data []byte, s sink) error {
	if e, err := agui.Decode(data); err == nil {
		if err := s.event(e, data); err != nil {
			return errors.Join(errSink, err)
		}
	}
	if id != "" {
		t.last = id
	}
	return nil
}

// upTo shows what the log has now.
func (t *tail) upTo(ctx context.Context, cl *client, s sink) error {
	err := cl.logged(ctx, t.thread, t.last, func(id string, data []byte) error { return t.show(id, data, s) })
	if err != nil {
		return err
	}
	return s.end(engine.Run{}, nil, nil)
}

// users shows what the users said before what the agent answers, for people.
type users struct {
	sink
	w io.Writer
}

// readSink is newSink for what happened before: all goes to stdout.
func readSink(format string, c *cobra.Command, cl *client) sink {
	if format != "text" {
		return newSink(format, c, cl)
	}
	o := screen(c)
	o.Err, o.ErrTTY, o.Shared = o.Out, o.OutTTY, true
	r := term.New(o)
	return users{&contract{to: r, renderer: r}, o.Out}
}

func (u users) event(e agui.Event, data []byte) error {
	if start, ok := e.(*agui.RunStarted); ok && start.Input != nil {
		for _, m := range start.Input.Messages {
			if m.Role != agui.RoleUser {
				continue
			}
			if err := u.end(engine.Run{}, nil, nil); err != nil {
				return err
			}
			if _, err := fmt.Fprintf(u.w, "\n> %s\n\n", strings.ReplaceAll(plainText(m), "\n", "\n> ")); err != nil {
				return err
			}
		}
	}
	if err := u.sink.event(e, data); err != nil {
		return err
	}
	switch e := e.(type) {
	case *agui.RunError:
		_, err := fmt.Fprintf(u.w, "\nerror: %s\n", oneLine(e.Message))
		return err
	case *agui.RunFinished:
		if e.Outcome != nil && e.Outcome.Type == agui.OutcomeInterrupt {
			for _, i := range e.Outcome.Interrupts {
				if _, err := fmt.Fprintf(u.w, "\n? %s (%s)\n", oneLine(i.Message), i.ID); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
