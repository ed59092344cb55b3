package eventlogtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
)

var readTests = map[string]func(*testing.T, *bench){
	"read/from every cursor":        testEveryCursor,
	"read/then live":                testThenLive,
	"read/a thread that is to come": testThreadToCome,
	"read/gone":                     testGone,
	"read/no thread":                testReadNoThread,
	"read/context":                  testReadContext,
	"read/slow readers":             testSlowReaders,
	"read/while it grows":           testWhileItGrows,
}

func testEveryCursor(t *testing.T, b *bench) {
	var all []string
	for i := range 7 { // batches of 1 to 7
		var batch []string
		for range i + 1 {
			batch = append(batch, fmt.Sprint("e", len(all)+len(batch)+1))
		}
		b.write("t", batch...)
		all = append(all, batch...)
	}
	head := b.write("t")
	for seq := range head.Seq {
		got := b.read(b.log, "t", eventlog.Cursor{Gen: head.Gen, Seq: seq}, len(all)-int(seq))
		for i, r := range got {
			want := eventlog.Cursor{Gen: head.Gen, Seq: seq + uint64(i) + 1}
			if r.Cursor != want || string(r.Data) != all[want.Seq-1] {
				t.Fatalf("after %d: record %d is %v %q", seq, i, r.Cursor, r.Data)
			}
		}
	}
	if got := b.read(b.log, "t", eventlog.Cursor{}, len(all)); got[0].Cursor.Seq != 1 || got[0].Cursor.Gen != head.Gen {
		t.Errorf("from the start: %v", got[0].Cursor)
	}
}

func testThenLive(t *testing.T, b *bench) {
	b.write("t", "1")
	b.write("t", "2")
	var got []eventlog.Record
	for r, err := range b.log.After(b.ctx, "t", eventlog.Cursor{}) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, r); len(got) == 10 {
			break
		}
		// Between two records the log goes on.
		if len(got) <= 4 {
			b.write("t", fmt.Sprint(2*len(got)+1), fmt.Sprint(2*len(got)+2))
		}
	}
	if s := texts(got); s != "1 2 3 4 5 6 7 8 9 10" {
		t.Errorf("got %s", s)
	}
}

func testThreadToCome(t *testing.T, b *bench) {
	got := make(chan eventlog.Record)
	go func() {
		defer close(got)
		for r, err := range b.log.After(b.ctx, "t", eventlog.Cursor{}) {
			if err != nil {
				t.Errorf("after: %v", err)
				return
			}
			got <- r
			if r.Cursor.Seq == 2 {
				return
			}
		}
	}()
	b.write("other", "no")
	b.append(eventlog.Batch{Thread: "t", Put: entries("k", "v")})
	c := b.write("t", "a")
	if r := <-got; r.Cursor != c || string(r.Data) != "a" {
		t.Errorf("got %v %q", r.Cursor, r.Data)
	}
	c = b.write("t", "b")
	if r := <-got; r.Cursor != c || string(r.Data) != "b" {
		t.Errorf("got %v %q", r.Cursor, r.Data)
	}
	<-got
}

func testGone(t *testing.T, b *bench) {
	c := b.write("t", "a", "b")
	b.gone("t", eventlog.Cursor{Gen: c.Gen, Seq: 3})
	b.gone("t", eventlog.Cursor{Gen: c.Gen, Seq: 1<<64 - 1})
	b.gone("t", eventlog.Cursor{Gen: c.Gen + 1, Seq: 1})
	b.gone("t", eventlog.Cursor{Gen: c.Gen + 1})
	b.gone("t", eventlog.Cursor{Seq: 1})
	b.gone("unknown", c)
	b.gone("unknown", eventlog.Cursor{Gen: c.Gen})
}

func testReadNoThread(t *testing.T, b *bench) {
	for _, err := range b.log.After(b.ctx, "", eventlog.Cursor{}) {
		if !errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("got %v", err)
		}
		return
	}
	t.Error("it ended without an error")
}

func testReadContext(t *testing.T, b *bench) {
	b.write("t", "a")
	ctx, cancel := context.WithCancelCause(b.ctx)
	defer cancel(nil)
	n := 0
	for _, err := range b.log.After(ctx, "t", eventlog.Cursor{}) {
		if err != nil {
			t.Errorf("got %v", err)
		}
		n++
		go cancel(errors.New("enough")) // while it waits, most likely
	}
	if n != 1 {
		t.Errorf("%d records", n)
	}
	for r, err := range b.log.After(ctx, "unknown", eventlog.Cursor{}) {
		t.Errorf("after its end: %v, %v", r, err)
	}
}

// testSlowReaders has readers that stop at every record, while others do not.
func testSlowReaders(t *testing.T, b *bench) {
	const n = 2000
	step := make(chan struct{})
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			want := uint64(1)
			for r, err := range b.log.After(b.ctx, "t", eventlog.Cursor{}) {
				if err != nil || r.Cursor.Seq != want {
					t.Errorf("reader %d: %v, %v, want %d", i, r.Cursor, err, want)
					return
				}
				if want++; want > n {
					return
				}
				if i == 0 && want == 3 {
					<-step // until everything is written
				}
			}
			t.Errorf("reader %d ended at %d", i, want)
		})
	}
	pad := make([]byte, 1000) // more than a ring in memory is likely to hold
	for range n / 20 {
		batch := make([]eventlog.Event, 20)
		for i := range batch {
			batch[i] = eventlog.Event{Kind: eventlog.KindEvent, Data: pad}
		}
		b.append(eventlog.Batch{Thread: "t", Events: batch})
	}
	close(step)
	wg.Wait()
}

// testWhileItGrows has readers begin anywhere, at any time, while many write.
func testWhileItGrows(t *testing.T, b *bench) {
	const writers, each, readers = 8, 100, 24
	gen := b.write("t", "first").Gen
	random := rand.New(rand.NewPCG(seed(t), 2))
	starts := make([]uint64, readers)
	for i := range starts {
		starts[i] = random.Uint64N(writers * each)
	}
	var mu sync.Mutex
	head, grown := uint64(1), sync.NewCond(&mu)
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				c, err := b.log.Append(b.ctx, eventlog.Batch{Thread: "t", Events: events(fmt.Sprint(w, "-", n))})
				if err != nil {
					t.Errorf("append: %v", err)
				}
				mu.Lock()
				head = max(head, c.Seq)
				mu.Unlock()
				grown.Broadcast()
			}
		})
	}
	for _, start := range starts {
		wg.Go(func() {
			// As soon as its cursor exists, the reader begins there.
			mu.Lock()
			for head < start && b.ctx.Err() == nil && !t.Failed() {
				grown.Wait()
			}
			mu.Unlock()
			want := start
			for r, err := range b.log.After(b.ctx, "t", eventlog.Cursor{Gen: gen, Seq: start}) {
				if want++; err != nil || r.Cursor != (eventlog.Cursor{Gen: gen, Seq: want}) {
					t.Errorf("after %d: got %v, %v, want %d", start, r.Cursor, err, want)
					return
				}
				if want == 1+writers*each {
					return
				}
			}
			t.Errorf("after %d: it ended at %d", start, want)
		})
	}
	wg.Wait()
}
