package engine

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

// memlog is a log in memory. It blocks on channels only, so that time can stand
// still in a synctest bubble.
type memlog struct {
	now func() time.Time

	mu      sync.Mutex
	threads map[string]*memThread
	global  map[string][]byte
	epoch   uint64
	changed chan struct{}
	gate    chan struct{} // if not nil, each Append takes a token
	broken  error         // what Append fails with
	closed  bool
	appends int
}

type memThread struct {
	gen     uint32
	trimmed uint64 // up to here nothing is left
	floor   uint64 // up to here there is a replacement at most
	records []eventlog.Record
	keys    map[string][]byte
	owner   string
	epoch   uint64
	until   time.Time
}

func newMemlog() *memlog {
	return &memlog{now: time.Now, threads: map[string]*memThread{}, global: map[string][]byte{}, changed: make(chan struct{})}
}

func (l *memlog) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broken = err
}

func (l *memlog) hold() (release func()) {
	gate := make(chan struct{})
	l.mu.Lock()
	l.gate = gate
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		l.gate = nil
		l.mu.Unlock()
		close(gate)
	}
}

func (l *memlog) thread(id string) *memThread {
	t := l.threads[id]
	if t == nil {
		t = &memThread{gen: uint32(len(l.threads) + 1 + int(l.epoch)), keys: map[string][]byte{}}
		l.threads[id] = t
	}
	return t
}

func (t *memThread) head() eventlog.Cursor {
	return eventlog.Cursor{Gen: t.gen, Seq: t.trimmed + uint64(len(t.records))}
}

func (l *memlog) held(t *memThread) bool { return t.owner != "" && l.now().Before(t.until) }

func (l *memlog) Append(ctx context.Context, b eventlog.Batch) (eventlog.Cursor, error) {
	l.mu.Lock()
	gate := l.gate
	l.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return eventlog.Cursor{}, ctx.Err()
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := cmp.Or(l.broken, l.refuses(ctx)); err != nil {
		return eventlog.Cursor{}, err
	}
	if b.Thread == "" && (b.Epoch != 0 || b.Expect != nil || len(b.Events)+len(b.Put)+len(b.Delete) > 0) {
		return eventlog.Cursor{}, eventlog.ErrInvalid
	}
	l.appends++
	var head eventlog.Cursor
	if b.Thread != "" {
		t := l.threads[b.Thread]
		if t == nil && b.Epoch != 0 {
			return head, eventlog.ErrFenced
		} else if t == nil && b.Expect != nil && *b.Expect != 0 {
			return head, eventlog.ErrConflict
		}
		t = l.thread(b.Thread)
		switch {
		case b.Epoch == 0 && l.held(t), b.Epoch != 0 && b.Epoch != t.epoch:
			return head, eventlog.ErrFenced
		case b.Expect != nil && *b.Expect != t.head().Seq:
			return head, eventlog.ErrConflict
		}
		for _, e := range b.Events {
			c := eventlog.Cursor{Gen: t.gen, Seq: t.head().Seq + 1}
			t.records = append(t.records, eventlog.Record{Cursor: c, Kind: e.Kind, Run: e.Run, Data: slices.Clone(e.Data)})
		}
		edit(t.keys, b.Put, b.Delete)
		head = t.head()
	}
	edit(l.global, b.PutGlobal, b.DeleteGlobal)
	l.wake()
	return head, nil
}

// refuses is why the log does nothing, if so. Its lock is held.
func (l *memlog) refuses(ctx context.Context) error {
	if l.closed {
		return eventlog.ErrClosed
	}
	return ctx.Err()
}

func (l *memlog) wake() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func edit(m map[string][]byte, put []eventlog.Entry, del []string) {
	for _, k := range del {
		delete(m, k)
	}
	for _, e := range put {
		m[e.Key] = slices.Clone(e.Value)
	}
}

func (l *memlog) After(ctx context.Context, thread string, after eventlog.Cursor) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		fromStart, seen := after.IsZero(), uint64(0)
		for ctx.Err() == nil {
			l.mu.Lock()
			changed := l.changed
			t := l.threads[thread]
			var page []eventlog.Record
			gone, closed := !after.IsZero(), l.closed
			if t != nil {
				if after.IsZero() {
					after, seen = eventlog.Cursor{Gen: t.gen, Seq: t.trimmed}, t.floor
				}
				below := after.Seq < t.floor && !(fromStart && seen == t.floor)
				if gone = after.Gen != t.gen || below || after.Seq > t.head().Seq; !gone {
					page = slices.Clone(t.records[after.Seq-t.trimmed:])
				}
			}
			l.mu.Unlock()
			if closed {
				yield(eventlog.Record{}, eventlog.ErrClosed)
				return
			}
			if gone {
				yield(eventlog.Record{}, eventlog.ErrGone)
				return
			}
			for _, r := range page {
				if after = r.Cursor; !yield(r, nil) {
					return
				}
			}
			if len(page) == 0 {
				select {
				case <-changed:
				case <-ctx.Done():
				}
			}
		}
	}
}

func (l *memlog) View(ctx context.Context, thread string, fn func(eventlog.View) error) error {
	l.mu.Lock()
	if err := l.refuses(ctx); err != nil {
		l.mu.Unlock()
		return err
	}
	v := &memView{global: maps.Clone(l.global)}
	if t := l.threads[thread]; t != nil {
		v.keys, v.records, v.at = maps.Clone(t.keys), slices.Clone(t.records), t.head()
	}
	l.mu.Unlock()
	return fn(v)
}

func (l *memlog) Lease(ctx context.Context, thread, owner string, ttl time.Duration) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refuses(ctx); err != nil {
		return 0, err
	}
	if thread == "" || owner == "" {
		return 0, eventlog.ErrInvalid
	}
	t := l.thread(thread)
	if ttl <= 0 {
		if t.owner == owner {
			t.owner, t.epoch = "", 0
		}
		return 0, nil
	}
	if t.owner != owner && l.held(t) {
		return 0, eventlog.ErrHeld
	}
	if t.owner != owner {
		l.epoch++
		t.owner, t.epoch = owner, l.epoch
	}
	t.until = l.now().Add(ttl)
	return t.epoch, nil
}

func (l *memlog) Takeover(ctx context.Context, owner string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refuses(ctx); err != nil {
		return err
	}
	for _, t := range l.threads {
		if t.owner != owner {
			t.owner, t.epoch = "", 0
		}
	}
	return nil
}

func (l *memlog) Trim(ctx context.Context, thread string, upTo eventlog.Cursor, replacement []eventlog.Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refuses(ctx); err != nil {
		return err
	}
	t := l.threads[thread]
	if t == nil || t.gen != upTo.Gen || upTo.Seq > t.head().Seq || upTo.Seq < t.floor {
		return eventlog.ErrGone
	}
	if uint64(len(replacement)) > upTo.Seq {
		return eventlog.ErrInvalid
	}
	rest := t.records[upTo.Seq-t.trimmed:]
	t.trimmed, t.floor, t.records = upTo.Seq-uint64(len(replacement)), upTo.Seq, nil
	for _, e := range replacement {
		c := eventlog.Cursor{Gen: t.gen, Seq: t.head().Seq + 1}
		t.records = append(t.records, eventlog.Record{Cursor: c, Kind: e.Kind, Run: e.Run, Data: slices.Clone(e.Data)})
	}
	t.records = append(t.records, rest...)
	l.wake()
	return nil
}

func (l *memlog) DeleteThread(ctx context.Context, thread string, epoch uint64, b eventlog.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refuses(ctx); err != nil {
		return err
	}
	if t := l.threads[thread]; t != nil && (t.epoch != epoch && epoch != 0 || epoch == 0 && l.held(t)) {
		return eventlog.ErrFenced
	}
	l.epoch += 100 // so that a thread made anew has another generation
	delete(l.threads, thread)
	edit(l.global, b.PutGlobal, b.DeleteGlobal)
	l.wake()
	return nil
}

func (l *memlog) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.wake()
	return nil
}

type memView struct {
	keys, global map[string][]byte
	records      []eventlog.Record
	at           eventlog.Cursor
}

func (v *memView) Get(key string) ([]byte, error)       { return v.keys[key], nil }
func (v *memView) GetGlobal(key string) ([]byte, error) { return v.global[key], nil }
func (v *memView) Head() (eventlog.Cursor, error)       { return v.at, nil }

func (v *memView) Keys(prefix, after string, limit int) iter.Seq2[eventlog.Entry, error] {
	return list(v.keys, prefix, after, limit)
}

func (v *memView) GlobalKeys(prefix, after string, limit int) iter.Seq2[eventlog.Entry, error] {
	return list(v.global, prefix, after, limit)
}

func list(m map[string][]byte, prefix, after string, limit int) iter.Seq2[eventlog.Entry, error] {
	return func(yield func(eventlog.Entry, error) bool) {
		n := 0
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !strings.HasPrefix(k, prefix) || k <= after {
				continue
			}
			if limit > 0 && n == limit || !yield(eventlog.Entry{Key: k, Value: m[k]}, nil) {
				return
			}
			n++
		}
	}
}

func (v *memView) Records(after uint64, limit int) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		n := 0
		for _, r := range v.records {
			if r.Cursor.Seq <= after {
				continue
			}
			if limit > 0 && n == limit || !yield(r, nil) {
				return
			}
			n++
		}
	}
}

var errDisk = errors.New("the disk is full")
