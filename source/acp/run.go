package acp

import (
	"context"
	"errors"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/source"
)

// run is one turn. The delivering goroutine owns it until done has its outcome.
type run struct {
	turn      source.Turn
	heard     heard
	cancelled bool
	done      chan outcome
}

type outcome struct {
	reason source.StopReason
	err    error
	lost   error // the connection ended instead of an answer
	silent bool  // not a word came

	panicked *panicked // instead of all else
}

// Run carries out one turn; see source.Session.
func (s *session) Run(ctx context.Context, t source.Turn) (source.StopReason, error) {
	if err := s.enter(); err != nil {
		return "", err
	}
	defer s.leave()
	if err := context.Cause(ctx); err != nil {
		return source.Cancelled, err
	}
	r := &run{turn: t, heard: heard{to: t.Handler}, done: make(chan outcome, 1)}
	id, err := s.prompt(ctx, r)
	if err != nil {
		return "", err
	}
	select {
	case o := <-r.done:
		return s.finish(r, o)
	case <-ctx.Done():
		return source.Cancelled, s.cancel(ctx, r, id)
	}
}

// enter lets one turn in at a time.
func (s *session) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	if s.busy {
		return source.ErrBusy
	}
	s.busy = true
	return nil
}

func (s *session) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy = false
}

// prompt opens the turn in the order of the wire and then sends the prompt.
func (s *session) prompt(ctx context.Context, r *run) (int64, error) {
	err := s.inOrder(context.WithoutCancel(ctx), func() {
		s.run = r
		s.tr.begin(&r.heard)
	})
	if err != nil {
		return 0, err
	}
	params := map[string]any{"sessionId": s.id, "prompt": s.caps.prompt(r.turn.Prompt)}
	id, err := s.conn.Go(ctx, "session/prompt", params, func(result []byte, err error) { s.answered(r, result, err) })
	if err == nil {
		return id, nil
	}
	// The prompt never left: the turn is closed as if it had not begun.
	s.inOrder(context.WithoutCancel(ctx), func() { s.answered(r, nil, err) })
	return 0, s.turnError(err)
}

// answered ends the turn, in wire order.
func (s *session) answered(r *run, result []byte, err error) {
	if s.run == r {
		s.guard(func() { s.end(r, result, err) })
	}
}

func (s *session) end(r *run, result []byte, err error) {
	s.settleAll()
	var rpc *acpwire.Error
	o := outcome{}
	if err != nil && !errors.As(err, &rpc) {
		o.lost = err
	}
	o.reason, o.err = s.tr.end(result, rpc, r.cancelled)
	o.silent = !r.heard.word
	s.run = nil
	r.done <- o
}

// finish gives what Run returns after an outcome that nobody cancelled.
func (s *session) finish(r *run, o outcome) (source.StopReason, error) {
	s.rethrow(o)
	if o.lost != nil {
		return "", s.turnError(o.lost)
	}
	if o.err != nil {
		s.tainted = true
		var e *source.Error
		if errors.As(o.err, &e) {
			s.withFix(e)
		}
		return "", o.err
	}
	tainted := s.tainted
	s.tainted = false
	if o.reason == source.EndTurn && o.silent && tainted {
		// Some agents swallow the prompt that follows a cancel or an error.
		s.breakWith(source.ErrSpoilt)
		return "", source.ErrSpoilt
	}
	if o.reason == source.EndTurn && o.silent {
		text := s.cmd.name() + " ended its turn without a word."
		if stderr := lastLines(s.process.Stderr(), 5); stderr != "" {
			text += " The end of its stderr:\n" + stderr
		}
		agentstream.Send(r.turn.Handler, agentstream.Notice{Severity: "warning", Text: text})
	}
	return o.reason, nil
}

// cancel asks the agent to end the turn and waits, for the grace, until it has.
// Then the agent is killed, because nobody knows what it would still do.
func (s *session) cancel(ctx context.Context, r *run, id int64) error {
	withdrawn := s.conn.Withdraw(id)
	s.conn.Post(func() {
		if s.run != r {
			return
		}
		r.cancelled = true
		s.settleAll()
		if withdrawn {
			s.answered(r, nil, nil)
		}
	})
	if !withdrawn { // sent from here, so that a handler that is slow does not hold it up
		s.conn.Urgent("session/cancel", map[string]string{"sessionId": s.id})
	}
	grace := s.cmd.CancelGrace
	if grace <= 0 {
		grace = defaultCancelGrace
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	s.tainted = !withdrawn
	select {
	case o := <-r.done:
		s.rethrow(o)
	case <-s.conn.Ended(): // the delivering goroutine settles every turn before it ends
	case <-timer.C:
		s.breakWith(source.ErrSpoilt)
		s.process.Kill()
		select {
		case o := <-r.done:
			s.rethrow(o)
		case <-s.conn.Ended():
		}
	}
	return context.Cause(ctx)
}

// rethrow lets a panic of the handler come out of Run.
func (s *session) rethrow(o outcome) {
	if o.panicked != nil {
		s.breakWith(source.ErrSpoilt)
		s.process.Kill()
		panic(o.panicked)
	}
}

// turnError says in the package's terms why something failed.
func (s *session) turnError(err error) error {
	var rpc *acpwire.Error
	switch {
	case errors.As(err, &rpc):
		return s.withFix(rpcError(rpc))
	case errors.Is(err, acpwire.ErrClosed), errors.Is(err, source.ErrClosed):
		return source.ErrClosed
	case s.gone(err):
		return s.exitError(err)
	}
	return err
}

// gone reports whether err is the end of the connection: either half tells.
func (s *session) gone(err error) bool {
	if errors.Is(err, acpwire.ErrLost) {
		return true
	}
	select {
	case <-s.lost:
		return true
	case <-s.process.Done():
		return true
	default:
		return errors.Is(err, acpwire.ErrWrite)
	}
}

// exitError describes the agent's end. It waits a moment for the process,
// whose output ends before it does.
func (s *session) exitError(err error) *source.Error {
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-s.process.Done():
	case <-t.C:
	}
	how := s.process.Exit()
	if how == "" {
		how = "it closed its output"
	}
	e := &source.Error{
		Code: source.CodeAgentExited, Message: s.cmd.name() + " ended unexpectedly: " + how,
		Detail: lastLines(s.process.Stderr(), 20), Err: err,
	}
	s.breakWith(e)
	return e
}

// heard passes everything on and notes whether there was anything.
type heard struct {
	to   agentstream.StreamHandler
	word bool
}

func (h *heard) OnMessageChunk(text string) {
	h.word = h.word || text != ""
	h.to.OnMessageChunk(text)
}

func (h *heard) OnThoughtChunk(text string) {
	h.word = h.word || text != ""
	h.to.OnThoughtChunk(text)
}

func (h *heard) OnToolCall(id, title string) {
	h.word = true
	h.to.OnToolCall(id, title)
}

func (h *heard) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	h.to.OnToolCallUpdate(id, content, status)
}
func (h *heard) OnToolCallArgsSnapshot(id, args string) { h.to.OnToolCallArgsSnapshot(id, args) }
func (h *heard) OnTokenUsage(total int)                 { h.to.OnTokenUsage(total) }

// Forward takes every event that is not one of the six.
func (h *heard) Forward(e agentstream.Event) bool {
	switch e.(type) {
	case agentstream.Notice, agentstream.Plan, agentstream.Media, agentstream.Subagent:
		h.word = true
	}
	return agentstream.Send(h.to, e)
}
