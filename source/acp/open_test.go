package acp

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/source"
)

const noMethod = `!{"code":-32601,"message":"method not found"}`

func TestOpen(t *testing.T) {
	login := `!{"code":-32000,"message":"please log in"}`
	type want struct{ Code, Message, Detail, Fix string }
	tests := map[string]struct {
		cmd    Command
		o      source.Options
		script []string // method=answer
		want   want     // the zero value: it opens
		none   bool     // ErrNoSession
	}{
		"plain": {script: []string{"initialize=" + initialized(""), `session/new={"sessionId":"s1"}`}},
		"version as text and extra members": {script: []string{`initialize={"protocolVersion":"1","x":[]}`,
			`session/new={"sessionId":"s1","modes":null}`}},
		"another version": {script: []string{`initialize={"protocolVersion":2}`},
			want: want{Code: source.CodeAgentProtocol, Message: "tester speaks version 2 of the protocol, not 1"}},
		"no version": {script: []string{`initialize={}`},
			want: want{Code: source.CodeAgentProtocol, Message: "tester speaks version  of the protocol, not 1"}},
		"initialize fails": {script: []string{`initialize=!{"code":-32603,"message":"no config"}`},
			want: want{Code: source.CodeAgentError, Message: "tester: initialize failed: no config"}},
		"login missing": {script: []string{"initialize=" + initialized(""), "session/new=" + login},
			want: want{source.CodeAuthRequired, "tester asks for a login", "please log in\nmethods: key (API key)", "log in with the agent itself, or set auth to one of its methods"}},
		"login missing, command known": {cmd: Command{Login: "tester login"}, script: []string{"initialize=" + initialized(""), "session/new=" + login},
			want: want{source.CodeAuthRequired, "tester asks for a login", "please log in\nmethods: key (API key)", "log in: tester login"}},
		"login refused": {cmd: Command{Auth: "key"}, script: []string{"initialize=" + initialized(""), `authenticate=!{"code":-32603,"message":"bad key"}`},
			want: want{source.CodeAuthRequired, "tester asks for a login", "bad key\nmethods: key (API key)", "log in with the agent itself"}},
		"login asked for twice": {cmd: Command{Auth: "key"}, script: []string{"initialize=" + initialized(""), "authenticate={}",
			"session/new=" + login, "authenticate={}", `session/new={"sessionId":"s1"}`}},
		"login is not needed": {cmd: Command{Auth: "key"}, script: []string{"initialize=" + initialized(""), "authenticate=" + noMethod, `session/new={"sessionId":"s1"}`}},
		"session without id": {script: []string{"initialize=" + initialized(""), "session/new={}"},
			want: want{Code: source.CodeAgentProtocol, Message: "tester opened a session without an id"}},
		"resume is preferred": {o: source.Options{Resume: "s1"}, script: []string{
			"initialize=" + initialized(`"loadSession":true,"sessionCapabilities":{"resume":{}}`), "session/resume=null"}},
		"load after all": {o: source.Options{Resume: "s1"}, script: []string{
			"initialize=" + initialized(`"loadSession":true,"sessionCapabilities":{"resume":{}}`), "session/resume=" + noMethod, "session/load=null"}},
		"load":                  {o: source.Options{Resume: "s1"}, script: []string{"initialize=" + initialized(`"loadSession":true`), "session/load={}"}},
		"nothing to go on with": {o: source.Options{Resume: "s1"}, none: true, script: []string{"initialize=" + initialized("")}},
		"unknown session": {o: source.Options{Resume: "s1"}, none: true, script: []string{"initialize=" + initialized(`"loadSession":true`),
			`session/load=!{"code":-32603,"message":"No previous sessions found"}`}},
		"login missing on load": {o: source.Options{Resume: "s1"}, script: []string{"initialize=" + initialized(`"loadSession":true`), "session/load=" + login},
			want: want{source.CodeAuthRequired, "tester asks for a login", "please log in\nmethods: key (API key)", "log in with the agent itself, or set auth to one of its methods"}},
		"mode and model by option": {o: source.Options{Mode: "plan", Model: "big"}, script: []string{"initialize=" + initialized(""),
			`session/new={"sessionId":"s1","configOptions":[{"id":"m","category":"mode"},{"id":"model","category":"model"}]}`,
			"session/set_config_option={}", "session/set_config_option={}"}},
		"mode and model by their methods": {o: source.Options{Mode: "plan", Model: "big"}, script: []string{"initialize=" + initialized(""),
			`session/new={"sessionId":"s1"}`, "session/set_mode={}", "session/set_model={}"}},
		"no modes, no models": {o: source.Options{Mode: "plan", Model: "big"}, script: []string{"initialize=" + initialized(""),
			`session/new={"sessionId":"s1"}`, "session/set_mode=" + noMethod, "session/set_model=" + noMethod}},
		"a model that is no more": {o: source.Options{Model: "big"}, script: []string{"initialize=" + initialized(""),
			`session/new={"sessionId":"s1"}`, `session/set_model=!{"code":-32602,"message":"no model big"}`}},
		"no such mode": {o: source.Options{Mode: "plan"}, script: []string{"initialize=" + initialized(""),
			`session/new={"sessionId":"s1"}`, `session/set_mode=!{"code":1,"message":"no mode plan"}`},
			want: want{Code: source.CodeAgentError, Message: "tester: setting the mode failed: no mode plan"}},
	}
	for name, tt := range tests {
		bubble(t, name, func(t *testing.T) {
			p := newPeer(t)
			s, err := p.open(t.Context(), tt.cmd, tt.o, func() {
				for _, line := range tt.script {
					method, answer, _ := strings.Cut(line, "=")
					p.answer(method, answer)
				}
			})
			var got want
			var e *source.Error
			if errors.As(err, &e) {
				got = want{e.Code, e.Message, e.Detail, e.Fix}
			}
			if d := cmp.Diff(tt.want, got); d != "" || errors.Is(err, source.ErrNoSession) != tt.none {
				t.Errorf("error %v\n%s", err, d)
			}
			if err == nil {
				if s.ID() != "s1" {
					t.Errorf("id %q", s.ID())
				}
				s.Close()
			}
			if p.exit != "stopped" {
				t.Error("the agent was left running")
			}
		})
	}
}

func TestOpeningHasItsOwnClock(t *testing.T) {
	bubble(t, "silence", func(t *testing.T) {
		p := newPeer(t)
		p.words = "waiting for the MCP server"
		_, err := p.open(t.Context(), Command{}, source.Options{}, func() {
			p.answer("initialize", initialized(""))
			p.expect("session/new")
		})
		var e *source.Error
		if !errors.As(err, &e) || e.Code != source.CodeTimeout || e.Detail != p.words ||
			e.Message != "tester said nothing for 2m0s while opening a session was under way" {
			t.Errorf("error %#v", err)
		}
	})
	bubble(t, "any activity renews it", func(t *testing.T) {
		p := newPeer(t)
		began := time.Now()
		s, err := p.open(t.Context(), Command{StartTimeout: time.Minute}, source.Options{}, func() {
			m := p.expect("initialize")
			for range 4 {
				<-time.After(50 * time.Second)
				p.say("migrating the database")
			}
			p.say(`{"id":%s,"result":%s}`, m.ID, initialized(""))
			p.answer("session/new", `{"sessionId":"s1"}`)
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 200*time.Second {
			t.Errorf("took %s", took)
		}
		<-time.After(time.Hour) // the clock does not run on
		if err := s.SetMode(canceled(t), "x"); !errors.Is(err, context.Canceled) {
			t.Errorf("the session is not alive: %v", err)
		}
		s.Close()
	})
	bubble(t, "the caller's end", func(t *testing.T) {
		p := newPeer(t)
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		_, err := p.open(ctx, Command{}, source.Options{}, func() {
			p.expect("initialize")
			cancel(cause)
		})
		if err != cause || p.exit != "stopped" {
			t.Errorf("error %v, agent %s", err, p.exit)
		}
	})
}

func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestAgentEndsWhileOpening(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		p.words = "line 1\ncannot read settings.json"
		_, err := p.open(t.Context(), Command{}, source.Options{}, func() {
			p.expect("initialize")
			p.say("fatal error")
			p.end("exit status 78")
		})
		var e *source.Error
		if !errors.As(err, &e) || e.Code != source.CodeAgentStartFailed || e.Message != "tester ended unexpectedly: exit status 78" || e.Detail != p.words {
			t.Errorf("error %#v", err)
		}
	})
}

// What the agent says about itself before the session has a name is not lost,
// and the history that it replays is not said again.
func TestUpdatesBeforeTheAnswer(t *testing.T) {
	commands := `{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"web"}]}`
	has := func(p *peer, text string) bool {
		return slices.ContainsFunc(p.facts, func(f source.Fact) bool { return f.Late != nil || f.Commands != nil && (*f.Commands)[0].Name == text })
	}
	bubble(t, "new", func(t *testing.T) {
		p := newPeer(t)
		s, err := p.open(t.Context(), Command{}, source.Options{}, func() {
			p.answer("initialize", initialized(""))
			m := p.expect("session/new")
			p.update(commands)
			p.say(`{"method":"session/update","params":{"sessionId":"other","update":{"sessionUpdate":"plan"}}}`)
			p.say(`{"id":%s,"result":{"sessionId":"s1","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"}]}}}`, m.ID)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if !has(p, "web") || len(p.facts) != 3 || p.facts[0].Modes == nil || p.facts[0].Modes.Current != "ask" {
			t.Errorf("facts %+v", p.facts)
		}
	})
	bubble(t, "load", func(t *testing.T) {
		p := newPeer(t)
		s, err := p.open(t.Context(), Command{}, source.Options{Resume: "s1"}, func() {
			p.answer("initialize", initialized(`"loadSession":true`))
			m := p.expect("session/load")
			p.update(`{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}`)
			p.update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}`)
			p.update(`{"sessionUpdate":"tool_call","toolCallId":"c1","title":"old","status":"completed"}`)
			p.update(commands)
			p.say(`{"id":%s,"result":null}`, m.ID)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if !has(p, "web") || len(p.facts) != 1 {
			t.Errorf("facts %+v", p.facts)
		}
	})
}

func TestWhatTheAgentIsTold(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		cmd := Command{Version: "1.2", Elicitation: true, MCPServers: []map[string]any{
			{"name": "files", "command": "mcp-files", "env": map[string]any{"B": 2, "A": "1"}},
			{"name": "web", "type": "http", "url": "http://localhost", "headers": map[string]string{"X": "y"}},
			{"name": "old", "type": "sse", "url": "http://localhost"},
			{"name": "kept", "type": "stdio", "command": "c", "args": []any{"-v"}, "env": []any{map[string]any{"name": "N", "value": "v"}}},
		}}
		s, err := p.open(t.Context(), cmd, source.Options{Roots: []string{"/other"}}, func() {
			m := p.answer("initialize", initialized(`"mcpCapabilities":{"http":true},"sessionCapabilities":{"additionalDirectories":{}}`))
			wantJSON(t, m.Params, `{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":false,"writeTextFile":false},"terminal":false,
				"elicitation":{"form":{},"url":{}},"_meta":{"terminal_output":true}},"clientInfo":{"name":"agentstream","title":"agentstream","version":"1.2"}}`)
			m = p.answer("session/new", `{"sessionId":"s1"}`)
			wantJSON(t, m.Params, `{"cwd":"/work","additionalDirectories":["/other"],"mcpServers":[
				{"name":"files","command":"mcp-files","args":[],"env":[{"name":"A","value":"1"},{"name":"B","value":"2"}]},
				{"type":"http","name":"web","url":"http://localhost","headers":[{"name":"X","value":"y"}]},
				{"name":"kept","command":"c","args":["-v"],"env":[{"name":"N","value":"v"}]}]}`)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		synctest.Wait()
		if d := cmp.Diff([]string{"the MCP server old is left out: the agent takes no sse"}, p.diagnostics()); d != "" {
			t.Error(d)
		}
	})
}

func wantJSON(t *testing.T, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := errors.Join(json.Unmarshal(got, &a), json.Unmarshal([]byte(want), &b)); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(b, a); d != "" {
		t.Error(d)
	}
}

func TestStartErrors(t *testing.T) {
	missing := Command{Argv: []string{"no-such-agent-here"}, Install: "npm install -g it"}
	_, err := missing.Open(t.Context(), source.Options{Cwd: t.TempDir()})
	var e *source.Error
	if !errors.As(err, &e) || e.Code != source.CodeAgentMissing || e.Fix != "install it: npm install -g it" {
		t.Errorf("error %#v", err)
	}
	for name, o := range map[string]source.Options{"relative folder": {Cwd: "here"}, "no folder": {}, "missing folder": {Cwd: filepath.Join(t.TempDir(), "none")}} {
		c := Command{Argv: []string{os.Args[0]}}
		if _, err := c.Open(t.Context(), o); !errors.As(err, &e) || e.Code != source.CodeAgentStartFailed {
			t.Errorf("%s: %#v", name, err)
		}
	}
	if _, err := missing.Open(canceled(t), source.Options{Cwd: t.TempDir()}); !errors.Is(err, context.Canceled) {
		t.Errorf("an opening that was over before it began: %v", err)
	}
	if got := (&Command{}).name(); got != "the agent" {
		t.Errorf("name %q", got)
	}
}
