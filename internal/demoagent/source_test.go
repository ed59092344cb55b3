package demoagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agentstreamtest"
	"github.com/agentstream-go/agentstream/internal/demoagent"
	"github.com/agentstream-go/agentstream/source"
	"github.com/agentstream-go/agentstream/source/acp"
)

// The tests run this binary as the agent, as agentstream runs itself.
func TestMain(m *testing.M) {
	if os.Getenv("AGENTSTREAM_DEMO_MAIN") == "1" {
		os.Exit(demoagent.Main(context.Background(), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// facts collects what a session's observer is told.
type facts struct {
	mu   sync.Mutex
	list []source.Fact
	late chan struct{}
}

func (f *facts) observe(x source.Fact) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.list = append(f.list, x); x.Late != nil {
		close(f.late)
	}
}

func open(t *testing.T, o source.Options, env map[string]string) (source.Session, *facts) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{"AGENTSTREAM_DEMO_MAIN": "1", "AGENTSTREAM_DEMO_PACE": "0"}
	for k, v := range env {
		all[k] = v
	}
	f := &facts{late: make(chan struct{})}
	o.Observe = f.observe
	if o.Cwd == "" {
		o.Cwd = t.TempDir()
	}
	if err := os.WriteFile(filepath.Join(o.Cwd, "README.md"), []byte("# Demo"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := (&acp.Command{Name: "demo", Argv: []string{self}, Env: all, Elicitation: true}).Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s, f
}

func say(s source.Session, h agentstream.StreamHandler, text string) (source.StopReason, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return s.Run(ctx, source.Turn{Prompt: []source.Part{{Type: source.PartText, Text: text}}, Handler: h,
		Ask: func(q source.Request, reply func(source.Answer)) {
			if q.Elicitation != nil {
				reply(source.Answer{Content: json.RawMessage(`{"name":"Ada"}`)})
				return
			}
			i := slices.IndexFunc(q.Options, source.Option.Allows)
			reply(source.Answer{OptionID: q.Options[i].ID})
		}})
}

// TestEveryWordThroughTheSource says every word to the agent as the product
// runs it, and checks that the wire raises no eyebrow.
func TestEveryWordThroughTheSource(t *testing.T) {
	s, seen := open(t, source.Options{}, nil)
	argument := map[string]string{"NAME": "README.md", "TEXT": "some words", "[NAME]": "", "[N]": "3", "[SECONDS]": "0.01", "[TEXT]": ""}
	want := map[string]source.StopReason{"refuse": source.Refusal, "maxtokens": source.MaxTokens, "maxrequests": source.MaxTurnRequests}
	for _, w := range demoagent.Words() {
		if w.Usage == "die" {
			continue // the last one, below
		}
		words := strings.Fields(w.Usage)
		for i, x := range words {
			if a, ok := argument[x]; ok {
				words[i] = a
			}
		}
		var got agentstreamtest.Recorder
		reason, err := say(s, &got, strings.Join(words, " "))
		var failure *source.Error
		switch {
		case w.Usage == "error":
			if !errors.As(err, &failure) || failure.Code != source.CodeAgentError {
				t.Errorf("error: %v", err)
			}
		case err != nil:
			t.Errorf("%s: %v", w.Usage, err)
		case reason != want[w.Usage] && (want[w.Usage] != "" || reason != source.EndTurn):
			t.Errorf("%s: %s", w.Usage, reason)
		}
		if w.Usage == "after" {
			<-seen.late // before another turn begins, which would take it for its own
		}
		open := map[string]bool{}
		for _, e := range got.Events() {
			switch e := e.(type) {
			case agentstream.ToolCall:
				open[e.ID] = true
			case agentstream.ToolCallUpdate:
				if e.Status.IsTerminal() {
					delete(open, e.ID)
				}
			case agentstream.Raw:
				t.Errorf("%s: not understood: %s", w.Usage, e.Data)
			}
		}
		if len(open) > 0 {
			t.Errorf("%s: no result of %v", w.Usage, open)
		}
		if w.Usage == "emoji" && !strings.Contains(got.Text(), "A face: 😀, a family") {
			t.Errorf("emoji: %q", got.Text())
		}
	}
	var got agentstreamtest.Recorder
	_, err := say(s, &got, "die")
	var failure *source.Error
	if !errors.As(err, &failure) || failure.Code != source.CodeAgentExited {
		t.Errorf("die: %v", err)
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, f := range seen.list {
		if f.Diagnostic != "" && !strings.Contains(f.Diagnostic, "fatal: killed by the word") {
			t.Errorf("diagnostic: %s", f.Diagnostic)
		}
	}
}

func TestResumeThroughTheSource(t *testing.T) {
	env, cwd := map[string]string{"AGENTSTREAM_DEMO_STATE": t.TempDir()}, t.TempDir()
	first, _ := open(t, source.Options{Cwd: cwd, Mode: "auto", Model: "demo-large"}, env)
	if _, err := say(first, &agentstreamtest.Recorder{}, "think and write x.txt"); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, _ := open(t, source.Options{Cwd: cwd, Resume: first.ID()}, env)
	var got agentstreamtest.Recorder
	if _, err := say(second, &got, "history"); err != nil {
		t.Fatal(err)
	}
	if second.ID() != first.ID() || !strings.Contains(got.Text(), "1. think and write x.txt") {
		t.Errorf("session %s, then %s; said %q", first.ID(), second.ID(), got.Text())
	}
}

func TestCancelThroughTheSource(t *testing.T) {
	s, _ := open(t, source.Options{}, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	var got agentstreamtest.Recorder
	_, err := s.Run(ctx, source.Turn{Prompt: []source.Part{{Type: source.PartText, Text: "wait 600"}}, Handler: stopper{&got, func() { cancel(cause) }}})
	if !errors.Is(err, cause) {
		t.Errorf("got %v", err)
	}
	if _, err := say(s, &got, "think"); err != nil {
		t.Errorf("next turn: %v", err)
	}
}

// stopper cancels at the first tool call.
type stopper struct {
	agentstream.StreamHandler
	stop func()
}

func (h stopper) OnToolCall(id, title string) {
	h.StreamHandler.OnToolCall(id, title)
	h.stop()
}
