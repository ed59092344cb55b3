package engine

import (
	"context"
	"errors"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

// firstSilence is when readers are told that the agent says nothing; then at
// each doubling.
const firstSilence = 15 * time.Second

// silence tells of an agent that says nothing.
type silence struct {
	timer *time.Timer
	since time.Time     // the last thing said, as of next
	next  time.Duration // tell then
}

// watchSilence arms the timer anew; it is its callback too.
func (t *turn) watchSilence() {
	defer t.survive()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ending {
		return
	}
	s := &t.silence
	if len(t.asks) > 0 || t.waiting {
		t.lastSaid = time.Now() // it is people who say nothing
	}
	if !s.since.Equal(t.lastSaid) {
		s.since, s.next = t.lastSaid, firstSilence
		t.run.SilentSeconds = 0
	}
	silent := time.Since(s.since)
	limit := t.agent.SilenceTimeout
	if limit > 0 && t.prompted && silent >= limit {
		t.cancel(errSilent)
		return
	}
	if silent >= s.next {
		t.run.SilentSeconds = int(silent / time.Second)
		t.emitCustom("agentstream.silence", map[string]int{"seconds": t.run.SilentSeconds})
		t.save()
		t.j.commit()
		s.next *= 2
	}
	wait := s.next - silent
	if limit > 0 && t.prompted {
		wait = min(wait, limit-silent)
	} else if limit > 0 {
		wait = min(wait, limit)
	}
	s.timer = time.AfterFunc(wait, t.watchSilence)
}

// renew keeps the turn's lease; it is the timer's callback. A lease that another
// owner has ends the turn.
func (t *turn) renew() {
	ttl := t.e.o.LeaseTTL
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), ttl/3) // a cancelled turn is still ours until it has ended
	epoch, err := t.e.o.Log.Lease(ctx, t.c.id, t.e.o.Owner, ttl)
	cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ending {
		return
	}
	if errors.Is(err, eventlog.ErrHeld) || err == nil && epoch != t.j.epoch {
		if err == nil {
			t.e.giveLease(t.c.id) // a new one, which is of no use to a turn that was lost before
		}
		t.cancel(errFenced)
		return
	}
	if err != nil {
		t.e.o.Logger.Warn("a lease could not be renewed", "thread", t.c.id, "error", err)
	}
	t.leaseTimer = time.AfterFunc(ttl/3, t.renew)
}
