package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// script is what a fake agent does in a turn.
type script func(ctx context.Context, s *fakeSession, t source.Turn) (source.StopReason, error)

// fakeAgent is a source whose turns are scripts, chosen by the last text of the
// prompt.
type fakeAgent struct {
	scripts map[string]script
	opens   func(o source.Options) error // may refuse to open

	mu       sync.Mutex
	opened   []source.Options
	sessions []*fakeSession
	prompts  [][]source.Part
}

type fakeSession struct {
	agent *fakeAgent
	id    string
	o     source.Options

	mu     sync.Mutex
	closed bool
	modes  []string
}

func (a *fakeAgent) Open(_ context.Context, o source.Options) (source.Session, error) {
	a.mu.Lock()
	a.opened = append(a.opened, o)
	id := fmt.Sprintf("session-%d", len(a.opened))
	a.mu.Unlock()
	if a.opens != nil {
		if err := a.opens(o); err != nil {
			return nil, err
		}
	}
	if o.Resume != "" {
		id = o.Resume
	}
	s := &fakeSession{agent: a, id: id, o: o}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions = append(a.sessions, s)
	return s, nil
}

func (s *fakeSession) ID() string { return s.id }

func (s *fakeSession) Run(ctx context.Context, t source.Turn) (source.StopReason, error) {
	s.agent.mu.Lock()
	s.agent.prompts = append(s.agent.prompts, t.Prompt)
	s.agent.mu.Unlock()
	text := t.Prompt[len(t.Prompt)-1].Text
	f := s.agent.scripts[text]
	if f == nil {
		f = say("you said " + text)
	}
	return f(ctx, s, t)
}

func (s *fakeSession) SetMode(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.modes = append(s.modes, id)
	return nil
}

func (s *fakeSession) SetModel(ctx context.Context, id string) error {
	return s.SetMode(ctx, "model "+id)
}

func (s *fakeSession) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return nil
}

func (s *fakeSession) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (a *fakeAgent) session(i int) *fakeSession {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sessions[i]
}

func (a *fakeAgent) openings() []source.Options {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]source.Options(nil), a.opened...)
}

func (a *fakeAgent) prompt(i int) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var texts []string
	for _, p := range a.prompts[i] {
		texts = append(texts, string(p.Type)+":"+p.Text)
	}
	return strings.Join(texts, "|")
}

func say(texts ...string) script {
	return func(_ context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		for _, text := range texts {
			t.Handler.OnMessageChunk(text)
		}
		return source.EndTurn, nil
	}
}

// untilCancelled says something and waits for its end.
func untilCancelled(text string) script {
	return func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		t.Handler.OnMessageChunk(text)
		t.Handler.OnToolCall("call", "wait")
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
}

var yesNo = []source.Option{
	{ID: "yes", Name: "Yes", Kind: "allow_once"},
	{ID: "always", Name: "Always", Kind: "allow_always"},
	{ID: "no", Name: "No", Kind: "reject_once"},
}

// asks calls a tool, asks for it, and does it if it may.
func asks(id string) script {
	return func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		t.Handler.OnMessageChunk("I have to ask. ")
		agentstream.Send(t.Handler, agentstream.ToolCallInfo{ID: id, Name: "write", Kind: "edit", Title: "write " + id})
		t.Handler.OnToolCall(id, "write "+id)
		t.Handler.OnToolCallArgsSnapshot(id, `{"path":"x"}`)
		t.Handler.OnToolCallUpdate(id, "", agentstream.ToolCallStatusInProgress)
		got := put(ctx, t, source.Request{ToolCallID: id, Title: "write " + id, Kind: "edit", Options: yesNo})
		a, err := await(ctx, got)
		if err != nil {
			return "", err
		}
		if a.OptionID == "yes" || a.OptionID == "always" {
			t.Handler.OnToolCallUpdate(id, "written", agentstream.ToolCallStatusCompleted)
		} else {
			t.Handler.OnToolCallUpdate(id, "denied", agentstream.ToolCallStatusFailed)
		}
		t.Handler.OnMessageChunk("Answered " + a.OptionID + ".")
		return source.EndTurn, nil
	}
}

func put(ctx context.Context, t source.Turn, q source.Request) <-chan source.Answer {
	got := make(chan source.Answer, 1)
	t.Ask(q, func(a source.Answer) { got <- a })
	return got
}

func await(ctx context.Context, got <-chan source.Answer) (source.Answer, error) {
	select {
	case a := <-got:
		return a, context.Cause(ctx) // that it is cancelled counts more
	case <-ctx.Done():
		return source.Answer{}, context.Cause(ctx)
	}
}

// world is an engine over a log with one agent.
type world struct {
	tb *testing.T
	*Engine
	log   eventlog.Log
	agent *fakeAgent
	n     int
}

func newWorld(t *testing.T, log eventlog.Log, scripts map[string]script, change ...func(*Options)) *world {
	t.Helper()
	a := &fakeAgent{scripts: scripts}
	o := Options{
		Log: log, Agents: []Agent{{Name: "fake", Source: a}, {Name: "other", Source: a}},
		Cwd: t.TempDir(), Logger: nil,
	}
	for _, f := range change {
		f(&o)
	}
	e, err := New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{tb: t, Engine: e, log: log, agent: a}
	return w
}

// close checks what holds of every thread, and ends the engine; in a bubble
// nothing is left then.
func (w *world) close() {
	w.tb.Helper()
	defer w.verify()
	if err := w.Close(context.Background()); err != nil {
		w.tb.Error(err)
	}
}

func user(id, text string) agui.Message {
	return agui.Message{ID: id, Role: agui.RoleUser, Content: agui.StringContent(text)}
}

// request asks for a run by the thread's whole history and new texts.
func (w *world) request(thread, run string, texts ...string) StartRequest {
	r := StartRequest{Agent: "fake", Input: agui.Input{ThreadID: thread, RunID: run}}
	if m, err := w.Messages(context.Background(), thread, 0, ""); err == nil {
		r.Input.Messages = m.Messages
	}
	for _, text := range texts {
		w.n++
		r.Input.Messages = append(r.Input.Messages, user(fmt.Sprintf("u%d", w.n), text))
	}
	return r
}

func (w *world) start(thread, run, text string) Started {
	w.tb.Helper()
	s, err := w.Start(context.Background(), w.request(thread, run, text))
	if err != nil {
		w.tb.Fatalf("start %s: %v", run, err)
	}
	return s
}

// stream reads a run to its end, as lines of what is told.
func (w *world) stream(s Started) []string {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	var out []string
	for f, err := range w.Join(ctx, JoinRequest{Thread: s.Run.Thread, Started: &s}) {
		if err != nil {
			w.tb.Fatalf("join: %v", err)
		}
		line := w.line(f.Data)
		// Which deltas are merged depends on how far the reader is behind.
		if n := len(out); n > 0 {
			for _, kind := range []string{"text ", "args "} {
				if strings.HasPrefix(line, kind) && strings.HasPrefix(out[n-1], kind) {
					out, line = out[:n-1], out[n-1]+line[len(kind):]
				}
			}
		}
		out = append(out, line)
	}
	return out
}

// line is an event without ids and times.
func (w *world) line(data []byte) string {
	w.tb.Helper()
	e, err := agui.Decode(data)
	if err != nil {
		w.tb.Fatalf("%s: %v", data, err)
	}
	switch e := e.(type) {
	case *agui.RunStarted:
		return "started"
	case *agui.TextMessageContent:
		return "text " + e.Delta
	case *agui.ToolCallArgs:
		return "args " + e.Delta
	case *agui.ToolCallResult:
		return "result " + string(e.Content)
	case *agui.Custom:
		return "custom " + e.Name
	case *agui.RunError:
		return "error " + e.Code
	case *agui.RunFinished:
		if e.Outcome != nil {
			return "finished " + string(e.Outcome.Type)
		}
		return "finished " + string(e.Result)
	default:
		return strings.ToLower(string(e.Type()))
	}
}

// settled waits until a run has ended.
func (w *world) settled(thread, run string) Run {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Minute)
	defer cancel()
	for _, err := range w.Events(ctx, thread, eventlog.Cursor{}, EventOptions{Run: run}) {
		if code(err) == "cursor_gone" {
			break // collapsed already, as only what has ended is
		}
		if err != nil {
			w.tb.Fatalf("run %s: %v", run, err)
		}
	}
	if ctx.Err() != nil {
		w.tb.Fatalf("run %s does not end", run)
	}
	got, err := w.Run(context.Background(), thread, run)
	if err != nil {
		w.tb.Fatal(err)
	}
	return got
}

// free waits until the thread's turn is over.
func (w *world) free(thread string) {
	w.tb.Helper()
	c := w.use(thread)
	defer c.release()
	if t := c.open(); t != nil {
		select {
		case <-t.done:
		case <-time.After(time.Minute):
			w.tb.Fatal("the turn does not end")
		}
	}
}

func code(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	if err != nil {
		return "other: " + err.Error()
	}
	return ""
}

// pass lets time go by, in a bubble.
func (w *world) pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}
