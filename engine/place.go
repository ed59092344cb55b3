package engine

import (
	"context"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
)

// place is a place in a thread's log, as whoever joins there needs it.
type place struct {
	cursor  eventlog.Cursor
	run     *runRecord   // the last one that has begun there; nil: none
	list    *agui.List   // what clients hold just before that run
	events  []agui.Event // the run's, up to the place
	pending []Request    // what waits for an answer now
}

// lastRun gives the run that is open, or ended last; nil for none.
func (c *conversation) lastRun(ctx context.Context) (last *runRecord, err error) {
	if err := c.heal(ctx); err != nil {
		return nil, err
	}
	err = c.view(ctx, func(_ eventlog.View, rec *threadRecord, _ eventlog.Cursor) error {
		if rec != nil {
			last = rec.Last
		}
		return nil
	})
	return last, err
}

// locate gives the place after the record at, or the end of the log for the zero
// cursor. An unknown thread has no run.
func (c *conversation) locate(ctx context.Context, at eventlog.Cursor) (p place, err error) {
	if err := c.e.Seek(ctx, c.id, at); err != nil {
		return p, err
	}
	if err := c.heal(ctx); err != nil {
		return p, err
	}
	err = c.view(ctx, func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) error {
		if p.cursor = at; at.IsZero() {
			p.cursor = head
		}
		if rec == nil {
			return nil
		}
		if p.run, err = runAt(v, p.cursor.Seq); err != nil || p.run == nil {
			return err
		}
		if p.list, err = c.listBefore(v, p.run.FromSeq); err != nil {
			return err
		}
		if p.events, err = c.events(v, p.run.FromSeq-1, p.cursor.Seq); err != nil {
			return err
		}
		if rec.Turn == nil || !rec.Turn.Waiting {
			return nil
		}
		p.pending, err = pendingOf(v)
		return err
	})
	return p, err
}

// runAt gives the last run that has begun by a record.
func runAt(v eventlog.View, seq uint64) (found *runRecord, err error) {
	for entry, err := range v.Keys(keyRun, "", 0) {
		if err != nil {
			return nil, err
		}
		run, _, err := decode[*runRecord](entry.Value, nil)
		if err != nil {
			return nil, err
		}
		if run.FromSeq > 0 && run.FromSeq <= seq && (found == nil || run.FromSeq > found.FromSeq) {
			found = run
		}
	}
	return found, nil
}

// listBefore gives the list as clients hold it just before a record.
func (c *conversation) listBefore(v eventlog.View, seq uint64) (*agui.List, error) {
	list, from := agui.NewList(), uint64(0)
	stored, found, err := decode[storedList](v.Get(keyList))
	if err != nil {
		return nil, err
	}
	if found && stored.Seq < seq {
		list.Add(stored.Messages...)
		list.SetState(stored.State)
		from = stored.Seq
	}
	events, err := c.events(v, from, seq-1)
	for _, e := range events {
		list.Apply(e)
	}
	return list, err
}

// events decodes the AG-UI events after one record up to another.
func (c *conversation) events(v eventlog.View, after, to uint64) (out []agui.Event, err error) {
	if after >= to {
		return nil, nil
	}
	for r, err := range v.Records(after, 0) {
		if err != nil {
			return nil, err
		}
		if r.Cursor.Seq > to {
			break
		}
		if r.Kind != eventlog.KindEvent {
			continue
		}
		e, err := agui.Decode(r.Data)
		if err != nil {
			c.e.o.Logger.Warn("an event of the log cannot be read", "thread", c.id, "seq", r.Cursor.Seq, "error", err)
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

// pendingOf gives the requests of the thread that wait for an answer.
func pendingOf(v eventlog.View) ([]Request, error) {
	out := []Request{}
	for entry, err := range v.Keys(keyAsked, "", 0) {
		if err != nil {
			return nil, err
		}
		req, found, err := decode[Request](v.GetGlobal(keyRequest + entry.Key[len(keyAsked):]))
		if err != nil {
			return nil, err
		}
		if found && req.State == "pending" {
			out = append(out, req)
		}
	}
	return out, nil
}
