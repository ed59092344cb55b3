package engine

import (
	"context"
	"errors"

	"github.com/agentstream-go/agentstream/eventlog"
)

// change is something done to a thread: by its open turn, which writes through
// its journal, or else by a batch of its own.
type change struct {
	open func(t *turn)
	idle func(rec *threadRecord, b *eventlog.Batch)
}

func (e *Engine) change(ctx context.Context, thread string, ch change) error {
	c := e.use(thread)
	defer c.release()
	if err := c.lock(ctx); err != nil {
		return err
	}
	defer c.unlock()
	if t := c.open(); t != nil {
		t.mu.Lock()
		if !t.ending {
			ch.open(t)
			group := t.j.commit()
			t.mu.Unlock()
			if _, err := t.durable(ctx, group); !errors.Is(err, errEnded) {
				return storage(err)
			}
		} else {
			t.mu.Unlock()
		}
		select {
		case <-t.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	b := eventlog.Batch{Thread: thread}
	err := c.known(ctx, func(_ eventlog.View, rec *threadRecord, _ eventlog.Cursor) error {
		if rec.Turn != nil {
			return &Error{Code: "run_active", Run: rec.Last.ID, Message: "another process runs this thread"}
		}
		ch.idle(rec, &b)
		return nil
	})
	if err == nil {
		_, err = e.o.Log.Append(ctx, b)
		e.threads.beat()
	}
	return storage(err)
}

// patch applies p; mode and model count from the next turn on.
func (r *threadRecord) patch(p ThreadPatch) {
	if p.Title != nil {
		r.Title, r.Titled = clip(*p.Title, 200), true
	}
	if p.Mode != nil {
		r.Mode = *p.Mode
	}
	if p.Model != nil {
		r.Model = *p.Model
	}
}

// Configure changes title, mode or model of a thread. Mode and model count from
// the next turn on; one that the agent is known not to have is bad_request.
func (e *Engine) Configure(ctx context.Context, id string, p ThreadPatch) (Thread, error) {
	t, err := e.Thread(ctx, id)
	if err != nil {
		return t, err
	}
	for _, x := range []struct {
		asked   *string
		choices []string
	}{{p.Mode, choiceIDs(t.Modes)}, {p.Model, choiceIDs(t.Models)}} {
		if x.asked != nil && *x.asked != "" && len(x.choices) > 0 && !contains(x.choices, *x.asked) {
			return t, refuse("bad_request", "agent %s offers no %q", t.Agent, *x.asked)
		}
	}
	err = e.change(ctx, id, change{
		open: func(t *turn) { t.rec.patch(p); t.save() },
		idle: func(rec *threadRecord, b *eventlog.Batch) {
			rec.patch(p)
			b.PutGlobal = append(b.PutGlobal, eventlog.Entry{Key: keyThread + id, Value: encode(rec)})
		},
	})
	if err != nil {
		return t, err
	}
	return e.Thread(ctx, id)
}

// Delete removes a thread and all that belongs to it. With an open turn it is
// refused with run_active, or with force the turn is cancelled first.
func (e *Engine) Delete(ctx context.Context, id string, force bool) error {
	deleter, ok := e.o.Log.(eventlog.ThreadDeleter)
	if !ok {
		return refuse("unsupported", "this log cannot delete threads")
	}
	c := e.use(id)
	defer c.release()
	if err := c.lock(ctx); err != nil {
		return err
	}
	defer c.unlock()
	if t := c.open(); t != nil {
		t.mu.Lock()
		ending, run := t.ending, t.run.ID
		t.mu.Unlock()
		if !ending && !force {
			return &Error{Code: "run_active", Run: run, Message: "run " + run + " is open in this thread"}
		}
		t.cancel(errCancelled)
		select {
		case <-t.done:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	// A lease would make the thread.
	if err := c.known(ctx, func(eventlog.View, *threadRecord, eventlog.Cursor) error { return nil }); err != nil {
		return storage(err)
	}
	epoch, err := e.o.Log.Lease(ctx, id, e.o.Owner, e.o.LeaseTTL)
	if errors.Is(err, eventlog.ErrHeld) {
		return refuse("run_active", "another process runs this thread")
	}
	if err != nil {
		return storage(err)
	}
	var b eventlog.Batch
	if err := c.known(ctx, func(v eventlog.View, rec *threadRecord, _ eventlog.Cursor) (err error) {
		b.DeleteGlobal, err = globalKeys(v, rec)
		return err
	}); err != nil {
		e.giveLease(id)
		return storage(err)
	}
	e.pool.evictThread(id)
	c.forget()
	defer e.threads.beat()
	return storage(deleter.DeleteThread(ctx, id, epoch, b))
}

// forget drops what is remembered of a thread that is deleted.
func (c *conversation) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list, c.joined, c.offers, c.unsaid, c.facts = nil, mark{}, offers{}, false, nil
}

// globalKeys lists the keys outside of the thread that speak of it.
func globalKeys(v eventlog.View, rec *threadRecord) ([]string, error) {
	out := []string{keyThread + rec.ID, rec.Recent, keyOpen + rec.ID, rec.Compact.Key, rec.Collapse.Key}
	for _, x := range []struct {
		of     string
		global func(key string) []string
	}{
		{keyRunID, func(run string) []string { return []string{runsKey(run, rec.ID)} }},
		{keyAsked, func(id string) []string { return []string{keyRequest + id, keyPending + id} }},
		{keyGrant, func(id string) []string { return []string{keyGrants + id} }},
		{keyBlobs, func(hash string) []string { return []string{holderKey(hash, rec.ID)} }},
	} {
		for entry, err := range v.Keys(x.of, "", 0) {
			if err != nil {
				return nil, err
			}
			out = append(out, x.global(entry.Key[len(x.of):])...)
		}
	}
	return out, nil
}
