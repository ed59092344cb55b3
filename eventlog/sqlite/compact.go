package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"

	"github.com/agentstream-go/agentstream/eventlog"
)

// Compact implements [eventlog.Compactor]. A segment that holds records after
// upTo as well is left for another time.
//
// It packs a segment's worth at a time: the records are read in one
// transaction, compressed in none, and put in their place in another, if nobody
// has changed what was read. The writer is never held for longer than that last
// step takes.
func (l *Log) Compact(ctx context.Context, thread string, upTo eventlog.Cursor) error {
	if thread == "" || upTo.Seq == 0 {
		return fmt.Errorf("%w: nothing to compact", eventlog.ErrInvalid)
	}
	if err := l.do(ctx, func(t *tx) error { return t.settle(thread, upTo) }); err != nil {
		return err
	}
	var d deflater
	for {
		p, err := l.plan(thread, upTo)
		if err != nil || p == nil {
			return err
		}
		if p.segment, err = d.deflate(p.segment); err != nil {
			return failure(l.path, err)
		}
		if err := l.do(ctx, func(t *tx) error { return t.pack(p) }); err != nil {
			return err
		}
	}
}

// has refuses a cursor that the thread, which is nil if there is none, does not
// have as far as its floor says.
func (th *thread) has(upTo eventlog.Cursor) error {
	if th == nil || th.gen != upTo.Gen || upTo.Seq < th.floor {
		return fmt.Errorf("%w: there is no %v", eventlog.ErrGone, upTo)
	}
	return nil
}

// settle sees to it that no record up to upTo is in the journal.
func (t *tx) settle(name string, upTo eventlog.Cursor) error {
	th, err := t.thread(name)
	if err != nil {
		return err
	}
	if err := th.has(upTo); err != nil {
		return err
	}
	if upTo.Seq > th.head {
		return fmt.Errorf("%w: the last record is %d", eventlog.ErrGone, th.head)
	}
	stored, err := t.conn.stored(th)
	if err != nil || stored >= upTo.Seq {
		return broken(err)
	}
	return t.flush(true)
}

// packing is what one step of Compact does.
type packing struct {
	thread  thread
	before  int64   // id of the thread's last packed segment, 0: there is none
	joined  bool    // it is part of what is packed now
	rows    int64   // how many segments are
	first   int64   // id of the first of them
	segment segment // what takes their place
}

// plan reads what is to be packed next, nil if there is nothing. It is the
// last packed segment if it is small, and as many of those that follow as fit.
func (l *Log) plan(name string, upTo eventlog.Cursor) (*packing, error) {
	var p *packing
	err := l.readers.read(func(c *conn) error {
		th, err := c.thread(name)
		if err != nil {
			return failure(l.path, err)
		}
		if err := th.has(upTo); err != nil {
			return err
		}
		p, err = c.packing(l.path, th, upTo.Seq)
		return failure(l.path, err)
	})
	if err != nil || p.rows == 0 {
		return nil, err
	}
	return p, nil
}

func (c *conn) packing(path string, th *thread, upTo uint64) (*packing, error) {
	p := &packing{thread: *th, segment: segment{gen: th.gen, data: []byte{segmentHeader - 1: 0}}}
	p.segment.data[0] = segmentVersion
	row, err := c.first(selectLastPacked, segmentID(th.num, 0), segmentID(th.num, maxSeq))
	if err != nil {
		return nil, err
	}
	var last segment // the last packed one
	if row != nil {
		p.before = intOf(row[0])
		last = rawSegment(th.gen, row)
	}
	size, _, err := last.inflated()
	if err != nil {
		return nil, damaged(path, "record %d: %w", last.last, err)
	}
	err = c.each(func(row []driver.Value) (bool, error) {
		s, err := readSegment(path, th.gen, row)
		if err != nil {
			return false, err
		}
		if p.rows == 0 {
			p.first = segmentID(th.num, s.last)
			if p.before != 0 && size+len(s.data) <= packedSize {
				if p.joined, err = true, last.unpack(); err != nil {
					return false, damaged(path, "record %d: %w", last.last, err)
				}
				p.segment = p.segment.join(&last)
			}
		} else if len(p.segment.data)+len(s.data) > packedSize {
			return false, nil
		}
		if n := p.segment.n; n > 0 && p.segment.last+1 != s.first() {
			return false, damaged(path, "thread %q: records %d to %d are missing", th.name, p.segment.last+1, s.first()-1)
		}
		p.segment = p.segment.join(&s)
		p.rows++
		return true, nil
	}, selectSegments, segmentID(th.num, 0), segmentID(th.num, upTo))
	return p, err
}

// pack puts the packed segment in the place of what was read for it. It changes
// nothing if that is not there any more as it was, of which the next plan takes
// note. Segments only ever go, from the start of a thread; they change
// only with the thread's floor.
func (t *tx) pack(p *packing) error {
	th, err := t.thread(p.thread.name)
	if err != nil {
		return err
	}
	if th == nil || th.num != p.thread.num || th.floor != p.thread.floor {
		return nil
	}
	id := segmentID(th.num, p.segment.last)
	rows, err := t.conn.number("SELECT count(*) FROM segments WHERE id BETWEEN ? AND ?", p.first, id)
	if err != nil || rows != p.rows {
		return broken(err)
	}
	before, err := t.conn.number(selectPackedHead, segmentID(th.num, 0), segmentID(th.num, maxSeq))
	if err != nil || before != p.before {
		return broken(err)
	}
	if err := t.exec("DELETE FROM segments WHERE id BETWEEN ? AND ?", p.first, id); err != nil {
		return err
	}
	if p.joined {
		if err := t.exec("DELETE FROM packed WHERE id = ?", before); err != nil {
			return err
		}
	}
	return t.insert(insertPacked, th.num, p.segment)
}

// Size implements [eventlog.Sizer]: pages in use, without the write-ahead log.
func (l *Log) Size(ctx context.Context) (size int64, err error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	err = l.readers.read(func(c *conn) error {
		var n [3]int64
		for i, pragma := range []string{"page_count", "freelist_count", "page_size"} {
			if n[i], err = c.number("PRAGMA " + pragma); err != nil {
				return failure(l.path, err)
			}
		}
		size = (n[0] - n[1]) * n[2]
		return nil
	})
	return size, err
}
