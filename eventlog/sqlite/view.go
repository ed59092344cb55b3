package sqlite

import (
	"context"
	"iter"

	"github.com/agentstream-go/agentstream/eventlog"
)

// pageEntries is how many entries are read at once, so that none is held by a
// statement while its consumer asks for other things.
const pageEntries = 256

// View implements [eventlog.Log].
func (l *Log) View(ctx context.Context, name string, fn func(eventlog.View) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return l.readers.read(func(c *conn) error {
		v := &view{ctx: ctx, conn: c, path: l.path, thread: new(thread)}
		// Even for global keys alone this first read fixes the moment.
		th, err := c.thread(name)
		if err != nil {
			return failure(l.path, err)
		}
		if th != nil {
			v.thread = th
		}
		return fn(v)
	})
}

type view struct {
	ctx    context.Context
	conn   *conn
	path   string
	thread *thread // the zero value if there is none
}

func (v *view) Get(key string) ([]byte, error) {
	if v.thread.num == globalThread {
		return nil, nil
	}
	value, err := v.conn.entry(v.thread.num, key)
	return value, failure(v.path, err)
}

func (v *view) GetGlobal(key string) ([]byte, error) {
	value, err := v.conn.entry(globalThread, key)
	return value, failure(v.path, err)
}

func (v *view) Keys(prefix, after string, limit int) iter.Seq2[eventlog.Entry, error] {
	if v.thread.num == globalThread {
		return func(func(eventlog.Entry, error) bool) {}
	}
	return v.entries(v.thread.num, prefix, after, limit)
}

func (v *view) GlobalKeys(prefix, after string, limit int) iter.Seq2[eventlog.Entry, error] {
	return v.entries(globalThread, prefix, after, limit)
}

func (v *view) entries(num int64, prefix, after string, limit int) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		from, left := after, limit
		for {
			page := pageEntries
			if limit > 0 {
				page = min(page, left)
			}
			if v.ctx.Err() != nil {
				yield(eventlog.Entry{}, context.Cause(v.ctx))
				return
			}
			list, err := v.conn.entries(num, prefix, from, page)
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
				from, left = e.Key, left-1
			}
			if err != nil {
				yield(eventlog.Entry{}, failure(v.path, err))
				return
			}
			if len(list) < page || limit > 0 && left == 0 {
				return
			}
		}
	}
}

func (v *view) Records(after uint64, limit int) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		var d decoder
		left, pos, stopped := limit, after, false
		for more := v.thread.num != globalThread; more; {
			if v.ctx.Err() != nil {
				yield(eventlog.Record{}, context.Cause(v.ctx))
				return
			}
			var segs []segment
			var err error
			segs, more, err = v.conn.segments(v.path, v.thread, pos)
			for i := 0; i < len(segs) && err == nil && !stopped; i++ {
				_, err = d.each(&segs[i], pos, func(r eventlog.Record) bool {
					pos, left = r.Cursor.Seq, left-1
					stopped = !yield(r, nil) || limit > 0 && left == 0
					return !stopped
				})
				if err != nil {
					err = damaged(v.path, "record %d: %w", segs[i].last, err)
				}
			}
			if stopped {
				return
			}
			if err != nil {
				yield(eventlog.Record{}, err)
				return
			}
		}
	}
}

func (v *view) Head() (eventlog.Cursor, error) {
	if v.thread.num == globalThread {
		return eventlog.Cursor{}, nil
	}
	head, err := v.conn.head(v.path, v.thread)
	return eventlog.Cursor{Gen: v.thread.gen, Seq: head}, err
}
