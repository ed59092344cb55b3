package demoagent

import (
	stdcmp "cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func jsonOf(v any) string { b, _ := json.Marshal(v); return string(b) }

// folder makes a working folder with two files and a way out of it.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"README.md": "# Demo\nsecond line", "a.txt": "alpha"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestEveryWord says every word of help once and looks at what is special.
func TestEveryWord(t *testing.T) {
	const said, thought = "agent_message_chunk", "agent_thought_chunk"
	tail := []string{"session_info_update", "usage_update"}
	for _, c := range []struct {
		prompt string
		kinds  []string // without title and usage at the end
		text   string   // contained in the answer
		stop   string   // default end_turn
	}{
		{prompt: "help", kinds: []string{said}, text: "- `read NAME` – reads a file"},
		{prompt: "think", kinds: []string{thought, said}, text: "The answer is 42."},
		{prompt: "markdown", kinds: []string{said}, text: "| demo | 25 |"},
		{prompt: "list", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1 in_progress", "tool_call_update call-1 completed", said}, text: "3 files and folders"},
		{prompt: "read README.md", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1 in_progress", "tool_call_update call-1 completed", said}, text: "has 2 lines"},
		{prompt: "write new.txt", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1 in_progress", "tool_call_update call-1 completed", said}, text: "have written"},
		{prompt: "plan", kinds: []string{"plan", said, "plan", said}, text: "All three are done."},
		{prompt: "diff", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1", "tool_call_update call-1 in_progress", "tool_call_update call-1 completed", said}},
		{prompt: "parallel", kinds: []string{said, "tool_call call-1 pending", "tool_call call-2 pending", "tool_call call-3 pending",
			"tool_call_update call-1 in_progress", "tool_call_update call-2 in_progress", "tool_call_update call-3 in_progress",
			"tool_call_update call-2 completed", "tool_call_update call-3 completed", "tool_call_update call-1 completed", said}},
		{prompt: "fail", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1 in_progress", "tool_call_update call-1 failed", said}},
		{prompt: "long 500", kinds: []string{said}, text: "Line 500 of 500"},
		{prompt: "slow 0.01", kinds: []string{said}, text: "all of it is said."},
		{prompt: "wait 0.01", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1 in_progress", "tool_call_update call-1 completed", said}},
		{prompt: "silent", kinds: nil},
		{prompt: "late", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1 in_progress", said, "tool_call_update call-1 completed", said}},
		{prompt: "emoji", kinds: []string{said}, text: "A face: 😀, a family: 👩‍👩‍👧, a flag: 🇯🇵, 漢字、한국어, e\u0301, and 🎉 done."},
		{prompt: "unsafe", kinds: []string{said}, text: "\x1b[31mred"},
		{prompt: "image", kinds: []string{said}, text: "Here is a picture: "},
		{prompt: "exec", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1 in_progress", "tool_call_update call-1", "tool_call_update call-1 completed", said}},
		{prompt: "ask me", kinds: []string{said}, text: "Hello, Ada. Colour: \"green\", sugar: true."},
		{prompt: "two questions", kinds: nil, text: "You allowed 2 of 2."},
		{prompt: "subagent", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1 in_progress", "tool_call call-2 pending",
			"tool_call_update call-2 completed", "tool_call_update call-1 completed", said}},
		{prompt: "notice", kinds: []string{"notice", said}},
		{prompt: "usage", kinds: []string{"usage_update", said}, text: "0 of 32000 tokens"},
		{prompt: "mode auto", kinds: []string{"current_mode_update", "config_option_update", said}},
		{prompt: "title A new name", kinds: []string{"session_info_update", said}},
		{prompt: "history", kinds: []string{said}, text: "1. history"},
		{prompt: "echo hello & <goodbye>", kinds: []string{said}, text: "hello & <goodbye>"},
		{prompt: "big 2", kinds: []string{"tool_call call-1 pending", "tool_call_update call-1 in_progress", "tool_call_update call-1 completed", said}, text: "2 MiB"},
		{prompt: "after", kinds: []string{said}, text: "This is the end, nearly."},
		{prompt: "refuse", kinds: []string{said}, stop: "refusal"},
		{prompt: "maxtokens", kinds: []string{said}, text: "in the middle of a", stop: "max_tokens"},
		{prompt: "maxrequests", kinds: []string{said}, stop: "max_turn_requests"},
		{prompt: "good day", kinds: []string{said}, text: "This is turn 1 of our conversation."},
	} {
		t.Run(c.prompt, func(t *testing.T) {
			t.Parallel()
			agent := start(t, nil)
			agent.ask = func(m wire) any {
				if m.Method == "elicitation/create" {
					return map[string]any{"action": "accept", "content": map[string]any{"name": "Ada", "colour": "green", "sweet": true}}
				}
				return option("allow-once")(m)
			}
			a := agent.prompt(agent.open(folder(t)), c.prompt)
			if want := stdcmp.Or(c.stop, "end_turn"); a.stop() != want {
				t.Errorf("stop reason %q, want %q (%v)", a.stop(), want, a.Error)
			}
			want := append(append([]string(nil), c.kinds...), tail...)
			if c.prompt == "title A new name" {
				want = append(append([]string(nil), c.kinds...), "usage_update")
			}
			// the order of two questions is the client's, and what comes after the end may be seen or not
			if c.prompt != "two questions" && c.prompt != "after" {
				if diff := cmp.Diff(want, a.kinds()); diff != "" {
					t.Error(diff)
				}
			}
			if !strings.Contains(a.message(), c.text) {
				t.Errorf("said %q, want %q in it", a.message(), c.text)
			}
		})
	}
}

func TestWriteAsks(t *testing.T) {
	for _, c := range []struct {
		option  string
		written bool
	}{{"allow-once", true}, {"allow-always", true}, {"reject-once", false}, {"reject-always", false}, {"made up", false}} {
		t.Run(c.option, func(t *testing.T) {
			agent := start(t, nil)
			agent.ask = option(c.option)
			dir := folder(t)
			session := agent.open(dir)
			a := agent.prompt(session, "write sub/x.txt some words")
			if len(a.asked) != 1 || a.asked[0].Params.ToolCall["toolCallId"] != "call-1" || len(a.asked[0].Params.Options) != 4 {
				t.Fatalf("asked %v", a.asked)
			}
			text, err := os.ReadFile(filepath.Join(dir, "sub/x.txt"))
			if (err == nil) != c.written || c.written && string(text) != "some words" {
				t.Errorf("file: %q, %v", text, err)
			}
			again := agent.prompt(session, "write sub/x.txt other words")
			if asked, want := len(again.asked), map[bool]int{true: 0, false: 1}[strings.HasSuffix(c.option, "always")]; asked != want {
				t.Errorf("asked %d times more, want %d", asked, want)
			}
		})
	}
}

func TestModesDecideAboutWriting(t *testing.T) {
	agent := start(t, nil)
	agent.ask = option("allow-once")
	dir := folder(t)
	session := agent.open(dir)
	set := func(method string, p map[string]any) wire {
		p["sessionId"] = session
		return agent.call(method, p)
	}
	if m := set("session/set_mode", map[string]any{"modeId": "read-only"}); m.Error != nil {
		t.Fatal(m.Error)
	}
	if a := agent.prompt(session, "write x.txt"); len(a.asked) != 0 || !strings.Contains(a.message(), "I may not") {
		t.Errorf("read-only: asked %d, said %q", len(a.asked), a.message())
	}
	m := set("session/set_config_option", map[string]any{"configId": "mode", "value": "auto"})
	if !strings.Contains(jsonOf(m.Result), `"currentValue":"auto"`) {
		t.Errorf("options after the change: %v", m.Result)
	}
	if a := agent.prompt(session, "write x.txt"); len(a.asked) != 0 || !strings.Contains(a.message(), "have written") {
		t.Errorf("auto: asked %d, said %q", len(a.asked), a.message())
	}
	for _, p := range []map[string]any{{"configId": "mode", "value": "none such"}, {"configId": "colour", "value": "red"}, {"configId": "model", "value": true}} {
		if m := set("session/set_config_option", p); m.Error == nil || m.Error.Code != codeParams {
			t.Errorf("%v: %v", p, m.Error)
		}
	}
	if m := set("session/set_mode", map[string]any{"modeId": "none such"}); m.Error == nil || m.Error.Code != codeParams {
		t.Errorf("unknown mode: %v", m.Error)
	}
	set("session/set_config_option", map[string]any{"configId": "model", "value": "demo-large"})
	if a := agent.prompt(session, "usage"); !strings.Contains(a.message(), "of 200000 tokens") {
		t.Errorf("model: said %q", a.message())
	}
}

func TestPathsStayInside(t *testing.T) {
	agent := start(t, nil)
	agent.ask = option("allow-once")
	dir := folder(t)
	session := agent.open(dir)
	if err := os.WriteFile(filepath.Join(filepath.Dir(dir), "secret.txt"), []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"../secret.txt", "/etc/passwd", filepath.Join(filepath.Dir(dir), "secret.txt"), "out/x.txt", "./../secret.txt", "./out"} {
		if a := agent.prompt(session, "read "+name); !strings.Contains(a.message(), "could not read") {
			t.Errorf("read %s: %q", name, a.message())
		}
		if a := agent.prompt(session, "write "+name+" overwritten"); !strings.Contains(a.message(), "could not write") {
			t.Errorf("write %s: %q", name, a.message())
		}
	}
	if a := agent.prompt(session, "read "+filepath.Join(dir, "a.txt")); !strings.Contains(a.message(), "has one line") {
		t.Errorf("absolute path inside: %q", a.message())
	}
}

func TestErrorIsAnError(t *testing.T) {
	agent := start(t, nil)
	session := agent.open(folder(t))
	a := agent.prompt(session, "error")
	if a.Error == nil || a.Error.Code != codeInternal {
		t.Errorf("got %v", a.Error)
	}
	if a := agent.prompt(session, "think"); a.stop() != "end_turn" {
		t.Errorf("the session is of no more use: %v", a.wire)
	}
}

func TestDieEndsInMidTool(t *testing.T) {
	agent := start(t, nil)
	session := agent.open(folder(t))
	_, ch := agent.request("session/prompt", promptOf(session, "think, die, list"))
	m, open := <-ch
	if open {
		t.Errorf("the prompt was answered: %v", m)
	}
	if code := <-agent.code; code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	a := agent.collect(wire{})
	if k := a.kinds(); len(k) == 0 || k[len(k)-1] != "tool_call_update call-1 in_progress" {
		t.Errorf("last words: %v", k)
	}
	if !strings.Contains(agent.stderr.String(), "die") {
		t.Errorf("stderr %q", agent.stderr)
	}
}

func TestSaysMoreAfterTheEnd(t *testing.T) {
	agent := start(t, nil)
	session := agent.open(folder(t))
	agent.call("session/prompt", promptOf(session, "after"))
	agent.until("usage_update") // the turn's last
	if m := agent.until("agent_message_chunk"); !strings.Contains(m.raw, "after the end") {
		t.Errorf("got %s", m.raw)
	}
}

func TestSubagentCallsNameTheirParent(t *testing.T) {
	agent := start(t, nil)
	a := agent.prompt(agent.open(folder(t)), "subagent")
	n := 0
	for _, u := range a.updates {
		if u["toolCallId"] == "call-2" {
			n++
			if !strings.Contains(jsonOf(u["_meta"]), `"parentToolUseId":"call-1"`) {
				t.Errorf("no parent: %v", u)
			}
		}
	}
	if n != 2 {
		t.Errorf("%d updates of the child, want 2", n)
	}
}

func TestEmojiSplitsACharacterOverChunks(t *testing.T) {
	agent := start(t, nil)
	a := agent.prompt(agent.open(folder(t)), "emoji")
	halves := 0
	for _, m := range a.all {
		if strings.Contains(m.raw, `"text":"\ud83d"`) || strings.Contains(m.raw, `"text":"\ude00"`) {
			halves++
		}
	}
	if halves != 2 {
		t.Errorf("%d halves on the wire, want 2", halves)
	}
}

func TestTerminalOutputGoesByTheExtension(t *testing.T) {
	agent := start(t, nil)
	a := agent.prompt(agent.open(folder(t)), "exec")
	var out strings.Builder
	for _, u := range a.updates {
		if meta, ok := u["_meta"].(map[string]any); ok {
			if o, ok := meta["terminal_output"].(map[string]any); ok {
				out.WriteString(str(o["data"]))
			}
		}
	}
	if want := "compiling greet.c\n\x1b[32mok\x1b[0m greet\nhello\n"; out.String() != want {
		t.Errorf("output %q, want %q", out.String(), want)
	}
}

func TestHelpListsEveryWord(t *testing.T) {
	agent := start(t, nil)
	text := agent.prompt(agent.open(folder(t)), "help").message()
	for _, w := range Words() {
		if line := fmt.Sprintf("- `%s` – %s\n", w.Usage, w.Does); !strings.Contains(text, line) {
			t.Errorf("help lacks %q", line)
		}
	}
}
