package engine

import (
	"context"
	"slices"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/internal/join"
)

// place is a place in a thread's log, as whoever joins there needs it.
type place struct {
	cursor  eventlog.Cursor
	run     *runRecord   // the last one that has begun there; nil: none
	point   *join.Point  // where replaying begins; shared, not to be changed
	rest    []agui.Event // what follows it, up to the place
	pending []Request    // what waits for an answer now
}

// mark is the point where replaying began for the reader who joined last, and
// what it replayed. The next one has to read only what follows.
type mark struct {
	at    eventlog.Cursor // of the point
	point *join.Point
	rest  []agui.Event // merged; shared, not to be changed
	to    uint64       // the record up to which the rest goes
}

// older reports whether o knows more.
func (m *mark) older(o *mark) bool {
	return m.at.Gen != o.at.Gen || m.at.Seq < o.at.Seq || m.at.Seq == o.at.Seq && m.to < o.to
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
		if p.run, err = runAt(v, rec, p.cursor.Seq); err != nil || p.run == nil {
			return err
		}
		if rec.Turn == nil && p.cursor == head && p.run.ToSeq > 0 {
			return c.atRest(v, rec, head, &p)
		}
		if err := c.inRun(v, rec, &p); err != nil || rec.Turn == nil || !rec.Turn.Waiting {
			return err
		}
		p.pending, err = pendingOf(v)
		return err
	})
	return p, err
}

// atRest gives the end of a thread in which nothing runs.
func (c *conversation) atRest(v eventlog.View, rec *threadRecord, head eventlog.Cursor, p *place) error {
	list, err := c.folded(v, head, rec.floor())
	if err != nil {
		return err
	}
	ends, _, err := c.read(v, p.run.ToSeq-1, p.run.ToSeq)
	if err != nil || len(ends) == 0 {
		return err
	}
	started := &agui.RunStarted{ThreadID: c.id, RunID: p.run.ID, ParentRunID: p.run.Parent}
	if p.run.StartedAt != nil {
		started.Timestamp = p.run.StartedAt.UnixMilli()
	}
	p.point = join.Ended(list, started, ends[0])
	c.mu.Lock()
	c.joined = mark{}
	c.mu.Unlock()
	return nil
}

// inRun gives a place in a run, or at its end, by folding what follows the last
// place that is known: where somebody joined, the beginning of the turn, the
// stored list, or the beginning of the log.
func (c *conversation) inRun(v eventlog.View, rec *threadRecord, p *place) error {
	floor := rec.floor()
	c.mu.Lock()
	m := c.joined
	if m.point == nil || m.at.Gen != p.cursor.Gen || m.to > p.cursor.Seq || m.at.Seq < floor {
		m = mark{}
	}
	if c.list != nil && c.listAt.Gen == p.cursor.Gen && c.listAt.Seq < p.run.FromSeq && c.listAt.Seq > m.at.Seq && c.listAt.Seq >= floor {
		m = mark{at: c.listAt, point: join.NewPoint(c.list.Clone()), to: c.listAt.Seq}
	}
	c.mu.Unlock()
	if m.at.Seq < p.run.FromSeq {
		list, at, err := startOf(v, p.run.FromSeq-1, floor)
		if err != nil {
			return err
		}
		if list != nil && at > m.at.Seq {
			m = mark{at: eventlog.Cursor{Seq: at}, point: join.NewPoint(list), to: at}
		}
	}
	if m.point == nil {
		m.point = join.NewPoint(agui.NewList())
	}
	events, seqs, err := c.read(v, m.to, p.cursor.Seq)
	if err != nil {
		return err
	}
	p.point = m.point.Clone()
	known := len(m.rest)
	events = append(slices.Clip(m.rest), events...)
	rest := p.point.Advance(events)
	// What was replayed before is replayed still, or none of it is.
	switch n := len(events) - len(rest); {
	case n == known && known > 0:
		m.at.Seq = m.to
	case n > known:
		m.at.Seq = seqs[n-known-1]
	}
	p.rest = join.Merge(rest)
	next := mark{eventlog.Cursor{Gen: p.cursor.Gen, Seq: m.at.Seq}, p.point, p.rest, p.cursor.Seq}
	c.mu.Lock()
	if c.joined.older(&next) {
		c.joined = next
	}
	c.mu.Unlock()
	return nil
}

// runAt gives the last run that has begun by a record.
func runAt(v eventlog.View, rec *threadRecord, seq uint64) (found *runRecord, err error) {
	if rec.Last != nil && rec.Last.FromSeq > 0 && rec.Last.FromSeq <= seq {
		return rec.Last, nil
	}
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

// read decodes the AG-UI events after one record up to another, adjacent deltas
// merged, and says which records they, or the last parts of them, are.
func (c *conversation) read(v eventlog.View, after, to uint64) (out []agui.Event, seqs []uint64, err error) {
	if after >= to {
		return nil, nil, nil
	}
	var deltas join.Deltas
	var merged uint64 // the last record in deltas
	add := func(data []byte, seq uint64) {
		e, err := agui.Decode(data)
		if err != nil {
			c.e.o.Logger.Warn("an event of the log cannot be read", "thread", c.id, "seq", seq, "error", err)
			return
		}
		out, seqs = append(out, e), append(seqs, seq)
	}
	for r, err := range v.Records(after, 0) {
		if err != nil {
			return nil, nil, err
		}
		if r.Cursor.Seq > to {
			break
		}
		if r.Kind != eventlog.KindEvent {
			continue
		}
		if merged > 0 && deltas.Add(r.Data) {
			merged = r.Cursor.Seq
			continue
		}
		if merged > 0 {
			add(deltas.Event(), merged)
			merged = 0
		}
		if deltas.Begin(r.Data) {
			merged = r.Cursor.Seq
		} else {
			add(r.Data, r.Cursor.Seq)
		}
	}
	if merged > 0 {
		add(deltas.Event(), merged)
	}
	return out, seqs, nil
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
