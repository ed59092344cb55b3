package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// verdict is how a turn ends.
type verdict struct {
	state   RunState
	stop    source.StopReason
	failure *Failure
	reason  string // of placeholders and of requests that nobody answered
}

// judge tells the ends apart. What the agent said counts only if it came before
// the turn was told to end.
func judge(stop source.StopReason, err, cause error) verdict {
	var agent *source.Error
	var limit limitError
	switch {
	case errors.As(cause, &limit):
		return failed("limited", limit.Error())
	case err == nil && stop == source.Cancelled, err != nil && errors.Is(cause, errCancelled):
		return verdict{RunCancelled, source.Cancelled, nil, "cancelled"}
	case err == nil:
		return verdict{state: RunFinished, stop: cmp.Or(stop, source.EndTurn)}
	case errors.Is(cause, errStopping):
		return failed("server_stopping", errStopping.Error())
	case errors.Is(cause, errSilent):
		return failed("timeout", errSilent.Error())
	case errors.Is(cause, errStorage):
		return failed("storage", errStorage.Error())
	case errors.As(err, &agent):
		return failed(agent.Code, told(agent))
	}
	return failed("internal", err.Error())
}

// told is the error on one line, with the last that the agent itself said of it,
// which is often all that helps.
func told(e *source.Error) string {
	lines := strings.Split(strings.TrimSpace(e.Detail), "\n")
	last := clip(strings.Join(strings.Fields(lines[len(lines)-1]), " "), 300)
	if text := e.Error(); last == "" || strings.Contains(text, last) {
		return text
	}
	return e.Error() + ": " + last
}

func failed(code, message string) verdict {
	return verdict{RunFailed, "", &Failure{code, message}, "failed"}
}

// finish ends the turn: the builder closes what is open, and the last round, the
// run's state and the terminal are one group. Then the thread is free.
func (t *turn) finish(stop source.StopReason, err error) {
	cause := context.Cause(t.ctx)
	v := judge(stop, err, cause)
	lost := errors.Is(cause, errFenced)
	t.mu.Lock()
	t.ending = true
	t.stopTimers()
	var broken error
	if !lost {
		broken = t.tryEnd(v)
	}
	at := t.j.seq
	t.j.commit()
	next := len(t.rec.Queue) > 0
	t.mu.Unlock()
	if err := t.j.close(); errors.Is(err, eventlog.ErrFenced) || errors.Is(err, eventlog.ErrConflict) {
		lost = true // and nobody had noticed
	} else {
		broken = cmp.Or(broken, err)
	}
	t.cancel(errCancelled) // frees the context; too late to mean anything
	if lost || broken != nil || err != nil && gone(err) {
		t.seat.dropIf()
	}
	t.seat.free(t.agent.IdleTimeout)
	if broken == nil && !lost {
		t.c.keep(t.list, t.j.head)
		if t.j.head.Seq != at {
			t.c.keep(nil, t.j.head)
		}
		t.e.giveLease(t.c.id)
	} else {
		t.c.keep(nil, t.j.head)
	}
	t.c.setTurn(nil)
	close(t.done)
	switch {
	case lost:
	case errors.Is(broken, errPanic):
		t.c.later(func(ctx context.Context) { t.c.settleLater(ctx, "internal", errPanic) })
	case broken != nil:
		t.c.later(func(ctx context.Context) { t.c.settleLater(ctx, "storage", errStorage) })
	case next:
		t.c.later(t.c.next)
	}
	t.c.release()
}

// tryEnd is end, or an error if there is a defect: then nothing of it is written.
func (t *turn) tryEnd(v verdict) (err error) {
	at := t.j.seq
	defer func() {
		if err != nil {
			t.j.group.reset()
			t.j.seq = at
		}
	}()
	defer t.recovered(&err)
	t.end(v)
	return nil
}

// end writes how the turn ended. While no run is open it opens one, because what
// was held, the closing and the terminal have to stand somewhere.
func (t *turn) end(v verdict) {
	reason := "the turn has ended"
	if v.failure != nil {
		reason = v.failure.Message
	} else if v.state == RunCancelled {
		reason = "the turn was cancelled"
	}
	t.dropAsks(reason)
	if t.waiting {
		t.reopen(t.newRunID())
	}
	t.rec.NextRound = max(t.firstRound, t.storedRound+1)
	if t.b != nil {
		t.b.Close(v.reason)
		t.rec.NextRound = t.b.NextRound()
	}
	t.run.StopReason, t.run.Error = v.stop, v.failure
	t.rec.State = "idle"
	if t.rec.NextRound > t.firstRound {
		t.rec.Input = nil
	}
	t.rec.Turn = nil
	if len(t.rec.Queue) == 0 {
		t.j.dropGlobal(keyOpen + t.c.id)
	}
	if t.c.takeOffers() {
		t.j.set(keyFacts, encode(t.c.offered()))
	}
	t.closeRun(v.state, func() { t.terminal(v) })
}

func (t *turn) terminal(v verdict) {
	var usage []agui.TokenUsage
	if t.b != nil {
		usage = t.b.Usage()
	}
	if v.failure != nil {
		t.emit.Fail(agui.RunError{Message: v.failure.Message, Code: v.failure.Code, Usage: usage})
		return
	}
	result, _ := json.Marshal(map[string]source.StopReason{"stopReason": v.stop}) // a string cannot fail
	t.emit.Finish(agui.RunFinished{Result: result, Usage: usage})
}

func (t *turn) stopTimers() {
	for _, timer := range []*time.Timer{t.quietTimer, t.silence.timer, t.leaseTimer} {
		if timer != nil {
			timer.Stop()
		}
	}
}

// dropIf closes the session of a seat that there may be none of.
func (s *seat) dropIf() {
	if s != nil {
		s.drop()
	}
}

// free gives a seat back that there may be none of.
func (s *seat) free(idle time.Duration) {
	if s != nil {
		s.giveBack(idle)
	}
}
