package engine

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"strings"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
)

// Events yields the thread's log after a cursor and then what comes, until ctx
// ends. The first error ends it; cursor_gone says that the cursor is of no use.
// An unknown thread is an empty log.
func (e *Engine) Events(ctx context.Context, thread string, after eventlog.Cursor, o EventOptions) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		if strings.HasPrefix(thread, "\x00") {
			return // the engine's own
		}
		c := e.use(thread)
		defer c.release()
		if err := c.heal(ctx); err != nil {
			yield(Frame{}, storage(err))
			return
		}
		after, over, err := c.place(ctx, after, o)
		if err != nil {
			yield(Frame{}, storage(err))
		}
		if err != nil || over {
			return
		}
		for f, err := range e.frames(ctx, c, thread, after, o) {
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// place finds where to begin; over says that nothing is to come.
func (c *conversation) place(ctx context.Context, after eventlog.Cursor, o EventOptions) (_ eventlog.Cursor, over bool, err error) {
	if o.Tail <= 0 && o.Run == "" {
		return after, false, nil
	}
	err = c.view(ctx, func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) error {
		if o.Tail > 0 && after.IsZero() {
			if after, err = tail(v, head, rec.floor(), o); err != nil {
				return err
			}
		}
		if o.Run == "" {
			return nil
		}
		run, err := getRun(v, o.Run)
		if err != nil {
			return err
		}
		if run == nil {
			return refuse("run_unknown", "no run %q in thread %q", o.Run, c.id)
		}
		over = run.ToSeq > 0 && run.ToSeq <= after.Seq
		if after.IsZero() && run.FromSeq > 0 {
			after = eventlog.Cursor{Gen: head.Gen, Seq: run.FromSeq - 1}
		}
		return nil
	})
	return after, over, err
}

// tail gives the place after which there are as many records as are asked for, of
// those that the reader gets; the zero cursor if there are no more of them.
func tail(v eventlog.View, head eventlog.Cursor, floor uint64, o EventOptions) (eventlog.Cursor, error) {
	for back := uint64(o.Tail); ; back *= 2 {
		start := max(floor, head.Seq-min(back, head.Seq))
		if o.Notes && start > floor {
			return eventlog.Cursor{Gen: head.Gen, Seq: start}, nil
		}
		var seqs []uint64
		for r, err := range v.Records(start, 0) {
			if err != nil {
				return eventlog.Cursor{}, err
			}
			if o.Notes || r.Kind == eventlog.KindEvent {
				seqs = append(seqs, r.Cursor.Seq)
			}
		}
		if n := len(seqs) - o.Tail; n > 0 || n == 0 && start > floor {
			return eventlog.Cursor{Gen: head.Gen, Seq: seqs[n] - 1}, nil
		}
		if start == floor {
			return eventlog.Cursor{}, nil
		}
	}
}

// frames yields the records of a log as frames. c is the thread's conversation, which
// the caller uses, or nil for a log that is no thread's.
func (e *Engine) frames(ctx context.Context, c *conversation, thread string, after eventlog.Cursor, o EventOptions) iter.Seq2[Frame, error] {
	records := e.o.Log.After
	if o.NoWait {
		records = e.stored
	}
	return func(yield func(Frame, error) bool) {
		m := more{e: e, c: c, thread: thread}
		var last Frame // kept back while records follow at once, since none of them may be wanted
		held := false
		release := func(more bool) bool {
			if !held {
				return true
			}
			held, last.More = false, more
			return yield(last, nil)
		}
		for r, err := range records(ctx, thread, after) {
			if err != nil {
				if release(false) {
					yield(Frame{}, readError(thread, err))
				}
				return
			}
			note := r.Kind != eventlog.KindEvent
			if (!note || o.Notes) && (o.Run == "" || r.Run == o.Run) {
				if !release(true) {
					return
				}
				held, last = true, Frame{ID: r.Cursor.String(), Data: r.Data, Run: r.Run, Note: note, Terminal: !note && terminal(r.Data)}
				if last.Terminal && o.Run != "" {
					break
				}
			}
			if !m.after(ctx, r.Cursor.Seq) && !release(false) {
				return
			}
		}
		release(false)
	}
}

// more tells whether there is more behind a record, without asking the log for
// each.
type more struct {
	e      *Engine
	c      *conversation
	thread string
	head   uint64 // as last seen
	looked bool
}

func (m *more) after(ctx context.Context, seq uint64) bool {
	if seq < m.head {
		return true
	}
	if m.c != nil {
		if t := m.c.open(); t != nil {
			t.j.mu.Lock()
			m.head = t.j.head.Seq
			t.j.mu.Unlock()
			return seq < m.head
		}
	}
	if !m.looked { // the catch-up of a thread that is idle
		m.looked = true
		_ = m.e.o.Log.View(ctx, m.thread, func(v eventlog.View) error {
			head, err := v.Head()
			m.head = head.Seq
			return err
		})
	}
	return seq < m.head
}

var terminals = [][]byte{
	[]byte(`{"type":"` + agui.TypeRunFinished + `"`),
	[]byte(`{"type":"` + agui.TypeRunError + `"`),
}

// terminal reports whether a stored event ends a run: the encoder writes the
// type first.
func terminal(data []byte) bool {
	return bytes.HasPrefix(data, terminals[0]) || bytes.HasPrefix(data, terminals[1])
}

func readError(thread string, err error) error {
	if errors.Is(err, eventlog.ErrGone) {
		return &Error{Code: "cursor_gone", Thread: thread, Err: err,
			Message: "the log no longer has what came after this cursor; fetch the thread's messages and go on from their cursor"}
	}
	return storage(err)
}

// storedPage is how many records are read in one view.
const storedPage = 1024

// stored yields what the log has after a cursor now, as Log.After does but
// without waiting for more.
func (e *Engine) stored(ctx context.Context, thread string, after eventlog.Cursor) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		if err := e.Seek(ctx, thread, after); err != nil {
			yield(eventlog.Record{}, err)
			return
		}
		var end uint64
		for first := true; first || after.Seq < end; first = false {
			var page []eventlog.Record
			err := e.o.Log.View(ctx, thread, func(v eventlog.View) error {
				if first {
					head, err := v.Head()
					if err != nil {
						return err
					}
					end = head.Seq
				}
				for r, err := range v.Records(after.Seq, storedPage) {
					if err != nil {
						return err
					}
					page = append(page, r)
				}
				return nil
			})
			if err != nil {
				yield(eventlog.Record{}, err)
				return
			}
			for _, r := range page {
				if r.Cursor.Seq > end || !yield(r, nil) {
					return
				}
				after = r.Cursor
			}
			if len(page) == 0 {
				return
			}
		}
	}
}
