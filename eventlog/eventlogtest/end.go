package eventlogtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

var endTests = map[string]func(*testing.T, *bench){
	"close/everything is refused":  testClosed,
	"close/readers end":            testCloseReaders,
	"close/writers are waited for": testCloseWriters,
	"close/reopen":                 testReopen,
}

func testClosed(t *testing.T, b *bench) {
	c := b.write("t", "a")
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := b.log.Close(); err != nil {
		t.Errorf("a second time: %v", err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("%s: got %v, want ErrClosed", what, err)
		}
	}
	b.refuse(eventlog.Batch{Thread: "t", Events: events("b")}, eventlog.ErrClosed)
	_, err := b.log.Lease(b.ctx, "t", "o", ttl)
	refused("lease", err)
	refused("trim", b.log.Trim(b.ctx, "t", c, nil))
	refused("view", b.log.View(b.ctx, "t", func(eventlog.View) error { return nil }))
	err = nil
	for _, e := range b.log.After(b.ctx, "t", eventlog.Cursor{}) {
		err = e
	}
	refused("after", err)
	if l, ok := b.log.(eventlog.ThreadDeleter); ok {
		refused("delete", l.DeleteThread(b.ctx, "t", 0, eventlog.Batch{}))
	}
	if l, ok := b.log.(eventlog.LeaseTaker); ok {
		refused("takeover", l.Takeover(b.ctx, "me"))
	}
}

func testCloseReaders(t *testing.T, b *bench) {
	b.write("t", "a")
	started := make(chan struct{}, 8)
	results := make(chan error, 8)
	for i := range cap(results) {
		thread, after := "t", eventlog.Cursor{}
		if i%2 == 1 {
			thread = "never"
			started <- struct{}{}
		}
		go func() {
			var last error
			for r, err := range b.log.After(b.ctx, thread, after) {
				if last = err; err == nil && r.Cursor.Seq == 1 {
					started <- struct{}{}
				}
			}
			results <- last
		}()
	}
	for range cap(started) {
		<-started
	}
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	for range cap(results) {
		if err := <-results; !errors.Is(err, eventlog.ErrClosed) {
			t.Errorf("a reader ended with %v", err)
		}
	}
}

func testCloseWriters(t *testing.T, b *bench) {
	var mu sync.Mutex
	acknowledged := 0
	under := make(chan struct{}, 16)
	var wg sync.WaitGroup
	for range cap(under) {
		wg.Go(func() {
			for i := 0; ; i++ {
				_, err := b.log.Append(context.Background(), eventlog.Batch{Thread: "t", Events: events("a")})
				if err != nil {
					if !errors.Is(err, eventlog.ErrClosed) {
						t.Errorf("append: %v", err)
					}
					return
				}
				mu.Lock()
				acknowledged++
				mu.Unlock()
				if i == 0 {
					under <- struct{}{}
				}
			}
		})
	}
	for range cap(under) {
		<-under
	}
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	b.log = b.open()
	if got := len(b.state("t")); got != acknowledged {
		t.Errorf("%d were acknowledged, %d are there", acknowledged, got)
	}
}

func testReopen(t *testing.T, b *bench) {
	c := b.append(eventlog.Batch{Thread: "t", Events: events("1"), Put: entries("k", "v"), PutGlobal: entries("g", "v")})
	b.reopen()
	b.want("t", "1 1 run 1", "k=v", "global g=v")
	if d := b.write("t", "2"); d != (eventlog.Cursor{Gen: c.Gen, Seq: 2}) {
		t.Errorf("the next record is %v after %v", d, c)
	}
	if got := texts(b.read(b.log, "t", c, 1)); got != "2" {
		t.Errorf("after %v: %s", c, got)
	}
}

// sharedTests have two logs open on one store.
var sharedTests = map[string]func(*testing.T, *bench){
	"shared/appends":  testSharedAppends,
	"shared/readers":  testSharedReaders,
	"shared/leases":   testSharedLeases,
	"shared/deletion": testSharedDeletion,
}

func testSharedAppends(t *testing.T, b *bench) {
	logs := []eventlog.Log{b.log, b.open()}
	const each = 50
	var wg sync.WaitGroup
	for i, l := range logs {
		wg.Go(func() {
			for n := range each {
				if _, err := l.Append(b.ctx, eventlog.Batch{Thread: "t", Events: events(fmt.Sprint(i, "-", n))}); err != nil {
					t.Errorf("append: %v", err)
					return
				}
			}
		})
	}
	wg.Wait()
	for _, l := range logs {
		next := [2]int{}
		for i, r := range b.read(l, "t", eventlog.Cursor{}, 2*each) {
			var who, n int
			if _, err := fmt.Sscanf(string(r.Data), "%d-%d", &who, &n); err != nil || next[who] != n || r.Cursor.Seq != uint64(i+1) {
				t.Fatalf("record %d is %v %q, %v", i, r.Cursor, r.Data, err)
			}
			next[who]++
		}
	}
}

func testSharedReaders(t *testing.T, b *bench) {
	other := b.open()
	got := make(chan eventlog.Record)
	go func() {
		defer close(got)
		for r, err := range b.log.After(b.ctx, "t", eventlog.Cursor{}) {
			if err != nil {
				t.Errorf("after: %v", err)
				return
			}
			got <- r
			if r.Cursor.Seq == 4 {
				return
			}
		}
	}()
	for i, l := range []eventlog.Log{other, b.log, other, other} {
		c, err := l.Append(b.ctx, eventlog.Batch{Thread: "t", Events: events(fmt.Sprint(i))})
		if err != nil {
			t.Fatal(err)
		}
		if r := <-got; r.Cursor != c || string(r.Data) != fmt.Sprint(i) {
			t.Errorf("got %v %q, want %v", r.Cursor, r.Data, c)
		}
	}
	<-got
}

func testSharedLeases(t *testing.T, b *bench) {
	other := b.open()
	first := b.lease("t", "a")
	b.append(eventlog.Batch{Thread: "t", Epoch: first, Events: events("1")})
	if _, err := other.Lease(b.ctx, "t", "b", ttl); !errors.Is(err, eventlog.ErrHeld) {
		t.Errorf("lease: %v", err)
	}
	b.pass(ttl + time.Second)
	second, err := other.Lease(b.ctx, "t", "b", ttl)
	if err != nil || second <= first {
		t.Fatalf("lease: %d, %v", second, err)
	}
	// The first log has not looked since.
	b.refuse(eventlog.Batch{Thread: "t", Epoch: first, Events: events("late")}, eventlog.ErrFenced)
	if _, err := other.Append(b.ctx, eventlog.Batch{Thread: "t", Epoch: second, Events: events("2")}); err != nil {
		t.Error(err)
	}
	b.want("t", "1 1 run 1", "2 1 run 2")
}

func testSharedDeletion(t *testing.T, b *bench) {
	b.deleter()
	other := b.open()
	c := b.write("t", "1", "2", "3")
	if err := other.(eventlog.ThreadDeleter).DeleteThread(b.ctx, "t", 0, eventlog.Batch{}); err != nil {
		t.Fatal(err)
	}
	if d := b.write("t", "anew"); d.Seq != 1 || d.Gen == c.Gen {
		t.Errorf("the new thread begins at %v, the old one ended at %v", d, c)
	}
	b.gone("t", c)
}
