package acp

import (
	"bytes"
	"context"
	"io"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/source"
)

// link is how an agent is reached: its pipes and its process.
type link struct {
	in    io.Writer
	out   io.Reader
	agent process
}

// process is the part of proc.Process that a session needs.
type process interface {
	Done() <-chan struct{}
	Exit() string
	Stderr() string
	Stop() error
	Kill() error
}

// session is one ACP session over a connection of its own. What has no lock is
// touched by the connection's delivering goroutine alone.
type session struct {
	cmd     *Command
	o       source.Options
	process process
	conn    *acpwire.Conn
	opening *opening
	caps    capabilities
	lost    chan struct{} // closed when the agent has said its last
	watch   sync.WaitGroup

	tr        *translator
	id        string // written before the session is handed out
	run       *run
	questions []*question
	strangers map[string]bool // other sessions' ids, each reported once
	ruined    bool            // a handler panicked: nothing is said to anybody any more
	options   configIDs
	tainted   bool // the turn before was cancelled or failed; of the one Run

	mu     sync.Mutex
	busy   bool
	broken error // why no turn can begin any more

	closing sync.Once
	closed  error
}

func (c *Command) newSession(o source.Options, l link) *session {
	s := &session{cmd: c, o: o, process: l.agent, lost: make(chan struct{}), strangers: map[string]bool{}}
	s.opening = newOpening(c)
	cfg := acpwire.Config{
		MaxLine: c.MaxLine, Request: s.request, Notify: s.notify, Activity: s.opening.activity,
		Diagnostic: func(text string) { s.observe(source.Fact{Diagnostic: text}) },
		Lost:       func(error) { close(s.lost) },
	}
	if o.Record {
		cfg.Line = func(in bool, line []byte) {
			s.observe(source.Fact{Line: &source.Line{FromAgent: in, Text: bytes.Clone(line)}})
		}
	}
	s.tr = newTranslator(agentInfo{})
	s.conn = acpwire.New(l.out, l.in, cfg)
	s.watch.Go(s.watchProcess)
	return s
}

// watchProcess sees to it that the output ends after the agent did, even if a
// process that it left holds the pipe.
func (s *session) watchProcess() {
	<-s.process.Done()
	t := time.NewTimer(time.Second)
	defer t.Stop()
	select {
	case <-s.lost:
	case <-s.conn.Ended(): // it is being closed
	case <-t.C:
		s.process.Kill()
	}
}

func (s *session) ID() string { return s.id }

// Close must not be called from within a handler, Ask or Observe: it waits for
// them.
func (s *session) Close() error {
	s.closing.Do(func() {
		s.breakWith(source.ErrClosed)
		s.conn.Close()
		s.closed = s.process.Stop()
		s.conn.Wait()
		s.watch.Wait()
	})
	return s.closed
}

// breakWith lets no turn begin any more; the first reason counts, except that
// a close counts always.
func (s *session) breakWith(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil || err == source.ErrClosed {
		s.broken = err
	}
}

func (s *session) observe(f source.Fact) {
	if s.o.Observe != nil {
		s.o.Observe(f)
	}
}

func (s *session) observeAll(facts []source.Fact) {
	for _, f := range facts {
		s.observe(f)
	}
}

func (s *session) notify(method string, params []byte) {
	switch method {
	case "session/update":
		s.update(params)
	case "$/cancel_request":
		s.withdrawn(field(params, "requestId"))
	}
}

func (s *session) update(params []byte) {
	if s.opening.update(s, params) {
		return
	}
	if v := field(params, "sessionId"); v != nil && !bytes.Equal(bare(v), []byte(s.id)) {
		s.stranger(text(v))
		return
	}
	s.guard(func() { s.observeAll(s.tr.update(params)) })
}

// stranger reports another session of the same agent, once: its updates are no
// part of this one.
func (s *session) stranger(id string) {
	if id != s.id && !s.strangers[id] && len(s.strangers) < 1000 {
		s.strangers[id] = true
		s.observe(source.Fact{Diagnostic: "updates of a session that was not opened here: " + id})
	}
}

// inOrder has f called by the delivering goroutine and waits until it was.
func (s *session) inOrder(ctx context.Context, f func()) error {
	called := make(chan struct{})
	if !s.conn.Post(func() { f(); close(called) }) {
		return source.ErrClosed
	}
	select {
	case <-called:
		return nil
	case <-s.conn.Ended():
		return source.ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
