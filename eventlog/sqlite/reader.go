package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/agentstream-go/agentstream/eventlog"
)

const (
	// chunkBytes is how much a reader that catches up reads at once, in
	// bytes. It holds no transaction while its records are consumed.
	chunkBytes = 1 << 20
	// idleConns is how many reading connections are kept.
	idleConns = 4
	// maxCatchUps is how many readers may read from the file at once.
	maxCatchUps = 8
)

// readers is the pool of connections that read.
type readers struct {
	path   string
	mu     sync.Mutex
	idle   []*conn
	closed bool
	busy   sync.WaitGroup
	slots  chan struct{}
}

func (r *readers) init(path string) {
	r.path = path
	r.slots = make(chan struct{}, maxCatchUps)
}

func (r *readers) get() (*conn, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, eventlog.ErrClosed
	}
	r.busy.Add(1)
	if n := len(r.idle); n > 0 {
		c := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return c, nil
	}
	r.mu.Unlock()
	c, err := open(r.path, "query_only=1", "cache_size=-4096")
	if err != nil {
		r.busy.Done()
		return nil, failure(r.path, err)
	}
	return c, nil
}

func (r *readers) put(c *conn) {
	defer r.busy.Done()
	r.mu.Lock()
	if len(r.idle) < idleConns && !r.closed {
		r.idle = append(r.idle, c)
		c = nil
	}
	r.mu.Unlock()
	if c != nil {
		_ = c.close() // it only read
	}
}

// close waits for those that read.
func (r *readers) close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.busy.Wait()
	var errs []error
	for _, c := range r.idle {
		errs = append(errs, c.close())
	}
	r.idle = nil
	return errors.Join(errs...)
}

// read calls fn within one read transaction.
func (r *readers) read(fn func(*conn) error) error {
	c, err := r.get()
	if err != nil {
		return err
	}
	defer r.put(c)
	if err := c.run("BEGIN"); err != nil {
		return failure(r.path, err)
	}
	defer func() { _ = c.run("ROLLBACK") }() // it only read
	return fn(c)
}

// After implements [eventlog.Log].
func (l *Log) After(ctx context.Context, thread string, after eventlog.Cursor) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		if thread == "" {
			yield(eventlog.Record{}, fmt.Errorf("%w: no thread", eventlog.ErrInvalid))
			return
		}
		r := &reader{log: l, thread: thread, pos: after, yield: yield, topic: l.hub.join(thread)}
		defer l.hub.leave(thread, r.topic)
		switch err := r.run(ctx); {
		case r.stopped || err == nil:
		case ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		default:
			yield(eventlog.Record{}, err)
		}
	}
}

// reader is one iteration of After.
type reader struct {
	log     *Log
	thread  string
	topic   *topic
	pos     eventlog.Cursor // of the last record that was yielded
	decoder decoder
	yield   func(eventlog.Record, error) bool
	stopped bool // the consumer wants no more
}

func (r *reader) run(ctx context.Context) error {
	// The file is read once, whatever the ring says: it knows whether
	// the cursor is a good one.
	stale, version := true, r.topic.current()
	var segs []segment
	for !r.stopped {
		if ctx.Err() != nil {
			return nil
		}
		if r.log.closed() {
			return eventlog.ErrClosed
		}
		if stale {
			if err := r.catchUp(ctx); err != nil || r.stopped {
				return err
			}
		}
		var wake <-chan struct{}
		segs, wake, stale, version = r.topic.next(segs[:0], r.pos, version)
		if wake != nil {
			select {
			case <-wake:
			case <-ctx.Done():
			case <-r.log.done:
			}
			continue
		}
		if err := r.deliver(ctx, segs); err != nil {
			return err
		}
		clear(segs)
	}
	return nil
}

// current returns the version that whoever reads the file from now on knows.
func (t *topic) current() uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.version
}

// deliver yields what the segments hold after the reader's position.
func (r *reader) deliver(ctx context.Context, segs []segment) error {
	for i := range segs {
		if ctx.Err() != nil {
			return nil
		}
		_, err := r.decoder.each(&segs[i], r.pos.Seq, func(rec eventlog.Record) bool {
			r.pos = rec.Cursor
			r.stopped = !r.yield(rec, nil)
			return !r.stopped
		})
		if err != nil {
			return damaged(r.log.path, "record %d: %w", segs[i].last, err)
		}
		if r.stopped {
			return nil
		}
	}
	return nil
}

// catchUp reads from the file until there is nothing more.
func (r *reader) catchUp(ctx context.Context) error {
	for {
		segs, more, err := r.chunk(ctx)
		if err != nil {
			return err
		}
		if err := r.deliver(ctx, segs); err != nil || r.stopped || !more || ctx.Err() != nil {
			return err
		}
	}
}

// chunk reads some segments after the reader's position.
func (r *reader) chunk(ctx context.Context) (segs []segment, more bool, err error) {
	slots := r.log.readers.slots
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	err = r.log.readers.read(func(c *conn) error {
		th, err := r.validate(c)
		if err != nil || th == nil {
			return err
		}
		if segs, more, err = c.segments(r.log.path, th, r.pos.Seq); err != nil || len(segs) > 0 {
			return err
		}
		head, err := c.head(r.log.path, th)
		if err == nil && r.pos.Seq > head {
			err = fmt.Errorf("%w: the last record is %d", eventlog.ErrGone, head)
		}
		return err
	})
	return segs, more, err
}

// validate finds out whether the reader's position can be served, as far as the
// thread alone says. The thread is nil if there is none yet.
func (r *reader) validate(c *conn) (*thread, error) {
	th, err := c.thread(r.thread)
	if err != nil {
		return nil, failure(r.log.path, err)
	}
	switch {
	case th == nil && r.pos.IsZero():
		return nil, nil
	case th == nil:
		return nil, fmt.Errorf("%w: there is no such thread", eventlog.ErrGone)
	case r.pos.IsZero():
	case r.pos.Gen != th.gen:
		return nil, fmt.Errorf("%w: the log has been made anew", eventlog.ErrGone)
	case r.pos.Seq != 0 && r.pos.Seq < th.floor:
		return nil, fmt.Errorf("%w: what came after it was trimmed", eventlog.ErrGone)
	}
	return th, nil
}

// thread reads a thread, without its head.
func (c *conn) thread(name string) (*thread, error) {
	row, err := c.first(selectThread, name)
	if err != nil || row == nil {
		return nil, err
	}
	th := &thread{name: name}
	th.read(row)
	return th, nil
}

// stored reads the number of the last record that is not in the journal.
func (c *conn) stored(th *thread) (uint64, error) {
	head, err := c.number(selectHead, segmentID(th.num, 0), segmentID(th.num, maxSeq))
	return max(uint64(head)&maxSeq, th.floor), err
}

// head reads the number of the last record.
func (c *conn) head(path string, th *thread) (uint64, error) {
	head, err := c.stored(th)
	if err != nil {
		return 0, failure(path, err)
	}
	err = c.journaled(path, func(num int64, s segment) error {
		if num == th.num {
			head = s.last
		}
		return nil
	})
	return head, failure(path, err)
}

// segments reads those that hold records after seq, about chunkBytes of them. It
// does not stop within what replaces trimmed records: a position in there could
// not be gone on from.
func (c *conn) segments(path string, th *thread, seq uint64) (segs []segment, more bool, err error) {
	size, limit := 0, max(th.floor, 1)
	add := func(s segment) error {
		if n := len(segs); n > 0 && segs[n-1].last+1 != s.first() {
			return damaged(path, "thread %q: records %d to %d are missing", th.name, segs[n-1].last+1, s.first()-1)
		}
		segs = append(segs, s)
		size += len(s.data)
		return nil
	}
	err = c.each(func(row []driver.Value) (bool, error) {
		s, err := readSegment(path, th.gen, row)
		if err != nil {
			return false, err
		}
		more = size+len(s.data) >= chunkBytes && s.last >= limit
		return !more, add(s)
	}, selectSegments, segmentID(th.num, seq), segmentID(th.num, maxSeq))
	if err == nil && !more {
		err = c.journaled(path, func(num int64, s segment) error {
			if num != th.num || s.last <= seq {
				return nil
			}
			s.gen = th.gen
			return add(s)
		})
	}
	return segs, more, failure(path, err)
}
