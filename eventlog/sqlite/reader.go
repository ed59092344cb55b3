package sqlite

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/agentstream-go/agentstream/eventlog"
)

// chunkBytes is about how much a reader that catches up reads at once, in bytes. It
// holds no transaction while its records are consumed, but it holds them, however
// slow its consumer is.
const chunkBytes = 128 << 10

// After implements [eventlog.Log].
func (l *Log) After(ctx context.Context, thread string, after eventlog.Cursor) iter.Seq2[eventlog.Record, error] {
	if thread == "" {
		return func(yield func(eventlog.Record, error) bool) {
			yield(eventlog.Record{}, fmt.Errorf("%w: no thread", eventlog.ErrInvalid))
		}
	}
	// A thousand readers wait in here: what is on their stacks counts.
	return func(yield func(eventlog.Record, error) bool) {
		r := &reader{log: l, thread: thread, pos: after, yield: yield, topic: l.hub.join(thread)}
		defer l.hub.leave(thread, r.topic)
		r.end(ctx, r.run(ctx))
	}
}

// end tells the consumer of what ended the run, unless it did so itself.
func (r *reader) end(ctx context.Context, err error) {
	if r.stopped || err == nil || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return
	}
	r.yield(eventlog.Record{}, err)
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
		segs[i] = segment{} // not kept while a slow consumer takes the others
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
