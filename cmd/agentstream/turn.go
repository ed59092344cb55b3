package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/catalog"
	"github.com/agentstream-go/agentstream/internal/sse"
	"github.com/agentstream-go/agentstream/internal/term"
)

// turn is one prompt as the command line sees it: the runs of which it is made,
// read to the end through cuts, interrupts and answers.
type turn struct {
	run    *run
	client *client
	sink   sink
	errw   io.Writer
	asker  *asker

	stop    <-chan struct{} // cancels as Ctrl-C does; may be nil
	last    string          // cursor of the last event
	current atomic.Value    // string: id of the run that is open, or was last
	runs    []string
	refused bool // something was refused here
	left    bool // the user went away without waiting; to be read when do has returned

	asking context.Context // ends when the turn is cancelled
	silent context.CancelFunc
}

func newTurn(r *run, cl *client, c *cobra.Command) *turn {
	if r.thread == "" {
		r.thread = newID("t-")
	}
	t := &turn{run: r, client: cl, sink: newSink(r.format, c, cl), errw: c.ErrOrStderr(), asker: newAsker(r, c)}
	if r := t.renderer(); r != nil {
		t.asker.renderer = r // two on one screen would write over each other
	}
	return t
}

// renderer shows the turn; nil where --format is another than text.
func (t *turn) renderer() *term.Renderer {
	if s, ok := t.sink.(*contract); ok {
		return s.renderer
	}
	return nil
}

// tell says something beside the turn, on a line of its own.
func (t *turn) tell(text string) {
	text = "agentstream: " + text
	if r := t.renderer(); r != nil {
		r.Tell(text)
	} else {
		fmt.Fprintln(t.errw, text)
	}
}

// ticks lets the terminal show that time passes, until what it returns is called.
func (t *turn) ticks() (end func()) {
	r := t.renderer()
	if r == nil {
		return func() {}
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_, width := terminal(t.errw)
				r.Tick(width)
			case <-stop:
				return
			}
		}
	}()
	return sync.OnceFunc(func() { close(stop); <-stopped })
}

// do runs the turn and gives its exit code as an error.
func (t *turn) do(ctx context.Context, prompt string) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	t.asking, t.silent = context.WithCancel(ctx)
	defer t.silent()
	still := t.ticks()
	defer still()
	resp, err := t.post(ctx, prompt)
	waits := codeOf(err) == "interrupted"
	if err != nil && !waits {
		return t.startError(err)
	}
	stop, why := t.interrupts(ctx, leave)
	if waits {
		resp, err = t.pending(ctx, prompt)
	}
	if resp != nil {
		err = t.read(ctx, resp)
	}
	stop()
	still()
	var told *exitError
	switch {
	case ctx.Err() != nil:
		return &exitError{code: exitCancelled}
	case errors.As(err, &told):
		return err
	case err != nil:
		return &exitError{code: exitFailed, err: fmt.Errorf("the stream broke off: %w; 'agentstream tail %s' goes on", err, t.run.thread)}
	}
	return t.outcome(ctx, why())
}

// post starts the run.
func (t *turn) post(ctx context.Context, prompt string) (*http.Response, error) {
	id := newID("r-")
	t.current.Store(id)
	return t.client.do(ctx, "POST", threadPath(t.run.thread)+"/runs?protocolVersion=1.0", "text/event-stream", map[string]string{
		"agent": t.run.agent, "input": prompt, "runId": id, "cwd": t.run.cwd,
	})
}

// pending settles what an earlier turn of the thread waits for and shows its end;
// then the prompt's own run starts. No response and no error: the turn ended here,
// because nobody can be asked or the user cancelled.
func (t *turn) pending(ctx context.Context, prompt string) (*http.Response, error) {
	for {
		var m engine.Messages
		if err := t.client.call(ctx, "GET", threadPath(t.run.thread)+"/messages?limit=1", nil, &m); err != nil {
			return nil, err
		}
		t.last = m.Cursor
		if len(m.Pending) > 0 {
			t.current.Store(m.Pending[0].Run)
			t.runs = []string{m.Pending[0].Run}
			t.tell("the thread waits for an answer first")
		}
		done, err := t.answer(ctx)
		if done || err != nil {
			return nil, err
		}
		if err := t.rest(ctx); err != nil || t.asking.Err() != nil {
			return nil, err
		}
		t.runs, t.refused = nil, false
		resp, err := t.post(ctx, prompt)
		if err == nil {
			return resp, nil
		}
		if codeOf(err) != "interrupted" {
			return nil, t.startError(err)
		}
	}
}

// rest reads on from the log, from where the turn is.
func (t *turn) rest(ctx context.Context) error {
	resp, err := t.client.do(ctx, "GET", threadPath(t.run.thread)+"/events?after="+url.QueryEscape(first(t.last, "0")), "text/event-stream", nil)
	if err != nil {
		return err
	}
	return t.read(ctx, resp)
}

// codeOf gives the stable code of a refusal, or "".
func codeOf(err error) string {
	var e *apiError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// unknown says what helps when there is no such agent: one that is known is
// installed by a command.
func (r *run) unknown() error {
	for _, f := range r.found {
		if f.Name == r.agent && f.State == catalog.Missing {
			return fmt.Errorf("%s cannot be run: %s; install it with '%s'", r.agent, f.Why, f.Install)
		}
	}
	return fmt.Errorf("no agent is named %s; 'agentstream agents' lists them", r.agent)
}

func (t *turn) startError(err error) error {
	var e *apiError
	if !errors.As(err, &e) {
		return &exitError{code: exitFailed, err: err}
	}
	switch e.Code {
	case "agent_unknown":
		return &exitError{code: exitAgent, err: t.run.unknown()}
	case "run_active":
		return &exitError{code: exitFailed, err: fmt.Errorf("the thread runs already (%s); wait, or 'agentstream cancel %s'", e.Run, e.Run)}
	case "bad_request", "cwd_forbidden", "agent_mismatch":
		return &exitError{code: exitUsage, err: err}
	}
	return &exitError{code: exitFailed, err: err}
}

// read follows the stream until the turn has ended. A cut is followed by the
// rest from the log.
func (t *turn) read(ctx context.Context, resp *http.Response) error {
	for tries := 0; ; {
		before := t.last
		ended, err := t.frames(ctx, resp.Body)
		_ = resp.Body.Close()
		if ended || ctx.Err() != nil || errors.Is(err, errSink) {
			return err
		}
		if t.last != before {
			tries = 0
		}
		for {
			if tries++; tries > 8 {
				return errors.Join(err, errors.New("the server does not answer any more"))
			}
			resp, err = t.client.do(ctx, "GET", threadPath(t.run.thread)+"/events?after="+url.QueryEscape(first(t.last, "0")), "text/event-stream", nil)
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(min(250*time.Millisecond<<tries, 8*time.Second)):
			}
		}
	}
}

var errSink = errors.New("the output cannot be written")

// frames passes events on until the turn ends or the stream does.
func (t *turn) frames(ctx context.Context, body io.Reader) (ended bool, err error) {
	frames := sse.NewReader(body)
	for {
		f, err := frames.Next()
		if err != nil {
			return false, err
		}
		e, err := agui.Decode(f.Data)
		if err != nil {
			continue
		}
		if f.ID != "" {
			t.last = f.ID
		}
		if e, ok := e.(*agui.RunStarted); ok {
			t.current.Store(e.RunID)
			t.runs = append(t.runs, e.RunID)
			if t.asking.Err() != nil {
				go t.cancel(ctx) // it was cancelled while no run was open
			}
		}
		if err := t.sink.event(e, f.Data); err != nil {
			return true, errors.Join(errSink, err)
		}
		switch e := e.(type) {
		case *agui.RunError:
			return true, nil
		case *agui.RunFinished:
			if e.Outcome == nil || e.Outcome.Type != agui.OutcomeInterrupt {
				return true, nil
			}
			if done, err := t.answer(ctx); done || err != nil {
				return true, err
			}
			return false, io.EOF // the continuing run is read from the log
		}
	}
}

func (t *turn) cancel(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	run, _ := t.current.Load().(string)
	if err := t.client.call(ctx, "POST", "/v1/runs/"+url.PathEscape(run)+"/cancel?threadId="+url.QueryEscape(t.run.thread), nil, nil); err != nil && ctx.Err() == nil {
		t.tell("the run could not be cancelled: " + oneLine(err.Error()))
	}
}

// outcome tells how the turn ended.
func (t *turn) outcome(ctx context.Context, why error) error {
	var last engine.Run
	var rounds struct{ Rounds []json.RawMessage }
	for _, id := range t.runs {
		var r engine.Run
		if err := t.client.call(ctx, "GET", "/v1/runs/"+url.PathEscape(id)+"?threadId="+url.QueryEscape(t.run.thread), nil, &r); err != nil {
			return &exitError{code: exitFailed, err: err}
		}
		t.refused = t.refused || r.Refused > 0
		last = r
	}
	if t.run.format == "rounds" {
		if err := t.client.call(ctx, "GET", threadPath(t.run.thread)+"/rounds?format=eino", nil, &rounds); err != nil {
			return &exitError{code: exitFailed, err: err}
		}
	}
	if err := t.sink.end(last, rounds.Rounds, t.runs); err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	return t.exit(last, why)
}

func (t *turn) exit(r engine.Run, why error) error {
	told := func(code int) error { return &exitError{code: code} }
	if errors.Is(why, errTimeout) && r.State != engine.RunFinished {
		return &exitError{code: exitTimeout, err: fmt.Errorf("the turn took longer than --timeout %s and was cancelled", t.run.timeout)}
	}
	switch {
	case t.refused && r.State != engine.RunCancelled:
		if t.run.approve == "ask" && !t.run.tty && t.client.local {
			return &exitError{code: exitRefused, err: errors.New("a request was refused, since nobody could be asked; --approve reads or all allows")}
		}
		return told(exitRefused)
	case r.State == engine.RunCancelled:
		return told(exitCancelled)
	case r.Error != nil:
		err := errors.New(r.Error.Message)
		switch r.Error.Code {
		case "agent_missing", "auth_required":
			return &exitError{code: exitAgent, err: err}
		case "timeout":
			return &exitError{code: exitTimeout, err: err}
		}
		return &exitError{code: exitFailed, err: err}
	case r.State == engine.RunFinished && (r.StopReason == "end_turn" || r.StopReason == ""):
		return nil
	case r.State == engine.RunFinished:
		return &exitError{code: exitFailed, err: fmt.Errorf("the agent stopped early: %s", r.StopReason)}
	}
	return &exitError{code: exitFailed, err: fmt.Errorf("the run is %s", r.State)}
}
