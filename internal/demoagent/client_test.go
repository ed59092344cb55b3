package demoagent

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is how long a test waits for what must come.
const patience = 60 * time.Second

// client is a small ACP client of the tests' own. It keeps everything the
// agent says in the order of the wire.
type client struct {
	t      *testing.T
	in     *io.PipeWriter
	code   chan int
	stderr *safeBuffer

	ask  func(m wire) any // answers a request of the agent; nil: no answer yet
	seen chan wire        // notifications and requests, as they come

	mu      sync.Mutex
	next    int
	waiting map[int]chan wire
}

type wire struct {
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params struct {
		SessionID string           `json:"sessionId"`
		Update    map[string]any   `json:"update"`
		ToolCall  map[string]any   `json:"toolCall"`
		Options   []map[string]any `json:"options"`
	} `json:"params"`
	Result map[string]any `json:"result,omitempty"`
	Error  *rpcError      `json:"error,omitempty"`
	raw    string
}

type safeBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// start runs the agent over pipes, at full speed unless env says otherwise.
func start(t *testing.T, env map[string]string) *client {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, code: make(chan int, 1), stderr: &safeBuffer{}, seen: make(chan wire, 1<<16), waiting: map[int]chan wire{}}
	getenv := func(k string) string {
		if v, ok := env[k]; ok {
			return v
		}
		return map[string]string{"AGENTSTREAM_DEMO_PACE": "0"}[k]
	}
	go func() {
		code := run(context.Background(), getenv, inR, outW, c.stderr)
		outW.Close()
		inR.Close()
		c.code <- code
	}()
	done := make(chan struct{})
	go func() { defer close(done); c.read(outR) }()
	t.Cleanup(func() {
		inW.Close()
		<-done
	})
	return c
}

func (c *client) read(r io.Reader) {
	defer close(c.seen)
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			for id, ch := range c.waiting {
				delete(c.waiting, id)
				close(ch)
			}
			return
		}
		m := wire{raw: line}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.t.Errorf("not JSON: %q", line)
			continue
		}
		if m.Method == "" {
			var id int
			json.Unmarshal(m.ID, &id)
			c.mu.Lock()
			ch := c.waiting[id]
			delete(c.waiting, id)
			c.mu.Unlock()
			if ch != nil {
				ch <- m
				continue
			}
		}
		c.seen <- m
		if m.ID != nil && m.Method != "" && c.ask != nil {
			if v := c.ask(m); v != nil {
				go c.send(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": v}) // the reader never waits for the agent
			}
		}
	}
}

func (c *client) send(v any) {
	line, err := json.Marshal(v)
	if err != nil {
		c.t.Error(err)
	}
	c.in.Write(append(line, '\n'))
}

// request sends a request; the channel gives its answer, or is closed.
func (c *client) request(method string, params any) (int, <-chan wire) {
	ch := make(chan wire, 1)
	c.mu.Lock()
	c.next++
	id := c.next
	c.waiting[id] = ch
	c.mu.Unlock()
	c.send(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id, ch
}

func (c *client) call(method string, params any) wire {
	c.t.Helper()
	_, ch := c.request(method, params)
	return c.wait(ch)
}

func (c *client) wait(ch <-chan wire) wire {
	c.t.Helper()
	select {
	case m := <-ch:
		return m
	case <-time.After(patience):
		c.t.Fatal("no answer")
		return wire{}
	}
}

// open initializes the agent and opens a session in the folder.
func (c *client) open(cwd string) string {
	c.t.Helper()
	c.call("initialize", map[string]any{"protocolVersion": 1, "clientCapabilities": map[string]any{
		"elicitation": map[string]any{"form": map[string]any{}}, "_meta": map[string]any{"terminal_output": true}}})
	m := c.call("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}})
	if m.Error != nil {
		c.t.Fatalf("session/new: %v", m.Error)
	}
	id, _ := m.Result["sessionId"].(string)
	c.until("available_commands_update")
	return id
}

func promptOf(session, text string) map[string]any {
	return map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}}
}

// turn is what was seen of one prompt.
type answer struct {
	wire
	updates []map[string]any
	asked   []wire
	all     []wire
}

// prompt runs one turn to its end.
func (c *client) prompt(session, text string) answer {
	c.t.Helper()
	m := c.call("session/prompt", promptOf(session, text))
	return c.collect(m)
}

// collect takes everything that was seen before the answer.
func (c *client) collect(m wire) answer {
	a := answer{wire: m}
	for {
		select {
		case u, ok := <-c.seen:
			if !ok {
				return a
			}
			a.all = append(a.all, u)
			if u.Method == "session/update" {
				a.updates = append(a.updates, u.Params.Update)
			} else {
				a.asked = append(a.asked, u)
			}
		default:
			return a
		}
	}
}

// until waits for an update of the kind, or a request of the method.
func (c *client) until(kind string) wire {
	c.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case m, ok := <-c.seen:
			if !ok {
				c.t.Fatalf("the agent ended before %s", kind)
			}
			if m.Method == kind || m.Params.Update["sessionUpdate"] == kind {
				return m
			}
		case <-deadline:
			c.t.Fatalf("no %s", kind)
		}
	}
}

func (a answer) stop() string { s, _ := a.Result["stopReason"].(string); return s }

func (a answer) text(kind string) string {
	var raw strings.Builder
	for _, m := range a.all {
		if m.Params.Update["sessionUpdate"] != kind {
			continue
		}
		var p struct {
			Params struct {
				Update struct {
					Content struct {
						Text json.RawMessage `json:"text"`
					} `json:"content"`
				} `json:"update"`
			} `json:"params"`
		}
		json.Unmarshal([]byte(m.raw), &p)
		if t := p.Params.Update.Content.Text; len(t) > 1 {
			raw.Write(t[1 : len(t)-1])
		}
	}
	var s string
	json.Unmarshal([]byte(`"`+raw.String()+`"`), &s)
	return s
}

func (a answer) message() string { return a.text("agent_message_chunk") }

// kinds is the sequence of update kinds, repetitions dropped; of tool calls
// with id and status.
func (a answer) kinds() []string {
	var list []string
	for _, u := range a.updates {
		k, _ := u["sessionUpdate"].(string)
		if id, ok := u["toolCallId"].(string); ok {
			k = strings.TrimSuffix(k+" "+id+" "+str(u["status"]), " ")
		}
		if len(list) == 0 || list[len(list)-1] != k {
			list = append(list, k)
		}
	}
	return list
}

func str(v any) string { s, _ := v.(string); return s }

// option answers every permission request with this option.
func option(id string) func(wire) any {
	return func(m wire) any {
		if m.Method != "session/request_permission" {
			return nil
		}
		return map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": id}}
	}
}
