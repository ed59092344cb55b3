package demoagent

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"
)

const (
	version     = "1.0.0"
	defaultPace = 25
)

type settings struct {
	chunk time.Duration // between two chunks; 0: none
	state string        // folder of stored sessions; empty: none
	auth  bool          // authenticate is needed
}

func readSettings(getenv func(string) string) settings {
	pace, err := strconv.ParseFloat(getenv("AGENTSTREAM_DEMO_PACE"), 64)
	if err != nil || pace < 0 {
		pace = defaultPace
	}
	s := settings{state: getenv("AGENTSTREAM_DEMO_STATE"), auth: getenv("AGENTSTREAM_DEMO_AUTH") == "1"}
	if pace > 0 {
		s.chunk = time.Duration(float64(time.Second) / pace)
	}
	return s
}

// agent is the process: its connection and its sessions.
type agent struct {
	settings
	ctx    context.Context
	stop   context.CancelCauseFunc
	conn   *conn
	stderr io.Writer
	turns  sync.WaitGroup

	mu       sync.Mutex
	authed   bool
	forms    bool // the client takes elicitation forms
	terminal bool // the client takes _meta.terminal_output
	sessions map[string]*session
}

// exit is the cause of the process's end with a code.
type exit int

func (e exit) Error() string { return "exit status " + strconv.Itoa(int(e)) }

func run(ctx context.Context, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := context.WithCancelCause(ctx)
	a := &agent{settings: readSettings(getenv), ctx: ctx, stop: stop, stderr: stderr, sessions: map[string]*session{}}
	a.conn = newConn(stdout, func(error) { stop(exit(1)) })
	lines := make(chan []byte)
	go readLines(ctx, stdin, lines)
	for open := true; open; {
		select {
		case line, ok := <-lines:
			if open = ok; ok {
				a.receive(line)
			}
		case <-ctx.Done():
			open = false
		}
	}
	stop(exit(0))
	a.turns.Wait()
	var code exit
	if errors.As(context.Cause(ctx), &code) {
		return int(code)
	}
	return 0
}

func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) {
	defer close(lines)
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// receive handles one line; it never blocks on a turn.
func (a *agent) receive(line []byte) {
	var m message
	if err := json.Unmarshal(line, &m); err != nil {
		a.conn.answer(json.RawMessage("null"), nil, &rpcError{codeParse, "not a JSON-RPC message"})
		return
	}
	switch {
	case m.Method == "" && m.ID != nil:
		a.conn.answered(m)
	case m.Method == "":
		a.conn.answer(json.RawMessage("null"), nil, &rpcError{codeInvalid, "neither a request nor an answer"})
	case m.ID == nil:
		a.notified(m)
	case m.Method == "session/prompt":
		a.prompt(m)
	case m.Method == "session/new", m.Method == "session/load", m.Method == "session/resume":
		a.open(m)
	default:
		result, err := a.request(m)
		a.conn.answer(m.ID, result, err)
	}
}

func (a *agent) notified(m message) {
	switch m.Method {
	case "session/cancel":
		if s, err := a.sessionOf(m.Params); err == nil {
			s.cancel(nil)
		}
	case "$/cancel_request":
		var p struct {
			RequestID json.RawMessage `json:"requestId"`
		}
		if json.Unmarshal(m.Params, &p) != nil || p.RequestID == nil {
			return
		}
		for _, s := range a.all() {
			s.cancel(p.RequestID)
		}
	}
}

func (a *agent) request(m message) (any, error) {
	switch m.Method {
	case "initialize":
		return a.initialize(m.Params)
	case "authenticate":
		return a.authenticate(m.Params)
	case "session/list":
		return a.listSessions(), nil
	case "session/close":
		return a.closeSession(m.Params)
	case "session/set_mode":
		return a.setMode(m.Params)
	case "session/set_config_option":
		return a.setOption(m.Params)
	}
	return nil, &rpcError{codeNoMethod, fmt.Sprintf("method not found: %q", m.Method)}
}

func (a *agent) initialize(params json.RawMessage) (any, error) {
	var p struct {
		ProtocolVersion    int `json:"protocolVersion"`
		ClientCapabilities struct {
			Elicitation struct {
				Form any `json:"form"`
			} `json:"elicitation"`
			Meta struct {
				TerminalOutput bool `json:"terminal_output"`
			} `json:"_meta"`
		} `json:"clientCapabilities"`
	}
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &rpcError{codeParams, "initialize: " + err.Error()}
	}
	a.mu.Lock()
	a.forms = p.ClientCapabilities.Elicitation.Form != nil
	a.terminal = p.ClientCapabilities.Meta.TerminalOutput
	a.mu.Unlock()
	sessions := map[string]any{"list": obj{}, "close": obj{}}
	if a.state != "" {
		sessions["resume"] = obj{}
	}
	methods := []obj{}
	if a.auth {
		methods = append(methods, obj{"id": "demo-login", "name": "Demo login", "description": "Succeeds at once"})
	}
	return obj{
		"protocolVersion": 1,
		"agentInfo":       obj{"name": "agentstream-demo", "title": "Demo", "version": version},
		"agentCapabilities": obj{
			"loadSession":         a.state != "",
			"promptCapabilities":  obj{"image": true, "audio": true, "embeddedContext": true},
			"mcpCapabilities":     obj{"http": false, "sse": false},
			"sessionCapabilities": sessions,
		},
		"authMethods": methods,
	}, nil
}

func (a *agent) authenticate(params json.RawMessage) (any, error) {
	var p struct {
		MethodID string `json:"methodId"`
	}
	if json.Unmarshal(params, &p) != nil || p.MethodID != "demo-login" {
		return nil, &rpcError{codeParams, "unknown auth method"}
	}
	a.mu.Lock()
	a.authed = true
	a.mu.Unlock()
	return obj{}, nil
}

func (a *agent) loggedIn() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.auth && !a.authed {
		return &rpcError{codeAuth, "Authentication required"}
	}
	return nil
}

// die ends the process as a crash does: nothing more is said.
func (a *agent) die(code int) {
	a.conn.close()
	fmt.Fprintln(a.stderr, "demo: fatal: killed by the word \"die\"")
	a.stop(exit(code))
}
