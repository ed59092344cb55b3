package demoagent

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCancelAtAnyPoint(t *testing.T) {
	for _, c := range []struct {
		prompt, at string
		last       string // of the updates, before title and usage
	}{
		{"slow 600", "agent_message_chunk", "agent_message_chunk"},
		{"wait 600", "tool_call", "tool_call_update call-1 failed"},
		{"write x.txt", "session/request_permission", "tool_call_update call-1 failed"},
		{"two questions", "session/request_permission", "tool_call_update call-2 failed"},
		{"ask me", "elicitation/create", ""},
		{"think, silent 600, list", "agent_message_chunk", "agent_message_chunk"},
	} {
		t.Run(c.prompt, func(t *testing.T) {
			t.Parallel()
			agent := start(t, nil)
			session := agent.open(folder(t))
			_, ch := agent.request("session/prompt", promptOf(session, c.prompt))
			agent.until(c.at)
			agent.send(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": session}})
			a := agent.collect(agent.wait(ch))
			if a.stop() != "cancelled" {
				t.Errorf("stop reason %q", a.stop())
			}
			if k := a.kinds(); c.last != "" && len(k) > 2 && k[len(k)-3] != c.last {
				t.Errorf("updates %v", k)
			}
			if again := agent.prompt(session, "think"); again.stop() != "end_turn" {
				t.Errorf("next turn: %q", again.stop())
			}
		})
	}
}

func TestPromptsAreQueued(t *testing.T) {
	agent := start(t, nil)
	session := agent.open(folder(t))
	id, first := agent.request("session/prompt", promptOf(session, "wait 600"))
	_, second := agent.request("session/prompt", promptOf(session, "echo second"))
	other := agent.call("session/new", map[string]any{"cwd": t.TempDir()}).Result["sessionId"].(string)
	if a := agent.prompt(other, "echo other"); a.stop() != "end_turn" {
		t.Errorf("another session waits: %v", a.wire)
	}
	agent.send(map[string]any{"jsonrpc": "2.0", "method": "$/cancel_request", "params": map[string]any{"requestId": id}})
	if m := agent.wait(first); m.Result["stopReason"] != "cancelled" {
		t.Errorf("first: %v", m)
	}
	if a := agent.collect(agent.wait(second)); a.stop() != "end_turn" || a.message() != "second" {
		t.Errorf("second: %q, %q", a.stop(), a.message())
	}
}

func TestCancelEndsQueuedPromptsToo(t *testing.T) {
	agent := start(t, nil)
	session := agent.open(folder(t))
	_, first := agent.request("session/prompt", promptOf(session, "wait 600"))
	_, second := agent.request("session/prompt", promptOf(session, "wait 600"))
	agent.until("tool_call")
	agent.send(map[string]any{"jsonrpc": "2.0", "method": "session/cancel", "params": map[string]any{"sessionId": session}})
	for _, ch := range []<-chan wire{first, second} {
		if m := agent.wait(ch); m.Result["stopReason"] != "cancelled" {
			t.Errorf("got %v", m)
		}
	}
}

func TestWithoutStateNothingCanBeLoaded(t *testing.T) {
	agent := start(t, nil)
	m := agent.call("initialize", map[string]any{"protocolVersion": 1})
	caps := m.Result["agentCapabilities"].(map[string]any)
	if caps["loadSession"] != false {
		t.Errorf("capabilities %v", caps)
	}
	session := agent.open(folder(t))
	if m := agent.call("session/load", map[string]any{"sessionId": session, "cwd": "/"}); m.Error == nil || m.Error.Code != codeNoMethod {
		t.Errorf("load: %v", m)
	}
}

func TestSessionsOutliveTheProcess(t *testing.T) {
	state, dir := filepath.Join(t.TempDir(), "state"), folder(t)
	env := map[string]string{"AGENTSTREAM_DEMO_STATE": state}
	first := start(t, env)
	first.ask = option("allow-once")
	session := first.open(dir)
	first.prompt(session, "think and emoji")
	first.prompt(session, "write x.txt")
	first.in.Close()
	if code := <-first.code; code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if info, err := os.Stat(filepath.Join(state, session+".json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("state: %v, %v", info, err)
	}

	second := start(t, env)
	if m := second.call("initialize", map[string]any{"protocolVersion": 1}); m.Result["agentCapabilities"].(map[string]any)["loadSession"] != true {
		t.Errorf("capabilities %v", m.Result)
	}
	m := second.call("session/load", map[string]any{"sessionId": session, "cwd": dir, "mcpServers": []any{}})
	if m.Error != nil {
		t.Fatal(m.Error)
	}
	a := second.collect(m)
	want := []string{"user_message_chunk", "agent_thought_chunk", "agent_message_chunk", "user_message_chunk", "tool_call call-1 completed", "agent_message_chunk"}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSuffix(strings.Join(a.kinds(), "|"), "|available_commands_update"), "|")); diff != "" {
		t.Errorf("history:\n%s", diff)
	}
	if !strings.Contains(a.message(), "A face: 😀") {
		t.Errorf("history says %q", a.message())
	}
	// the session goes on: it remembers, and its ids do not repeat
	b := second.prompt(session, "history and list")
	if !strings.Contains(b.message(), "1. think and emoji") || !strings.Contains(strings.Join(b.kinds(), "|"), "tool_call call-2 pending") {
		t.Errorf("after load: %q, %v", b.message(), b.kinds())
	}
	list := second.call("session/list", map[string]any{})
	if !strings.Contains(jsonOf(list.Result), session) || !strings.Contains(jsonOf(list.Result), "think and emoji") {
		t.Errorf("list: %v", list.Result)
	}
}

func TestResumeSaysNoHistory(t *testing.T) {
	env := map[string]string{"AGENTSTREAM_DEMO_STATE": t.TempDir()}
	first := start(t, env)
	session := first.open(folder(t))
	first.prompt(session, "think")
	first.call("session/close", map[string]any{"sessionId": session})
	if m := first.call("session/prompt", promptOf(session, "think")); m.Error == nil || m.Error.Code != codeNotFound {
		t.Errorf("prompt after close: %v", m)
	}
	m := first.call("session/resume", map[string]any{"sessionId": session, "cwd": t.TempDir()})
	if m.Error != nil {
		t.Fatal(m.Error)
	}
	for _, k := range first.collect(m).kinds() {
		if k != "available_commands_update" {
			t.Errorf("resume said %s", k)
		}
	}
	for _, id := range []string{"demo-0123456789abcdef", "../" + session, "", "x"} {
		if m := first.call("session/load", map[string]any{"sessionId": id, "cwd": "/"}); m.Error == nil || m.Error.Code != codeNotFound {
			t.Errorf("load %q: %v", id, m)
		}
	}
}

func TestOddRequestsAreAnswered(t *testing.T) {
	agent := start(t, nil)
	session := agent.open(folder(t))
	for _, c := range []struct {
		method string
		params any
		code   int
	}{
		{"fs/read_text_file", map[string]any{}, codeNoMethod},
		{"no/such", nil, codeNoMethod},
		{"session/new", map[string]any{"cwd": "relative"}, codeParams},
		{"session/new", []int{1}, codeParams},
		{"initialize", "text", codeParams},
		{"authenticate", map[string]any{"methodId": "none"}, codeParams},
		{"session/prompt", map[string]any{"sessionId": session}, codeParams},
		{"session/prompt", map[string]any{"sessionId": session, "prompt": "text"}, codeParams},
		{"session/prompt", promptOf("none", "help"), codeNotFound},
		{"session/set_mode", map[string]any{"sessionId": "none"}, codeNotFound},
		{"session/close", 7, codeParams},
	} {
		if m := agent.call(c.method, c.params); m.Error == nil || m.Error.Code != c.code {
			t.Errorf("%s %v: %v, want code %d", c.method, c.params, m.Error, c.code)
		}
	}
	for _, line := range []string{"no json\n", "[]\n", "{}\n", "\n", "{\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n", "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":{}}\n",
		"{\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"none\"}}\n", "{\"method\":\"$/cancel_request\"}\n", "{\"method\":\"_private\"}\n"} {
		if _, err := io.WriteString(agent.in, line); err != nil {
			t.Fatal(err)
		}
	}
	if a := agent.prompt(session, "think"); a.stop() != "end_turn" {
		t.Errorf("after odd lines: %v", a.wire)
	}
}

func TestAuthentication(t *testing.T) {
	agent := start(t, map[string]string{"AGENTSTREAM_DEMO_AUTH": "1"})
	m := agent.call("initialize", map[string]any{"protocolVersion": 1})
	if !strings.Contains(jsonOf(m.Result["authMethods"]), "demo-login") {
		t.Errorf("auth methods %v", m.Result["authMethods"])
	}
	if m := agent.call("session/new", map[string]any{"cwd": "/"}); m.Error == nil || m.Error.Code != codeAuth {
		t.Errorf("before: %v", m)
	}
	if m := agent.call("authenticate", map[string]any{"methodId": "demo-login"}); m.Error != nil {
		t.Error(m.Error)
	}
	if m := agent.call("session/new", map[string]any{"cwd": t.TempDir()}); m.Error != nil {
		t.Errorf("after: %v", m.Error)
	}
}

func TestWhatIsSentAlongIsMentioned(t *testing.T) {
	agent := start(t, nil)
	session := agent.open(folder(t))
	m := agent.call("session/prompt", map[string]any{"sessionId": session, "prompt": []any{
		map[string]any{"type": "text", "text": "die"}, // context: triggers nothing
		map[string]any{"type": "image", "mimeType": "image/png", "data": "AAAA"},
		map[string]any{"type": "resource_link", "uri": "file:///x"},
		map[string]any{"type": "resource", "resource": map[string]any{"uri": "note://1", "text": "die"}},
		map[string]any{"type": "text", "text": "what is this"},
	}})
	a := agent.collect(m)
	for _, want := range []string{"image/png, 4 bytes", "file:///x", "note://1", "what is this"} {
		if !strings.Contains(a.message(), want) {
			t.Errorf("%q is not in %q", want, a.message())
		}
	}
}

func TestRefusedForm(t *testing.T) {
	agent := start(t, nil)
	agent.ask = func(wire) any { return map[string]any{"action": "decline"} }
	if a := agent.prompt(agent.open(folder(t)), "ask me"); a.message() != "You would rather not say." {
		t.Errorf("said %q", a.message())
	}
	old := start(t, nil)
	old.call("initialize", map[string]any{"protocolVersion": 1})
	session := old.call("session/new", map[string]any{"cwd": t.TempDir()}).Result["sessionId"].(string)
	if a := old.prompt(session, "ask me"); !strings.Contains(a.message(), "takes no forms") {
		t.Errorf("said %q", a.message())
	}
}

// TestPace runs in a bubble's time: 25 chunks take a second.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, stdin := io.Pipe()
		stdout, out := io.Pipe()
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		done := make(chan int, 1)
		go func() {
			done <- run(ctx, func(string) string { return "" }, in, out, io.Discard)
			out.Close()
		}()
		answers := json.NewDecoder(stdout)
		ask := func(m map[string]any) (wire, int) {
			if err := json.NewEncoder(stdin).Encode(m); err != nil {
				t.Fatal(err)
			}
			for n := 0; ; n++ {
				var w wire
				if err := answers.Decode(&w); err != nil {
					t.Fatal(err)
				}
				if w.ID != nil {
					return w, n
				}
			}
		}
		m, _ := ask(map[string]any{"id": 1, "method": "session/new", "params": map[string]any{"cwd": "/"}})
		began := time.Now()
		_, n := ask(map[string]any{"id": 2, "method": "session/prompt", "params": promptOf(m.Result["sessionId"].(string), "long 50")})
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("50 chunks (%d updates) took %v, want 2s", n, took)
		}
		stdin.Close()
		if code := <-done; code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

func TestEndOfInputEndsTurns(t *testing.T) {
	agent := start(t, nil)
	session := agent.open(folder(t))
	agent.request("session/prompt", promptOf(session, "wait 600"))
	agent.until("tool_call")
	agent.in.Close()
	if code := <-agent.code; code != 0 {
		t.Errorf("exit code %d", code)
	}
}
