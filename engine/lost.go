package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/internal/blob"
	"github.com/agentstream-go/agentstream/round"
	"github.com/agentstream-go/agentstream/source"
)

const lostMessage = "the process that ran this died; what the agent did after its last event is unknown"

// settle ends the turn that a dead owner left open: its events are folded back
// into a builder, which closes what is open and pairs the last round; the
// requests end, and the terminal is appended with all of it. The conversation's
// token is held. eventlog.ErrHeld: somebody runs it.
func (c *conversation) settle(ctx context.Context, state RunState, code, message string) error {
	epoch, err := c.e.o.Log.Lease(ctx, c.id, c.e.o.Owner, c.e.o.LeaseTTL)
	if err != nil {
		return err
	}
	defer c.e.giveLease(c.id)
	t, err := c.restore(ctx, epoch)
	if err != nil || t == nil {
		return err
	}
	if err := t.tryEnd(verdict{state: state, failure: &Failure{code, message}, reason: "unfinished"}); err != nil {
		c.keep(nil, t.j.head)
		if t, err = c.restore(ctx, epoch); err != nil || t == nil {
			return err
		}
		t.b = nil // its rounds stay as they were stored
		if err := t.tryEnd(verdict{state: state, failure: &Failure{code, message}}); err != nil {
			return err
		}
	}
	if err := t.j.appendNow(ctx); err != nil {
		c.keep(nil, t.j.head)
		return fmt.Errorf("a turn that was left open could not be ended: %w", err)
	}
	c.keep(t.list, t.j.head)
	c.e.o.Logger.Warn("a run was left open and is ended", "thread", c.id, "run", t.run.ID, "code", code)
	if len(t.rec.Queue) > 0 {
		c.later(c.next)
	}
	return nil
}

// restore makes the turn again from what is stored; nil if none is open.
func (c *conversation) restore(ctx context.Context, epoch uint64) (*turn, error) {
	var t *turn
	err := c.view(ctx, func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) error {
		if rec == nil || rec.Turn == nil || rec.Last == nil {
			return nil
		}
		list, err := c.folded(v, head, rec.floor())
		if err != nil {
			return err
		}
		t = &turn{
			e: c.e, c: c, agent: Agent{Name: rec.Agent}, done: make(chan struct{}), reopened: make(chan struct{}), ending: true,
			rec: rec, run: rec.Last, list: list, waiting: rec.Turn.Waiting, firstRound: rec.NextRound,
			tools: map[string]string{},
		}
		t.ctx, t.cancel = context.WithCancelCause(ctx)
		t.j = newJournal(c.e.o.Log, c.id, epoch, head, c.e.o.Limits.JournalBytes, nil)
		muted := true
		t.emit = agui.NewEmitter(agui.EmitterConfig{Thread: c.id, Run: t.run.ID, Now: c.e.o.Now, Sink: func(typ agui.Type, data []byte) {
			if !muted {
				t.sink(typ, data)
			}
		}})
		events, failure := t.stored(v)
		if !t.waiting {
			t.run.Bytes = 0 // counted anew
		}
		t.b, err = round.Restore(round.Config{
			Thread: c.id, Run: t.run.ID, Prefix: rec.Turn.Prefix, FirstRound: t.firstRound,
			Events: t.events(), OnRound: t.storeRound, Now: c.e.o.Now,
		}, events)
		muted = false
		if *failure != nil {
			return *failure
		}
		if err != nil {
			c.e.o.Logger.Error("the events of an open turn make no sense; its rounds stay as they were stored", "thread", c.id, "error", err)
			t.b = nil
		}
		if t.storedRound, err = lastRound(v); err != nil {
			return err
		}
		return t.restoreAsks(v)
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// lastRound is the number of the last stored round.
func lastRound(v eventlog.View) (n int, err error) {
	for entry, err := range v.Keys(keyRound, "", 0) {
		if err != nil {
			return 0, err
		}
		if n, err = strconv.Atoi(entry.Key[len(keyRound):]); err != nil {
			return 0, fmt.Errorf("engine: the round %q has no number: %w", entry.Key, err)
		}
	}
	return n, nil
}

// stored yields the turn's events, and on the way drives the emitter with those
// of the run that is open and collects what was held.
func (t *turn) stored(v eventlog.View) (iter.Seq[agui.Event], *error) {
	failure := new(error)
	return func(yield func(agui.Event) bool) {
		for r, err := range v.Records(t.rec.Turn.From, 0) {
			if err != nil {
				*failure = err
				return
			}
			if r.Kind != eventlog.KindEvent {
				var note struct{ Held json.RawMessage }
				if json.Unmarshal(r.Data, &note) != nil || note.Held == nil {
					continue
				}
				if e, err := agentstream.ParseEvent(note.Held); err == nil {
					t.held = append(t.held, e)
				}
				continue
			}
			if r.Run == t.run.ID && !t.waiting {
				t.run.Bytes += int64(len(r.Data))
			}
			e, err := agui.Decode(r.Data)
			if err != nil {
				continue
			}
			if e.Type() == agui.TypeRunStarted {
				t.held = nil // it has been said in this run
			}
			if r.Run == t.run.ID && !t.waiting {
				t.emit.Emit(e)
			}
			whole, err := blob.Event(e, loader(v))
			if err != nil {
				t.e.o.Logger.Error("what an event had too large for it is gone; its preview is taken for it", "thread", t.c.id, "seq", r.Cursor.Seq, "error", err)
			}
			if !yield(whole) {
				return
			}
		}
	}, failure
}

// restoreAsks makes the requests again that nobody will answer.
func (t *turn) restoreAsks(v eventlog.View) error {
	for entry, err := range v.Keys(keyAsked, "", 0) {
		if err != nil {
			return err
		}
		req, found, err := decode[Request](v.GetGlobal(keyRequest + entry.Key[len(keyAsked):]))
		if err != nil {
			return err
		}
		if found && req.State == "pending" {
			t.asks = append(t.asks, &ask{req: req, q: req.question(), reply: func(source.Answer) {}, over: make(chan struct{})})
		}
	}
	return nil
}

// settleStray ends the open turn of a thread that nobody runs, if there is one.
func (c *conversation) settleStray(ctx context.Context) error {
	if err := c.lock(ctx); err != nil {
		return err
	}
	defer c.unlock()
	if c.open() != nil {
		return nil
	}
	return c.settle(ctx, RunLost, "run_lost", lostMessage)
}

// settleLater ends a turn that could not end by itself, if the log works again.
func (c *conversation) settleLater(ctx context.Context, code string, cause error) {
	if c.lock(ctx) != nil {
		return
	}
	defer c.unlock()
	if c.open() != nil {
		return
	}
	if err := c.settle(ctx, RunFailed, code, cause.Error()); err != nil {
		c.e.o.Logger.Error("a run could not be ended; it stays open until somebody looks at it", "thread", c.id, "error", err)
	}
}

// settleAll ends what earlier owners left open and starts what they had queued.
func (e *Engine) settleAll(ctx context.Context) error {
	var open []string
	err := e.o.Log.View(ctx, "", func(v eventlog.View) error {
		for entry, err := range v.GlobalKeys(keyOpen, "", 0) {
			if err != nil {
				return err
			}
			open = append(open, entry.Key[len(keyOpen):])
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range open {
		c := e.use(id)
		err := c.settleStray(ctx)
		if err == nil && c.open() == nil {
			c.later(c.next)
		}
		c.release()
		if err != nil && !errors.Is(err, eventlog.ErrHeld) {
			if ctx.Err() != nil {
				return err
			}
			e.o.Logger.Error("a run that was left open could not be ended", "thread", id, "error", err)
		}
	}
	return nil
}
