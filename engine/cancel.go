package engine

import (
	"context"

	"github.com/agentstream-go/agentstream/eventlog"
)

// Cancel cancels a run, or the turn that waits for approvals after it. It waits
// until the run has ended, or ctx has, and gives the run as it then is; a run
// that has ended is left alone. An empty thread is allowed if the id is
// unambiguous. A run of another engine on a shared log is run_active.
func (e *Engine) Cancel(ctx context.Context, thread, run string) (Run, error) {
	thread, err := e.threadOf(ctx, thread, run)
	if err != nil {
		return Run{}, err
	}
	c := e.use(thread)
	defer c.release()
	t := c.open()
	if t == nil || !t.owns(run) {
		out, err := e.dequeue(ctx, thread, run)
		if err == nil && t == nil && out.State == RunRunning && e.o.Shared {
			err = elsewhere(run)
		}
		return out, err
	}
	t.cancel(errCancelled)
	select {
	case <-t.done:
	case <-ctx.Done():
		ctx = context.WithoutCancel(ctx)
	}
	return e.Run(ctx, thread, run)
}

// elsewhere refuses what only the engine can do that runs the turn.
func elsewhere(run string) error {
	return &Error{Code: "run_active", Run: run, Message: "another engine runs " + run + "; only that one can cancel it or take its answers"}
}

// owns reports whether the run is the turn's open or interrupted one.
func (t *turn) owns(run string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.run.ID == run
}

// dequeue cancels a run that is queued. Its place in the queue stays, so that
// whoever waits for it sees it begin and end.
func (e *Engine) dequeue(ctx context.Context, thread, run string) (Run, error) {
	out, err := e.Run(ctx, thread, run)
	if err != nil || out.State != RunQueued {
		return out, err
	}
	var rec *runRecord
	if err := e.o.Log.View(ctx, thread, func(v eventlog.View) (err error) {
		rec, err = getRun(v, run)
		return err
	}); err != nil {
		return out, storage(err)
	}
	rec.Cancelled = true
	key := keyRun + ordinal(rec.Ordinal)
	err = e.change(ctx, thread, change{
		open: func(t *turn) {
			if t.run.ID != run {
				t.j.set(key, encode(rec))
			}
		},
		idle: func(_ *threadRecord, b *eventlog.Batch) {
			b.Put = append(b.Put, eventlog.Entry{Key: key, Value: encode(rec)})
		},
	})
	if err != nil {
		return out, err
	}
	return e.Run(ctx, thread, run)
}
