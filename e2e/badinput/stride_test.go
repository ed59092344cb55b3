package badinput

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// stride has what agents write and what no turn may notice.
var stride = map[string]habit{
	"clean":     {},
	"long line": {middle: "BIG 4000000\n", more: "xxx"},
	"too long":  {middle: "BIG 64000000\n", counts: 1},
	"banners": {
		start:  "Welcome to odd 1.0!\n\x1b[31mnpm warn\x1b[0m deprecated\r\n<!DOCTYPE html><html><body>502 Bad Gateway</body></html>\n\n   \n\n\"a string\"\n17\n",
		naming: "Loading…\n",
		before: "thinking\n",
		middle: "\n\r\n  \nDEBUG {\"level\":1}\n",
		last:   "done.\n",
		after:  "goodbye\n",
		counts: 8,
	},
	"malformed": {
		before: `{"jsonrpc":"2.0","method":"session/update","params":{` + "\n" +
			`{"jsonrpc":"2.0","method":` + "\n" + `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"SESSION","update":{"sessionUpdate":"agent_mess` + "\n",
		middle: "{]\n}{\n{}\n[}\n[1,2]\nnul\n" + `{"method":"session/update","params":{"sessionId":"SESSION","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":17}}}}` + "\n",
		last:   `{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"end_` + "\n" + `{"method":"session/update","params":null}` + "\n" + `{"method":"session/update"}` + "\n",
		counts: 8,
	},
	"duplicates": {
		before: strings.Repeat(update(`{"sessionUpdate":"tool_call","toolCallId":"t","title":"look","status":"pending","rawInput":{"a":1}}`), 3),
		middle: "",
		last:   strings.Repeat(update(`{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed","content":[{"type":"content","content":{"type":"text","text":"once"}}]}`), 3),
		after:  `{"jsonrpc":"2.0","id":PROMPT,"result":{"stopReason":"refusal"}}` + "\n" + `{"jsonrpc":"2.0","id":PROMPT,"error":{"code":1,"message":"no"}}` + "\n",
	},
	"unknown": {
		start:  `{"jsonrpc":"2.0","method":"odd/hello","params":{"a":[1]}}` + "\n",
		before: update(`{"sessionUpdate":"tea_leaves","shape":{"deep":[null,{"x":1e400}]}}`) + `{"jsonrpc":"2.0","id":{"a":1},"method":"odd/ask","params":{}}` + "\n",
		asks:   true,
		middle: `{"jsonrpc":"2.0","method":"_odd/news"}` + "\n" + `{"jsonrpc":"3.0","method":"session/update","extra":{"jsonrpc":1},"params":{"sessionId":"SESSION","_meta":{"x":1},"update":{"sessionUpdate":"agent_message_chunk","fresh":true,"content":{"type":"hologram","depth":3}}}}` + "\n",
		last:   update(`{"sessionUpdate":"plan","entries":[{"content":"a","priority":"whenever","status":"dreaming","colour":1}]}`),
	},
	"invalid UTF-8": {
		before: "\xff\xfe\x00junk\n",
		middle: update(chunk("\" a\xff\xc3(\\ud800 b\"")),
		last:   update("{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"\xf0\x9f\",\"title\":\"\xff\",\"status\":\"completed\",\"rawInput\":{\"\xff\":\"\\udead\"}}"),
		counts: 1,
		more:   "\uFFFD",
	},
	"unasked answers": {
		start:  `{"jsonrpc":"2.0","id":999,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","error":{"code":1,"message":"no"}}` + "\n",
		middle: `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}` + "\n" + `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2}}` + "\n" + `{"id":[1]}` + "\n",
		counts: 5,
	},
	"out of turn": {
		start:  update(chunk(`"before there is a session"`)),
		naming: update(chunk(`"before it has a name"`)),
		opened: update(chunk(`"before the first turn"`)) + update(`{"sessionUpdate":"tool_call","toolCallId":"early","title":"early","status":"in_progress"}`),
		counts: 1,
		after: update(chunk(`"after the turn"`)) + update(`{"sessionUpdate":"tool_call","toolCallId":"late","title":"late","status":"completed"}`) +
			update(`{"sessionUpdate":"tool_call_update","toolCallId":"early","status":"completed"}`) + "that was late\n",
	},
	"strangers": {
		middle: strings.ReplaceAll(update(chunk(`"of another session"`)), "SESSION", "another") + strings.ReplaceAll(update(chunk(`"of none"`)), `"SESSION"`, "7"),
		counts: 1,
	},
	"nulls": {
		opened: update(`{"sessionUpdate":"available_commands_update","availableCommands":null,"_meta":null}`),
		before: update(`{"sessionUpdate":"tool_call","toolCallId":"n","title":null,"kind":null,"status":null,"content":null,"locations":null,"rawInput":null,"rawOutput":null,"_meta":null}`) +
			update(`{"sessionUpdate":"tool_call_update","toolCallId":"n","title":null,"kind":null,"status":"completed","content":null,"locations":null,"rawInput":null,"rawOutput":null}`) +
			update(`{"sessionUpdate":null}`) + update(`null`) + update(`{"sessionUpdate":"agent_message_chunk","content":null}`) + update(chunk(`null`)),
		middle: update(`{"sessionUpdate":"agent_message_chunk","messageId":null,"content":{"type":"text","text":"","annotations":null,"_meta":null}}`),
		last:   update(`{"sessionUpdate":"plan","entries":null}`) + update(`{"sessionUpdate":"usage_update","used":null,"size":null,"cost":null}`),
	},
}

// server starts a server that has an agent for each habit and each failure.
func server(t *testing.T, more string, options ...harness.Option) *harness.Server {
	t.Helper()
	return harness.Start(t, append([]harness.Option{harness.Config(config(t) + more), harness.Flags("--verify")}, options...)...)
}

func config(t testing.TB) string {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"FILE": 0o600, "SCRIPT": 0o700} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("hello\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	// The agents are this binary: where it measures coverage it writes it when it
	// ends, and says on stderr if it cannot.
	coverage := t.TempDir()
	var b strings.Builder
	b.WriteString("agents:\n")
	one := func(name string, more string) {
		fmt.Fprintf(&b, "  %s: { command: [%q], env: { %s: %q, GOCOVERDIR: %q }%s }\n", agentName(name), self, habitVariable, name, coverage, more)
	}
	for name := range stride {
		one(name, "")
	}
	for name, f := range failures {
		if f.command == "" {
			one(name, ", start_timeout: 2s")
		} else {
			if f.command == strings.ToUpper(f.command) {
				f.command = filepath.Join(dir, f.command)
			}
			fmt.Fprintf(&b, "  %s: { command: [%s] }\n", agentName(name), f.command)
		}
	}
	return b.String()
}

func agentName(habit string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(habit))
}

// Whatever an agent writes beside the protocol: both clients get the turn whole
// and without a word, and it is counted and shown.
func TestTakenInStride(t *testing.T) {
	harness.Require(t)
	s := server(t, "")
	for name, h := range stride {
		if strings.Contains(h.middle, "BIG") {
			continue // TestHugeLine has them alone
		}
		for _, v := range aguitest.Versions {
			t.Run(name+"/"+string(v), func(t *testing.T) {
				t.Parallel()
				s := s.For(t)
				c := s.Client(v, agentName(name), harness.ID(t, "thread"))
				var thread engine.Thread
				for turn := range 2 { // what came after the first turn is no part of the second
					r := c.Say("go")
					checkClient(t, s, c, r)
					if r.Outcome != "success" {
						t.Errorf("outcome %q, %+v", r.Outcome, r.RunError)
					}
					checkAnswer(t, s, c.Thread, h, turn == 0 && h.opened != "")
					s.WaitFor("the diagnostics to be counted", func() bool {
						s.Get(harness.ThreadPath(c.Thread, ""), &thread)
						return thread.Diagnostics >= h.counts
					})
				}
				if h == (habit{}) && thread.Diagnostics > 0 {
					t.Errorf("%d diagnostics of a clean agent", thread.Diagnostics)
				}
				if shown := diagnostics(t, s, c.Thread); len(shown) < h.counts {
					t.Errorf("%d diagnostics shown, want %d: %q", len(shown), h.counts, shown)
				}
			})
		}
	}
}

// checkAnswer: the last run ended well and the turn's text was said. What is said
// as soon as the session is open may come before or after the turn begins.
func checkAnswer(t *testing.T, s *harness.Server, thread string, h habit, early bool) {
	t.Helper()
	runs := s.Runs(thread)
	if last := runs[len(runs)-1]; last.State != engine.RunFinished || last.StopReason != "end_turn" {
		t.Errorf("%+v", last)
	}
	rounds := s.Rounds(thread)
	var text strings.Builder
	number := ""
	for _, r := range rounds {
		if r.Run != number {
			text.Reset()
			number = r.Run
		}
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				text.WriteString(m.Content)
			}
		}
	}
	got := strings.ReplaceAll(text.String(), "\n\n", "")
	if h.more == "" && !early && got != said || !strings.Contains(got, said[:5]) || !strings.HasSuffix(got, said[5:]) || !strings.Contains(got, h.more) {
		t.Errorf("the answer is %q", got)
	}
}

// diagnostics are those that the log shows.
func diagnostics(t *testing.T, s *harness.Server, thread string) (texts []string) {
	t.Helper()
	var page struct {
		Events []struct{ Event json.RawMessage }
	}
	s.Get(harness.ThreadPath(thread, "/events?format=log&wait=0s"), &page)
	for _, e := range page.Events {
		var note struct{ Diagnostic string }
		if json.Unmarshal(e.Event, &note) == nil && note.Diagnostic != "" {
			texts = append(texts, note.Diagnostic)
		}
	}
	return texts
}

// checkClient: no warning, no error but the run's own, and the client's messages
// are the server's. The stored stream is valid and its rounds are paired.
func checkClient(t *testing.T, s *harness.Server, c *harness.Client, r aguitest.Report) {
	t.Helper()
	if len(r.Warnings) > 0 || r.Error != "" && r.RunError == nil {
		t.Errorf("the client says: %s %s", strings.Join(r.Warnings, "\n"), r.Error)
	}
	var there struct{ Messages []any }
	s.Get(harness.ThreadPath(c.Thread, "/messages"), &there)
	var here []any
	if err := json.Unmarshal(r.Messages, &here); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(there.Messages, here); d != "" {
		t.Errorf("messages (-server +client):\n%.4000s", d)
	}
	checkThread(t, s, c.Thread)
}

// checkThread: every run has one terminal, and the stored stream is valid.
func checkThread(t *testing.T, s *harness.Server, thread string) {
	t.Helper()
	rules := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
	var last harness.Event
	for _, last = range s.Log(thread) {
		for _, v := range rules {
			if err := v.Check(last.Event); err != nil {
				t.Errorf("%s: %v", last.ID, err)
			}
		}
	}
	if last.Event == nil || !harness.Ended(last) {
		t.Errorf("the log ends with %s", last.Data)
	}
}
