package eventlogtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
)

var appendTests = map[string]func(*testing.T, *bench){
	"append/dense sequence":           testDense,
	"append/batch":                    testBatch,
	"append/conflict":                 testConflict,
	"append/invalid":                  testInvalid,
	"append/keys only":                testKeysOnly,
	"append/global only":              testGlobalOnly,
	"append/the caller's memory":      testCallersMemory,
	"append/cancelled":                testCancelledAppend,
	"append/many threads at once":     testManyThreads,
	"append/one thread, many at once": testOneThread,
	"append/one bad among many":       testOneBad,
	"append/big payloads":             testBig,
	"append/any bytes":                testAnyBytes,
}

func testDense(t *testing.T, b *bench) {
	first := b.write("t", "a")
	if first.Seq != 1 || first.Gen == 0 {
		t.Errorf("the first cursor is %v", first)
	}
	second := b.write("t", "b", "c", "d")
	if second != (eventlog.Cursor{Gen: first.Gen, Seq: 4}) {
		t.Errorf("the second cursor is %v", second)
	}
	if c := b.write("t"); c != second {
		t.Errorf("an empty batch moved the cursor to %v", c)
	}
	if other := b.write("u", "a"); other.Seq != 1 {
		t.Errorf("another thread begins at %v", other)
	}
	b.want("t", "1 1 run a", "2 1 run b", "3 1 run c", "4 1 run d")
}

func testBatch(t *testing.T, b *bench) {
	b.append(eventlog.Batch{Thread: "t", Put: entries("a", "1", "b", "2"), PutGlobal: entries("g", "3", "h", "4")})
	b.append(eventlog.Batch{
		Thread: "t",
		Events: []eventlog.Event{
			{Kind: eventlog.KindEvent, Run: "r1", Data: []byte("x")}, {Kind: eventlog.KindNote, Run: "r1", Data: []byte("y")},
			{Kind: 200, Run: "", Data: []byte("z")}, {Kind: eventlog.KindEvent, Run: "r2"},
		},
		Put: entries("b", "5", "c", "6"), Delete: []string{"a", "c", "never"},
		PutGlobal: entries("h", "7"), DeleteGlobal: []string{"g", "h", "never"},
	})
	b.want("t", "1 1 r1 x", "2 2 r1 y", "3 200  z", "4 1 r2 ", "b=5", "c=6", "global h=7")
	b.want("u", "global h=7")
}

func testConflict(t *testing.T, b *bench) {
	zero, one, two := uint64(0), uint64(1), uint64(2)
	b.refuse(eventlog.Batch{Thread: "t", Events: events("a"), Expect: &one, PutGlobal: entries("g", "1")}, eventlog.ErrConflict)
	b.want("t")
	b.append(eventlog.Batch{Thread: "t", Events: events("a"), Expect: &zero})
	for _, wrong := range []*uint64{&zero, &two} {
		b.refuse(eventlog.Batch{Thread: "t", Events: events("b"), Put: entries("k", "1"), Delete: []string{"k"},
			PutGlobal: entries("g", "1"), Expect: wrong}, eventlog.ErrConflict)
	}
	b.want("t", "1 1 run a")
	b.append(eventlog.Batch{Thread: "t", Events: events("b"), Expect: &one})
	b.want("t", "1 1 run a", "2 1 run b")

	// Of many who expect the same, one wins.
	var wg sync.WaitGroup
	results := make(chan error, 32)
	for i := range cap(results) {
		wg.Go(func() {
			_, err := b.log.Append(b.ctx, eventlog.Batch{Thread: "t", Events: events(fmt.Sprint(i)), Expect: &two})
			results <- err
		})
	}
	wg.Wait()
	close(results)
	won := 0
	for err := range results {
		if err == nil {
			won++
		} else if !errors.Is(err, eventlog.ErrConflict) {
			t.Errorf("got %v", err)
		}
	}
	if won != 1 || len(b.state("t")) != 3 {
		t.Errorf("%d won: %v", won, b.state("t"))
	}
}

func testInvalid(t *testing.T, b *bench) {
	zero := uint64(0)
	for _, batch := range []eventlog.Batch{
		{Events: events("a")},
		{Put: entries("a", "1")},
		{Delete: []string{"a"}},
		{Epoch: 1},
		{Expect: &zero},
		{Thread: "t", Put: entries("", "1")},
		{Thread: "t", Events: events("a"), PutGlobal: entries("", "1")},
	} {
		b.refuse(batch, eventlog.ErrInvalid)
	}
	b.want("t")
}

func testKeysOnly(t *testing.T, b *bench) {
	c := b.append(eventlog.Batch{Thread: "t", Put: entries("k", "1", "empty", "")})
	if c.Seq != 0 || c.Gen == 0 {
		t.Errorf("the cursor of a thread without records is %v", c)
	}
	if d := b.write("t", "a"); d.Gen != c.Gen || d.Seq != 1 {
		t.Errorf("the first record is %v after %v", d, c)
	}
	b.want("t", "1 1 run a", "empty=", "k=1")
	b.append(eventlog.Batch{Thread: "t", Delete: []string{"k", "empty"}})
	b.want("t", "1 1 run a")
}

func testGlobalOnly(t *testing.T, b *bench) {
	if c := b.append(eventlog.Batch{PutGlobal: entries("g", "1", "h", "2")}); !c.IsZero() {
		t.Errorf("the cursor of no thread is %v", c)
	}
	b.append(eventlog.Batch{DeleteGlobal: []string{"g"}})
	b.want("", "global h=2")
}

func testCallersMemory(t *testing.T, b *bench) {
	got := make(chan string, 2)
	ctx, cancel := context.WithCancel(b.ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	wg.Go(func() {
		for r := range b.log.After(ctx, "t", eventlog.Cursor{}) {
			got <- string(r.Data)
		}
	})
	for _, text := range []string{"first", "other"} {
		buf := []byte(text)
		b.append(eventlog.Batch{Thread: "t", Events: []eventlog.Event{{Data: buf}}, Put: []eventlog.Entry{{Key: "k", Value: buf}}})
		copy(buf, "XXXXX")
		if g := <-got; g != text {
			t.Errorf("a reader got %q", g)
		}
	}
	b.want("t", "1 0  first", "2 0  other", "k=other")
}

func testCancelledAppend(t *testing.T, b *bench) {
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(b.ctx)
	cancel(why)
	if _, err := b.log.Append(ctx, eventlog.Batch{Thread: "t", Events: events("a")}); !errors.Is(err, why) {
		t.Errorf("append: %v", err)
	}
	if _, err := b.log.Lease(ctx, "t", "o", 1); !errors.Is(err, why) {
		t.Errorf("lease: %v", err)
	}
	if err := b.log.View(ctx, "t", func(eventlog.View) error { return nil }); !errors.Is(err, why) {
		t.Errorf("view: %v", err)
	}
	b.want("t")

	// Cancelled while it waits: either it was written, or there is an error.
	var written int
	for range 200 {
		ctx, cancel := context.WithCancel(b.ctx)
		done := make(chan error)
		go func() {
			_, err := b.log.Append(ctx, eventlog.Batch{Thread: "t", Events: events("a")})
			done <- err
		}()
		cancel()
		if err := <-done; err == nil {
			written++
		} else if !errors.Is(err, context.Canceled) {
			t.Fatalf("append: %v", err)
		}
	}
	if got := len(b.state("t")); got != written {
		t.Errorf("%d batches were acknowledged, %d are there", written, got)
	}
}

func testManyThreads(t *testing.T, b *bench) {
	const threads, each = 50, 20
	var wg sync.WaitGroup
	for i := range threads {
		wg.Go(func() {
			for n := range each {
				c, err := b.log.Append(b.ctx, eventlog.Batch{Thread: fmt.Sprint("t", i), Events: events(fmt.Sprint(i, "-", n))})
				if err != nil || c.Seq != uint64(n+1) {
					t.Errorf("thread %d, event %d: %v, %v", i, n, c, err)
					return
				}
			}
		})
	}
	wg.Wait()
	for i := range threads {
		got := b.read(b.log, fmt.Sprint("t", i), eventlog.Cursor{}, each)
		for n, r := range got {
			if string(r.Data) != fmt.Sprint(i, "-", n) {
				t.Fatalf("thread %d, event %d is %q", i, n, r.Data)
			}
		}
	}
}

func testOneThread(t *testing.T, b *bench) {
	const writers, each = 32, 25
	var mu sync.Mutex
	acknowledged := map[uint64]string{}
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range each {
				// Two events: nobody else's may come between them.
				text := fmt.Sprint(w, "-", n)
				c, err := b.log.Append(b.ctx, eventlog.Batch{Thread: "t", Events: events(text+"a", text+"b")})
				if err != nil {
					t.Errorf("append: %v", err)
					return
				}
				mu.Lock()
				acknowledged[c.Seq] = text
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	got := b.read(b.log, "t", eventlog.Cursor{}, 2*writers*each)
	for i := 0; i < len(got); i += 2 {
		text := acknowledged[uint64(i+2)]
		if text == "" || string(got[i].Data) != text+"a" || string(got[i+1].Data) != text+"b" {
			t.Fatalf("record %d: %q, %q, acknowledged was %q", i+1, got[i].Data, got[i+1].Data, text)
		}
	}
}

func testOneBad(t *testing.T, b *bench) {
	seven := uint64(777)
	var wg sync.WaitGroup
	for i := range 64 {
		wg.Go(func() {
			batch := eventlog.Batch{Thread: fmt.Sprint("t", i), Events: events("a"), Put: entries("k", "v")}
			var want error
			switch i % 4 {
			case 1:
				batch.Expect, want = &seven, eventlog.ErrConflict
			case 2:
				batch.Epoch, want = 999, eventlog.ErrFenced
			}
			if _, err := b.log.Append(b.ctx, batch); !errors.Is(err, want) {
				t.Errorf("%d: got %v, want %v", i, err, want)
			}
		})
	}
	wg.Wait()
	for i := range 64 {
		if i%4 == 1 || i%4 == 2 {
			b.want(fmt.Sprint("t", i))
		} else {
			b.want(fmt.Sprint("t", i), "1 1 run a", "k=v")
		}
	}
}

func testBig(t *testing.T, b *bench) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<19) // 8 MiB
	long := strings.Repeat("k", 1<<16)
	b.append(eventlog.Batch{
		Thread: "t",
		Events: []eventlog.Event{{Data: []byte("small")}, {Data: big}, {Data: []byte("last")}},
		Put:    []eventlog.Entry{{Key: long, Value: big}},
	})
	many := make([]string, 10_000)
	for i := range many {
		many[i] = fmt.Sprint("n", i)
	}
	b.write("t", many...)
	b.reopen()
	got := b.read(b.log, "t", eventlog.Cursor{}, 3+len(many))
	if string(got[0].Data) != "small" || !bytes.Equal(got[1].Data, big) || string(got[2].Data) != "last" {
		t.Errorf("sizes are %d, %d, %d", len(got[0].Data), len(got[1].Data), len(got[2].Data))
	}
	for i, text := range many {
		if r := got[3+i]; string(r.Data) != text || r.Cursor.Seq != uint64(4+i) {
			t.Fatalf("record %d is %v %q", 4+i, r.Cursor, r.Data)
		}
	}
	err := b.log.View(b.ctx, "t", func(v eventlog.View) error {
		value, err := v.Get(long)
		if !bytes.Equal(value, big) {
			t.Errorf("a value of %d bytes came back as %d", len(big), len(value))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func testAnyBytes(t *testing.T, b *bench) {
	odd := []string{"\x00", "a\x00b", "\xff\xfe", "'\";--", "%_", " ", "\n", "日本語", "../x"}
	for _, name := range odd {
		b.append(eventlog.Batch{Thread: name, Events: []eventlog.Event{{Run: name, Data: []byte(name)}},
			Put: entries(name, name), PutGlobal: entries(name, name)})
	}
	b.reopen()
	for _, name := range odd {
		r := b.read(b.log, name, eventlog.Cursor{}, 1)[0]
		if r.Run != name || string(r.Data) != name || r.Cursor.Seq != 1 {
			t.Errorf("%q: record %v %q %q", name, r.Cursor, r.Run, r.Data)
		}
		err := b.log.View(b.ctx, name, func(v eventlog.View) error {
			value, err := v.Get(name)
			global, err2 := v.GetGlobal(name)
			if string(value) != name || string(global) != name {
				t.Errorf("%q: values %q and %q", name, value, global)
			}
			return errors.Join(err, err2)
		})
		if err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
}
