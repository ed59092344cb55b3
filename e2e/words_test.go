package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/demoagent"
	"github.com/agentstream-go/agentstream/round"
	"github.com/agentstream-go/agentstream/source"
)

// said is what is typed for a word that takes an argument, and how its run ends if
// not with end_turn.
var said = map[string]struct {
	text  string
	stop  source.StopReason
	fails string
}{
	"read":        {text: "read notes.txt"},
	"write":       {text: "write out.txt a line"},
	"long":        {text: "long 300"},
	"mode":        {text: "mode auto"},
	"title":       {text: "title A new name"},
	"echo":        {text: "echo hello there"},
	"big":         {text: "big 1"},
	"refuse":      {stop: "refusal"},
	"maxtokens":   {stop: "max_tokens"},
	"maxrequests": {stop: "max_turn_requests"},
	"error":       {fails: "agent_error"},
	"die":         {fails: "agent_exited"},
}

// Every word of the demo's help, with both clients: they take the stream without
// a word, hold what the server holds, and the rounds are what providers take.
func TestEveryWord(t *testing.T) {
	harness.Require(t)
	for name, flags := range map[string][]string{"verified": {"--verify"}, "plain": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.Start(t, harness.Flags(flags...))
			if err := os.WriteFile(filepath.Join(s.Cwd, "notes.txt"), []byte("one\ntwo\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, v := range aguitest.Versions {
				for _, w := range demoagent.Words() {
					name, _, _ := strings.Cut(w.Usage, " ")
					if w.Usage == "ask me" || w.Usage == "two questions" {
						name = w.Usage
					}
					t.Run(string(v)+"/"+name, func(t *testing.T) { say(t, s, v, name) })
				}
			}
		})
	}
}

func say(t *testing.T, s *harness.Server, v agui.Version, word string) {
	want := said[word]
	if want.text == "" {
		want.text = word
	}
	c := s.Client(v, "demo", harness.ID(t, "thread"))
	r := c.Say(want.text)
	for len(r.PendingInterrupts) > 0 {
		checkClient(t, s, c, r)
		r = c.Run(aguitest.Call{Resume: approve(r.PendingInterrupts)})
	}
	checkClient(t, s, c, r)
	runs := s.Runs(c.Thread)
	last := runs[len(runs)-1]
	if want.fails != "" {
		if r.RunError == nil || r.RunError.Code != want.fails || last.Error == nil || last.Error.Code != want.fails || last.State != engine.RunFailed {
			t.Errorf("want %s, got %+v and %+v", want.fails, r.RunError, last)
		}
	} else {
		if want.stop == "" {
			want.stop = source.EndTurn
		}
		if last.State != engine.RunFinished || last.StopReason != want.stop || r.Outcome != "success" {
			t.Errorf("want %s, got %s and %+v", want.stop, r.Outcome, last)
		}
	}
	checkThread(t, s, c.Thread)

	// The thread goes on, also after a failure.
	second := c.Say("echo and on it goes")
	checkClient(t, s, c, second)
	if second.Outcome != "success" {
		t.Errorf("second turn: %+v", second)
	}
	checkThread(t, s, c.Thread)
}

func approve(interrupts []agui.Interrupt) (out []agui.Resume) {
	for _, i := range interrupts {
		out = append(out, agui.Resume{InterruptID: i.ID, Status: "resolved", Payload: json.RawMessage(`{"approved":true}`)})
	}
	return out
}

// checkClient: no warning, no error but the run's own, and the client's messages
// are the server's, in order and deeply.
func checkClient(t *testing.T, s *harness.Server, c *harness.Client, r aguitest.Report) {
	t.Helper()
	if len(r.Warnings) > 0 {
		t.Errorf("the client says: %s", strings.Join(r.Warnings, "\n"))
	}
	if r.Error != "" && r.RunError == nil {
		t.Errorf("the run did not resolve: %s", r.Error)
	}
	var there struct{ Messages []any }
	s.Get(harness.ThreadPath(c.Thread, "/messages"), &there)
	var here []any
	if err := json.Unmarshal(r.Messages, &here); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(there.Messages, here); d != "" {
		t.Errorf("messages (-server +client):\n%s", d)
	}
}

// checkThread: each run has one terminal, the stored stream is valid for both
// clients, and the rounds are paired and taken by every provider.
func checkThread(t *testing.T, s *harness.Server, thread string) {
	t.Helper()
	open := ""
	verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
	for _, e := range s.Log(thread) {
		for _, v := range verifiers {
			if err := v.Check(e.Event); err != nil {
				t.Errorf("%s: %v", e.ID, err)
			}
		}
		switch {
		case e.Type() == agui.TypeRunStarted && open == "":
			open = e.Event.(*agui.RunStarted).RunID
		case open == "":
			t.Errorf("%s: %s outside of a run", e.ID, e.Type())
		case harness.Ended(e):
			open = ""
		}
	}
	if open != "" {
		t.Errorf("run %s has no terminal", open)
	}
	checkRounds(t, s, thread)
}

func checkRounds(t *testing.T, s *harness.Server, thread string) {
	t.Helper()
	var history []*schema.Message
	for i, r := range s.Rounds(thread) {
		cut := slices.ContainsFunc(r.Messages, func(m *schema.Message) bool {
			info, _ := round.InfoOf(m)
			return info.Placeholder != ""
		})
		if r.Round != i+1 || r.Complete == cut {
			t.Errorf("round %d: number %d, complete %v, with placeholders %v", i+1, r.Round, r.Complete, cut)
		}
		for _, m := range r.Input {
			history = append(history, schema.UserMessage(m.Text()))
		}
		history = append(history, r.Messages...)
	}
	for _, provider := range []string{"openai", "anthropic", "gemini", "eino"} {
		if err := round.Validate(provider, history); err != nil {
			t.Errorf("%s: %v", provider, err)
		}
	}
}
