package acp

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/agentstream-go/agentstream/source"
)

// peer is an agent by hand, over pipes and without a process. Tests run it in
// a bubble of synctest, where time is what they make of it.
type peer struct {
	t     testing.TB
	in    *bufio.Reader
	inR   *io.PipeReader
	inW   *io.PipeWriter
	out   *io.PipeWriter
	outR  *io.PipeReader
	done  chan struct{}
	once  sync.Once
	dead  func()
	exit  string
	words string // stderr

	mu    sync.Mutex
	facts []source.Fact
	wg    sync.WaitGroup
}

func newPeer(t testing.TB) *peer {
	p := &peer{t: t, done: make(chan struct{}), exit: "exit status 0"}
	p.dead = sync.OnceFunc(func() { close(p.done) })
	p.inR, p.inW = io.Pipe()
	p.outR, p.out = io.Pipe()
	p.in = bufio.NewReader(p.inR)
	return p
}

func (p *peer) Done() <-chan struct{} { return p.done }
func (p *peer) Exit() string          { return p.exit }
func (p *peer) Stderr() string        { return p.words }
func (p *peer) Stop() error           { p.end("stopped"); return nil }
func (p *peer) Kill() error           { p.end("killed"); return nil }

func (p *peer) end(how string) {
	p.once.Do(func() {
		p.exit = how
		p.dead()
		p.out.Close()
		p.inR.Close()
		p.inW.Close()
	})
}

// observe keeps facts; each is told by one goroutine, but read by the test's.
func (p *peer) observe(f source.Fact) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.facts = append(p.facts, f)
}

func (p *peer) diagnostics() (out []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.facts {
		if f.Diagnostic != "" {
			out = append(out, f.Diagnostic)
		}
	}
	return out
}

// open opens a session while script plays the agent.
func (p *peer) open(ctx context.Context, c Command, o source.Options, script func()) (*session, error) {
	if c.Name == "" {
		c.Name = "tester"
	}
	if o.Cwd == "" {
		o.Cwd = "/work"
	}
	o.Observe = p.observe
	p.wg.Go(script)
	s, err := c.open(ctx, o, link{in: p.inW, out: p.outR, agent: p})
	p.wg.Wait()
	return s, err
}

// opened gives an open session with an agent of these capabilities.
func (p *peer) opened(c Command, capabilities string) *session {
	p.t.Helper()
	s, err := p.open(p.t.Context(), c, source.Options{}, func() {
		p.answer("initialize", initialized(capabilities))
		p.answer("session/new", `{"sessionId":"s1"}`)
	})
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { s.Close() })
	return s
}

func initialized(capabilities string) string {
	return `{"protocolVersion":1,"agentCapabilities":{` + capabilities + `},"agentInfo":{"name":"x","version":"1"},"authMethods":[{"id":"key","name":"API key"}]}`
}

type clientLine struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// hear reads one line.
func (p *peer) hear() clientLine {
	line, err := p.in.ReadBytes('\n')
	if err != nil {
		p.t.Errorf("the client said no more: %v", err)
		return clientLine{}
	}
	var m clientLine
	if err := json.Unmarshal(line, &m); err != nil {
		p.t.Errorf("the client said %q: %v", line, err)
	}
	return m
}

// expect reads one line, which must be a call of this method.
func (p *peer) expect(method string) clientLine {
	m := p.hear()
	if m.Method != method {
		p.t.Errorf("the client said %s %s, want %s", m.Method, m.Result, method)
	}
	return m
}

func (p *peer) say(format string, args ...any) {
	if _, err := fmt.Fprintf(p.out, format+"\n", args...); err != nil {
		p.t.Errorf("saying: %v", err)
	}
}

func (p *peer) update(update string) {
	p.say(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":%s}}`, update)
}

// answer expects a call and gives its result, or its error if it begins with !.
func (p *peer) answer(method, result string) clientLine {
	m := p.expect(method)
	if m.ID == nil {
		return m
	}
	if result[0] == '!' {
		p.say(`{"jsonrpc":"2.0","id":%s,"error":%s}`, m.ID, result[1:])
	} else {
		p.say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	return m
}

// bubble runs f in a bubble of synctest, each as a subtest.
func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}
