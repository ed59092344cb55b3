package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// sit makes the seat's session ready for the turn: the one that was kept, the
// agent's own earlier one, or a new one that is told what was said before.
func (t *turn) sit() error {
	t.mu.Lock()
	agent, cwd, resume := t.agent, t.rec.Cwd, t.rec.Session
	mode, model := or(t.rec.Mode, agent.Mode), or(t.rec.Model, agent.Model)
	t.mu.Unlock()
	s := t.seat
	if s.session != nil && s.cwd != cwd {
		s.drop()
	}
	if s.session != nil {
		return t.adjust(mode, model)
	}
	o := source.Options{
		Cwd: cwd, Resume: resume, Mode: mode, Model: model,
		Observe: t.c.observe, Record: t.e.o.Record,
	}
	session, err := t.openSession(o)
	fresh := resume == ""
	if errors.Is(err, source.ErrNoSession) {
		o.Resume, fresh = "", true
		session, err = t.openSession(o)
	}
	if err != nil {
		return err
	}
	s.session, s.cwd, s.mode, s.model = session, cwd, mode, model
	t.mu.Lock()
	t.rec.Session = session.ID()
	t.save()
	t.j.commit()
	t.mu.Unlock()
	if fresh {
		return t.recall()
	}
	return nil
}

func or(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// openSession opens a session; it may take the start timeout from its last sign
// of life.
func (t *turn) openSession(o source.Options) (source.Session, error) {
	limit := t.agent.StartTimeout
	if limit < 0 {
		return t.agent.Source.Open(t.ctx, o)
	}
	ctx, cancel := context.WithCancelCause(t.ctx)
	defer cancel(nil)
	late := &source.Error{Code: source.CodeTimeout, Message: fmt.Sprintf("agent %s did not start within %s of its last sign of life", t.agent.Name, limit)}
	timer := time.AfterFunc(limit, func() { cancel(late) })
	defer timer.Stop()
	observe := o.Observe
	opening := ctx.Done()
	o.Observe = func(f source.Fact) {
		select {
		case <-opening:
		default:
			timer.Reset(limit)
		}
		observe(f)
	}
	session, err := t.agent.Source.Open(ctx, o)
	if err != nil && errors.Is(context.Cause(ctx), late) {
		return nil, late
	}
	return session, err
}

// adjust selects what was asked for since the session's last turn.
func (t *turn) adjust(mode, model string) error {
	s := t.seat
	setter, ok := s.session.(source.Setter)
	if !ok {
		return nil
	}
	if mode != s.mode && mode != "" {
		if err := setter.SetMode(t.ctx, mode); err != nil {
			return err
		}
	}
	if model != s.model && model != "" {
		if err := setter.SetModel(t.ctx, model); err != nil {
			return err
		}
	}
	s.mode, s.model = mode, model
	return nil
}

// recall puts what was said before in front of the prompt.
func (t *turn) recall() error {
	var pieces []string
	err := t.e.o.Log.View(t.ctx, t.c.id, func(v eventlog.View) error {
		return eachRound(v, func(r Round) { pieces = append(pieces, roundText(r)) })
	})
	if err != nil {
		return err
	}
	if text := history(pieces); text != "" {
		t.prompt = append([]source.Part{{Type: source.PartText, Text: text}}, t.prompt...)
	}
	return nil
}

func readRounds(v eventlog.View) ([]Round, error) {
	out := []Round{}
	err := eachRound(v, func(r Round) { out = append(out, r) })
	return out, err
}

func eachRound(v eventlog.View, each func(Round)) error {
	for entry, err := range v.Keys(keyRound, "", 0) {
		r, err := unpack(v, entry.Value, err)
		if err != nil {
			return err
		}
		each(r)
	}
	return nil
}
