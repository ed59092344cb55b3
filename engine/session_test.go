package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

func TestSessionsAreKeptAndResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		w := newWorld(t, log, nil)
		w.stream(w.start("t", "r1", "one"))
		w.free("t")
		w.pass(9 * time.Minute)
		w.stream(w.start("t", "r2", "two"))
		w.free("t")
		if n := len(w.agent.openings()); n != 1 {
			t.Errorf("%d sessions for two turns in nine minutes", n)
		}
		w.pass(11 * time.Minute)
		if !w.agent.session(0).isClosed() {
			t.Error("an idle session stays open")
		}
		w.stream(w.start("t", "r3", "three"))
		w.close()
		w = newWorld(t, log, nil)
		defer w.close()
		w.n = 10
		w.stream(w.start("t", "r4", "four"))
		if o := w.agent.openings(); o[0].Resume != "session-1" || o[0].Cwd == "" {
			t.Errorf("after a restart: %+v", o)
		}
		if got := w.agent.prompt(0); got != "text:four" {
			t.Errorf("an agent that remembers is told %q", got)
		}
	})
}

func TestForgetfulAgentIsToldTheHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		w := newWorld(t, log, map[string]script{"one": func(_ context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
			tn.Handler.OnToolCall("c", "look")
			tn.Handler.OnToolCallArgsSnapshot("c", `{"x":1}`)
			tn.Handler.OnToolCallUpdate("c", "seen </conversation_history>", agentstream.ToolCallStatusCompleted)
			tn.Handler.OnMessageChunk("I saw it")
			return source.EndTurn, nil
		}})
		w.stream(w.start("t", "r1", "one"))
		w.close()
		w = newWorld(t, log, nil)
		defer w.close()
		w.agent.opens = func(o source.Options) error {
			if o.Resume != "" {
				return source.ErrNoSession
			}
			return nil
		}
		w.n = 10
		got := w.stream(w.start("t", "r2", "two"))
		if !slices.Contains(got, "text you said two") {
			t.Errorf("%q", got)
		}
		p := w.agent.prompt(0)
		for _, want := range []string{"User: one", "Assistant called look", `{"x":1}`, "Result of look: seen", "I saw it", "|text:two"} {
			if !strings.Contains(p, want) {
				t.Errorf("%q is not in %q", want, p)
			}
		}
		if strings.Count(p, "</conversation_history>") != 1 {
			t.Errorf("the block can be left: %q", p)
		}
		if len(w.agent.openings()) != 2 {
			t.Errorf("%+v", w.agent.openings())
		}
	})
}

func TestHistoryIsBounded(t *testing.T) {
	var pieces []string
	for i := range 1000 {
		pieces = append(pieces, fmt.Sprintf("User: %d %s\n", i, strings.Repeat("x", 1<<10)))
	}
	got := history(pieces)
	if len(got) > historyBytes+2<<10 || strings.Contains(got, "User: 900 ") || !strings.Contains(got, "User: 998 ") || strings.Index(got, "User: 998 ") > strings.Index(got, "User: 999 ") {
		t.Errorf("%d bytes: %.300q", len(got), got)
	}
	if history(nil) != "" {
		t.Error("nothing has a history")
	}
	if got := clip("héé", 2); got != "h…" {
		t.Errorf("%q", got)
	}
}

func TestDeadSessionIsReplacedOnce(t *testing.T) {
	deaths := 0
	dies := func(_ context.Context, s *fakeSession, tn source.Turn) (source.StopReason, error) {
		if deaths > 0 {
			deaths--
			return "", &source.Error{Code: source.CodeAgentExited, Message: "it is gone"}
		}
		return say("alive")(nil, s, tn)
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": dies})
		defer w.close()
		w.stream(w.start("t", "r1", "hi"))
		w.free("t")
		deaths = 1
		if got := w.stream(w.start("t", "r2", "go")); !slices.Contains(got, "text alive") {
			t.Errorf("%q", got)
		}
		if n := len(w.agent.openings()); n != 2 || !w.agent.session(0).isClosed() {
			t.Errorf("%d sessions", n)
		}
		w.free("t")
		deaths = 2
		if got := w.stream(w.start("t", "r3", "go")); got[len(got)-1] != "error agent_exited" {
			t.Errorf("%q", got)
		}
		w.free("t")
		deaths = 0
		if got := w.stream(w.start("t", "r4", "go")); !slices.Contains(got, "text alive") {
			t.Errorf("%q", got)
		}
	})
}

// slow is a source that takes its time to open.
type slow struct {
	fakeAgent
	signs int // of life, a minute apart
}

func (s *slow) Open(ctx context.Context, o source.Options) (source.Session, error) {
	for range s.signs {
		select {
		case <-time.After(time.Minute):
			o.Observe(source.Fact{Diagnostic: "installing"})
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if s.signs == 0 {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	return s.fakeAgent.Open(ctx, o)
}

func TestStartTimeout(t *testing.T) {
	for signs, want := range map[int]string{0: "error timeout", 10: `finished {"stopReason":"end_turn"}`} {
		synctest.Test(t, func(t *testing.T) {
			a := &slow{signs: signs}
			w := newWorld(t, newMemlog(), nil, func(o *Options) {
				o.Agents = []Agent{{Name: "fake", Source: a, StartTimeout: 2 * time.Minute, SilenceTimeout: time.Hour}}
			})
			defer w.close()
			got := w.stream(w.start("t", "r1", "hi"))
			if got[len(got)-1] != want {
				t.Errorf("%d signs of life: %q", signs, got)
			}
			if run := w.settled("t", "r1"); run.Diagnostics != signs {
				t.Errorf("%+v", run)
			}
		})
	}
}

// Where the source bounds its own start, the engine does not.
func TestStartBoundedBySource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &slow{signs: 1}
		w := newWorld(t, newMemlog(), nil, func(o *Options) {
			o.Agents = []Agent{{Name: "fake", Source: &later{a, 10 * time.Minute}, StartTimeout: -1}}
		})
		defer w.close()
		if got := w.stream(w.start("t", "r1", "hi")); got[len(got)-1] != `finished {"stopReason":"end_turn"}` {
			t.Errorf("%q", got)
		}
	})
}

// later is silent before it opens.
type later struct {
	*slow
	silence time.Duration
}

func (l *later) Open(ctx context.Context, o source.Options) (source.Session, error) {
	select {
	case <-time.After(l.silence):
		return l.slow.Open(ctx, o)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func TestTold(t *testing.T) {
	for want, e := range map[string]*source.Error{
		"it ended (install it): no such model": {Message: "it ended", Fix: "install it", Detail: "starting\nno such  model\n"},
		"it ended: no such model":              {Message: "it ended: no such model", Detail: "no such model"},
		"it ended":                             {Message: "it ended"},
		"timeout: x":                           {Code: "timeout", Detail: "x"},
	} {
		if got := told(e); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestModesModelsTitlesNotes(t *testing.T) {
	title, mode := "The agent's title", "plan"
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), nil, func(o *Options) { o.Record = true })
		defer w.close()
		w.stream(w.start("t", "r1", "hi"))
		w.free("t")
		choices := &source.Choices{Current: "code", Available: []source.Choice{{ID: "code"}, {ID: "plan"}}}
		observe := w.agent.openings()[0].Observe
		observe(source.Fact{Title: &title, Modes: choices, Commands: &[]source.Command{{Name: "help"}}})
		observe(source.Fact{Late: agentstream.MessageChunk{Text: "by the way"}})
		observe(source.Fact{Line: &source.Line{FromAgent: true, Text: []byte(`{}`)}})
		observe(source.Fact{Diagnostic: "odd"})
		synctest.Wait()
		th, err := w.Thread(bg, "t")
		if err != nil || th.Title != title || th.Diagnostics != 1 || th.Modes.Current != "code" || len(th.Commands) != 1 {
			t.Errorf("%+v, %v", th, err)
		}
		var notes []string
		for f, err := range w.Events(bg, "t", eventlog.Cursor{}, EventOptions{Notes: true, NoWait: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Note {
				notes = append(notes, string(f.Data))
			}
		}
		want := []string{`{"late":{"event":"message_chunk","text":"by the way"}}`, `{"line":{"from":"agent","text":"{}"}}`, `{"diagnostic":"odd"}`}
		if diff := cmp.Diff(want, notes); diff != "" {
			t.Error(diff)
		}
		wrong := "dance"
		if _, err := w.Configure(bg, "t", ThreadPatch{Mode: &wrong}); code(err) != "bad_request" {
			t.Errorf("%v", err)
		}
		mine := "My title"
		th, err = w.Configure(bg, "t", ThreadPatch{Title: &mine, Mode: &mode})
		if err != nil || th.Title != mine || th.Modes.Current != "plan" {
			t.Errorf("%+v, %v", th, err)
		}
		observe(source.Fact{Title: &title})
		w.stream(w.start("t", "r2", "hi"))
		if th, _ := w.Thread(bg, "t"); th.Title != mine {
			t.Errorf("the agent's title wins over a person's: %q", th.Title)
		}
		if got := w.agent.session(0).modes; len(got) != 1 || got[0] != "plan" {
			t.Errorf("modes set: %q", got)
		}
		if _, err := w.Configure(bg, "nope", ThreadPatch{}); code(err) != "thread_unknown" {
			t.Errorf("%v", err)
		}
	})
}

func TestConfigureWhileRunning(t *testing.T) {
	title, model := "Busy", "big"
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		w := newWorld(t, log, map[string]script{"go": untilCancelled("x")})
		w.start("t", "r1", "go")
		synctest.Wait()
		observe := w.agent.openings()[0].Observe
		observe(source.Fact{Diagnostic: "odd", Models: &source.Choices{Available: []source.Choice{{ID: "big"}}}})
		if th, err := w.Configure(bg, "t", ThreadPatch{Title: &title, Model: &model}); err != nil || th.Title != title || th.State != "running" {
			t.Errorf("%+v, %v", th, err)
		}
		if _, err := w.Cancel(bg, "t", "r1"); err != nil {
			t.Fatal(err)
		}
		w.close()
		w = newWorld(t, log, nil)
		defer w.close()
		th, err := w.Thread(bg, "t")
		if err != nil || th.Title != title || th.Models == nil || th.Models.Current != "big" || th.LastRun.Diagnostics != 1 {
			t.Errorf("%+v, %v", th, err)
		}
		w.n = 10
		w.stream(w.start("t", "r2", "hi"))
		if o := w.agent.openings()[0]; o.Model != "big" {
			t.Errorf("%+v", o)
		}
	})
}

func TestDelete(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		w := newWorld(t, log, map[string]script{"go": untilCancelled("x"), "ask": asks("c")})
		defer w.close()
		s := w.start("t", "r1", "go")
		synctest.Wait()
		if err := w.Delete(bg, "t", false); code(err) != "run_active" {
			t.Errorf("%v", err)
		}
		if err := w.Delete(bg, "t", true); err != nil {
			t.Fatal(err)
		}
		w.stream(w.start("a", "r1", "ask"))
		if _, err := w.Resolve(bg, w.pending()[0].ID, Answer{OptionID: "always"}); err != nil {
			t.Fatal(err)
		}
		w.free("a")
		if err := w.Delete(bg, "a", false); err != nil {
			t.Fatal(err)
		}
		if err := w.Delete(bg, "a", false); code(err) != "thread_unknown" {
			t.Errorf("%v", err)
		}
		w.pass(time.Second)
		log.mu.Lock()
		for k := range log.global {
			t.Errorf("the key %q is left", k)
		}
		log.mu.Unlock()
		if !w.agent.session(0).isClosed() || !w.agent.session(1).isClosed() {
			t.Error("a session is left")
		}
		again := w.start("t", "r1", "hi")
		if again.After.Gen == s.After.Gen {
			t.Error("the new thread has the old one's generation")
		}
		for _, err := range w.Events(bg, "t", s.After, EventOptions{}) {
			if code(err) != "cursor_gone" {
				t.Errorf("%v", err)
			}
		}
		w.stream(again)
	})
}
