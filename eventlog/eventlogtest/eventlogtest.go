// Package eventlogtest checks whether a store keeps the rules of package
// eventlog. A store's test calls [Run] and nothing else.
package eventlogtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/eventlog"
)

// Store says how the store that is tested is opened.
type Store struct {
	// Open opens the store that is kept in the folder, and makes it if there
	// is none. Leases run by now.
	Open func(dir string, now func() time.Time) (eventlog.Log, error)
	// Shared says that several logs may be open on one folder at once.
	Shared bool
}

// Run runs all tests as subtests of t.
func Run(t *testing.T, s Store) {
	t.Helper()
	for _, group := range []map[string]func(*testing.T, *bench){
		appendTests, readTests, viewTests, leaseTests, pastTests, compactTests, endTests, modelTests,
	} {
		for _, name := range slices.Sorted(keysOf(group)) {
			t.Run(name, func(t *testing.T) { group[name](t, newBench(t, s)) })
		}
	}
	if s.Shared {
		for _, name := range slices.Sorted(keysOf(sharedTests)) {
			t.Run(name, func(t *testing.T) { sharedTests[name](t, newBench(t, s)) })
		}
	}
}

func keysOf[V any](m map[string]V) iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// bench is what a test works with: one store, a log on it and a clock.
type bench struct {
	t     *testing.T
	store Store
	dir   string
	log   eventlog.Log
	ctx   context.Context

	mu  sync.Mutex
	now time.Time
}

// patience is how long a test waits for something that must happen.
const patience = 60 * time.Second

func newBench(t *testing.T, s Store) *bench {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	b := &bench{t: t, store: s, dir: t.TempDir(), ctx: ctx, now: time.Date(2024, 2, 29, 12, 0, 0, 0, time.UTC)}
	b.log = b.open()
	return b
}

func (b *bench) open() eventlog.Log {
	b.t.Helper()
	l, err := b.store.Open(b.dir, b.clock)
	if err != nil {
		b.t.Fatalf("open: %v", err)
	}
	b.t.Cleanup(func() {
		if c, ok := l.(io.Closer); ok {
			_ = c.Close()
		}
	})
	return l
}

func (b *bench) reopen() {
	b.t.Helper()
	if err := b.log.Close(); err != nil {
		b.t.Fatalf("close: %v", err)
	}
	b.log = b.open()
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// events makes one event of each text.
func events(texts ...string) []eventlog.Event {
	list := make([]eventlog.Event, len(texts))
	for i, text := range texts {
		list[i] = eventlog.Event{Kind: eventlog.KindEvent, Run: "run", Data: []byte(text)}
	}
	return list
}

func entries(pairs ...string) (list []eventlog.Entry) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, eventlog.Entry{Key: pairs[i], Value: []byte(pairs[i+1])})
	}
	return list
}

// append must succeed.
func (b *bench) append(batch eventlog.Batch) eventlog.Cursor {
	b.t.Helper()
	c, err := b.log.Append(b.ctx, batch)
	if err != nil {
		b.t.Fatalf("append: %v", err)
	}
	return c
}

// write appends one event of each text to the thread.
func (b *bench) write(thread string, texts ...string) eventlog.Cursor {
	b.t.Helper()
	return b.append(eventlog.Batch{Thread: thread, Events: events(texts...)})
}

// refuse appends and wants the error.
func (b *bench) refuse(batch eventlog.Batch, want error) {
	b.t.Helper()
	if c, err := b.log.Append(b.ctx, batch); !errors.Is(err, want) || c != (eventlog.Cursor{}) {
		b.t.Errorf("append: got %v, %v, want %v", c, err, want)
	}
}

// state is everything that a view shows, as text.
func (b *bench) state(thread string) []string {
	b.t.Helper()
	var state []string
	err := b.log.View(b.ctx, thread, func(v eventlog.View) (err error) {
		state, err = describe(v)
		return err
	})
	if err != nil {
		b.t.Fatalf("view: %v", err)
	}
	return state
}

func describe(v eventlog.View) (state []string, err error) {
	for r, err := range v.Records(0, 0) {
		if err != nil {
			return nil, err
		}
		state = append(state, fmt.Sprintf("%d %d %s %s", r.Cursor.Seq, r.Kind, r.Run, r.Data))
	}
	for e, err := range v.Keys("", "", 0) {
		if err != nil {
			return nil, err
		}
		state = append(state, fmt.Sprintf("%s=%s", e.Key, e.Value))
	}
	for e, err := range v.GlobalKeys("", "", 0) {
		if err != nil {
			return nil, err
		}
		state = append(state, fmt.Sprintf("global %s=%s", e.Key, e.Value))
	}
	return state, nil
}

func (b *bench) want(thread string, want ...string) {
	b.t.Helper()
	if diff := cmp.Diff(want, b.state(thread)); diff != "" {
		b.t.Errorf("thread %q (-want +got):\n%s", thread, diff)
	}
}

// read reads n records after the cursor from l.
func (b *bench) read(l eventlog.Log, thread string, after eventlog.Cursor, n int) []eventlog.Record {
	b.t.Helper()
	var got []eventlog.Record
	for r, err := range l.After(b.ctx, thread, after) {
		if err != nil {
			b.t.Fatalf("after %v: %v", after, err)
		}
		if got = append(got, r); len(got) == n {
			return got
		}
	}
	b.t.Fatalf("after %v: only %d of %d records came", after, len(got), n)
	return nil
}

// gone wants ErrGone as the only thing that a reader gets.
func (b *bench) gone(thread string, after eventlog.Cursor) {
	b.t.Helper()
	for r, err := range b.log.After(b.ctx, thread, after) {
		if !errors.Is(err, eventlog.ErrGone) {
			b.t.Errorf("after %v: got %v, %v, want ErrGone", after, r, err)
			return
		}
		return
	}
	b.t.Errorf("after %v: it ended without ErrGone", after)
}

func texts(records []eventlog.Record) string {
	var s []string
	for _, r := range records {
		s = append(s, string(r.Data))
	}
	return strings.Join(s, " ")
}

// seed is fixed, so that a failure comes again; AGENTSTREAM_SEED sets another.
func seed(t *testing.T) uint64 {
	t.Helper()
	n := uint64(1)
	if s := os.Getenv("AGENTSTREAM_SEED"); s != "" {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("AGENTSTREAM_SEED: %v", err)
		}
		n = v
	}
	t.Logf("AGENTSTREAM_SEED=%d", n)
	return n
}
