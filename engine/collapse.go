package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
)

// plan is what is to be done to a thread, as it was when somebody looked.
type plan struct {
	way   way
	key   string
	made  time.Time // of the thread, which may be another by now
	gen   uint32
	seq   uint64    // the stage's, before
	upTo  uint64    // 0: nothing is due
	run   int       // all runs up to this ordinal are done then
	next  time.Time // end of the oldest that is left; zero: none is
	freed int64     // logged bytes of the runs that are collapsed

	// What stands for the log up to there once it is collapsed; nil: that would
	// not make it smaller.
	events []eventlog.Event
	relist bool // the stored list is no longer needed
}

// errMoved says that a thread has changed since the plan was made.
var errMoved = errors.New("the thread has changed")

// plan looks at a thread whose key is due; nil: the key means nothing any more.
func (k *keeper) plan(ctx context.Context, w way, c *conversation, key string, excess int64) (p *plan, err error) {
	err = c.view(ctx, func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) error {
		if rec == nil || w.stage(rec).Key != key {
			return nil
		}
		p = &plan{way: w, key: key, made: rec.CreatedAt, gen: head.Gen, seq: w.stage(rec).Seq}
		if w.prefix == keyCollapse {
			if excess > 0 {
				excess = max(excess, rec.Bytes/2) // so that a long thread is not folded for each of its runs
			}
			if limit := k.e.o.Limits.ThreadBytes; limit > 0 {
				excess = max(excess, rec.Bytes-limit)
			}
		}
		end := head.Seq
		if rec.Turn != nil {
			end = rec.Turn.From
		}
		last, err := p.choose(v, rec, end, k.e.o.Now(), excess)
		if err != nil || p.upTo == 0 || w.prefix != keyCollapse {
			return err
		}
		return p.snapshot(c, v, rec, last)
	})
	return p, err
}

// choose finds the runs that are due and closed by a record, and gives the last of
// them.
func (p *plan) choose(v eventlog.View, rec *threadRecord, end uint64, now time.Time, excess int64) (last *runRecord, err error) {
	var runs []*runRecord
	s := p.way.stage(rec)
	for entry, err := range v.Keys(keyRun, keyRun+ordinal(s.Run), 0) {
		run, _, err := decode[*runRecord](entry.Value, err)
		if err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	done := s.Seq
	byEnd := slices.Clone(runs)
	slices.SortFunc(byEnd, func(a, b *runRecord) int { return int(int64(a.ToSeq) - int64(b.ToSeq)) })
	for _, run := range byEnd {
		if run.ToSeq <= s.Seq || run.EndedAt == nil {
			continue
		}
		if run.ToSeq > end {
			break
		}
		old := p.way.after >= 0 && now.Sub(*run.EndedAt) >= p.way.after
		if again := p.way.prefix == keyCollapse && run.ToSeq <= rec.Floor; !old && !again && p.freed >= excess {
			p.next = *run.EndedAt
			break
		}
		last, done = run, run.ToSeq
		if run.ToSeq > rec.Floor {
			p.freed += run.Bytes
		}
	}
	if last != nil {
		p.upTo = last.ToSeq
	}
	p.run = s.Run
	for _, run := range runs {
		if run.ToSeq == 0 || run.ToSeq > done {
			break
		}
		p.run = run.Ordinal
	}
	return last, nil
}

// snapshot makes what stands for the log up to a run's end: a run with that one's
// ids that brings a client to the same messages and state.
func (p *plan) snapshot(c *conversation, v eventlog.View, rec *threadRecord, run *runRecord) error {
	list, from, err := startOf(v, p.upTo, rec.Floor)
	if err != nil {
		return err
	}
	p.relist = list == nil || from <= p.upTo
	if list == nil {
		list = agui.NewList()
	}
	var end []byte
	for r, err := range v.Records(from, 0) {
		if err != nil {
			return err
		}
		if r.Cursor.Seq > p.upTo {
			break
		}
		if r.Cursor.Seq == p.upTo {
			end = r.Data
		}
		c.apply(list, r)
	}
	if from == p.upTo {
		for r, err := range v.Records(p.upTo-1, 1) {
			if err != nil {
				return err
			}
			end = r.Data
		}
	}
	if !terminal(end) {
		return errors.New("engine: a run's last record is no terminal")
	}
	started := &agui.RunStarted{ThreadID: c.id, RunID: run.ID, ParentRunID: run.Parent}
	if run.StartedAt != nil {
		started.Timestamp = run.StartedAt.UnixMilli()
	}
	add := func(data []byte) {
		p.events = append(p.events, eventlog.Event{Kind: eventlog.KindEvent, Run: run.ID, Data: data})
	}
	add(agui.Append(nil, started))
	if state := list.State(); state != nil {
		add(agui.Append(nil, &agui.StateSnapshot{Base: agui.Base{Timestamp: started.Timestamp}, Snapshot: state}))
	}
	add(agui.Append(nil, &agui.MessagesSnapshot{Base: agui.Base{Timestamp: started.Timestamp}, Messages: list.Messages()}))
	add(end)
	if uint64(len(p.events)) > p.upTo {
		p.events = nil // the log is shorter than what would stand for it
	}
	return nil
}

// startOf gives the stored list, if it is one to begin with for a list as of a
// record, and as of which it is; else nil: the beginning of the log is.
func startOf(v eventlog.View, upTo, floor uint64) (*agui.List, uint64, error) {
	stored, found, err := decode[storedList](v.Get(keyList))
	if err != nil || !found || stored.Seq > upTo || stored.Seq < floor {
		return nil, 0, err
	}
	list := agui.NewList()
	list.Add(stored.Messages...)
	list.SetState(stored.State)
	return list, stored.Seq, nil
}

// apply takes a record into a list.
func (c *conversation) apply(list *agui.List, r eventlog.Record) {
	if r.Kind != eventlog.KindEvent {
		return
	}
	e, err := agui.Decode(r.Data)
	if err != nil {
		c.e.o.Logger.Warn("an event of the log cannot be read", "thread", c.id, "seq", r.Cursor.Seq, "error", err)
		return
	}
	list.Apply(e)
}

// still reports whether the plan is about what the record says.
func (p *plan) still(r *threadRecord) bool {
	return r.CreatedAt.Equal(p.made) && p.way.stage(r).Seq == p.seq
}

// fold collapses a thread. The floor is raised first, so that nobody relies on what
// is about to go; a crash in between leaves the rest to the next who looks.
func (k *keeper) fold(ctx context.Context, c *conversation, p *plan) error {
	if p.events == nil {
		return nil
	}
	moved := false
	err := k.e.change(ctx, c.id, change{
		open: func(t *turn) {
			if moved = !p.still(t.rec); !moved {
				t.rec.lower(p, t.run.Bytes)
				if p.relist {
					t.j.drop(keyList)
				}
				t.save()
			}
		},
		idle: func(rec *threadRecord, b *eventlog.Batch) {
			if moved = !p.still(rec); !moved {
				rec.lower(p, 0)
				if p.relist {
					b.Delete = append(b.Delete, keyList)
				}
				b.PutGlobal = append(b.PutGlobal, eventlog.Entry{Key: keyThread + c.id, Value: encode(rec)})
			}
		},
	})
	if err != nil {
		return err
	}
	if moved {
		return errMoved
	}
	err = k.e.o.Log.Trim(ctx, c.id, eventlog.Cursor{Gen: p.gen, Seq: p.upTo}, p.events)
	if errors.Is(err, eventlog.ErrGone) {
		return nil // it was deleted, or another engine was faster
	}
	if err == nil && k.compactor != nil {
		err = k.squeeze(ctx, c, p)
	}
	return err
}

// lower says that the log up to the plan's end is no longer there piece by piece.
func (r *threadRecord) lower(p *plan, open int64) {
	if p.upTo <= r.Floor {
		return
	}
	r.Floor, r.Bytes = p.upTo, max(0, r.Bytes-p.freed)
	if p.relist {
		r.ListBytes = 0
		for _, e := range p.events {
			r.ListBytes += len(e.Data)
		}
		r.Unlisted = int(r.Bytes + open)
	}
}

// ripen notes that a turn has ended, so that from now on its runs get old.
func (r *threadRecord) ripen(k *keeper, put func(string, []byte), drop func(string)) {
	if k.compactor != nil && r.Compact.Key == "" {
		r.Compact.wait(agedKey(keyCompact, r.UpdatedAt, r.ID), put, drop)
	}
	switch {
	case r.over(k):
		r.Collapse.wait(agedKey(keyCollapse, time.Time{}, r.ID), put, drop)
	case r.Collapse.Key == "":
		r.Collapse.wait(agedKey(keyCollapse, r.UpdatedAt, r.ID), put, drop)
	}
}

// over reports whether the thread's closed runs are more than they may be.
func (r *threadRecord) over(k *keeper) bool {
	limit := k.e.o.Limits.ThreadBytes
	return limit > 0 && r.Bytes > limit && r.Turn == nil && r.Last != nil && r.Last.ToSeq > r.Collapse.Seq
}

// wait changes the key under which the thread waits.
func (s *stage) wait(key string, put func(string, []byte), drop func(string)) {
	if s.Key != "" {
		drop(s.Key)
	}
	if s.Key = key; key != "" {
		put(key, []byte{'1'})
	}
}

// advance notes that what was planned is done.
func (r *threadRecord) advance(k *keeper, p *plan, put func(string, []byte), drop func(string)) {
	if !p.still(r) {
		return
	}
	s := p.way.stage(r)
	s.Seq, s.Run = max(s.Seq, p.upTo), p.run
	next := p.next
	if next.IsZero() && r.Turn == nil && r.Last != nil && r.Last.ToSeq > s.Seq && r.Last.EndedAt != nil {
		next = *r.Last.EndedAt // it has ended meanwhile
	}
	key := ""
	switch {
	case p.way.prefix == keyCollapse && r.over(k):
		key = agedKey(keyCollapse, time.Time{}, r.ID)
	case !next.IsZero():
		key = agedKey(p.way.prefix, next, r.ID)
	}
	drop(p.key)
	s.wait(key, put, drop)
}
