package eventlogtest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
)

// compactTests make old records smaller, which nobody may notice.
var compactTests = map[string]func(*testing.T, *bench){
	"compact/every cursor":     testCompactCursors,
	"compact/refused":          testCompactRefused,
	"compact/smaller":          testCompactSmaller,
	"compact/trim":             testCompactTrim,
	"compact/delete":           testCompactDelete,
	"compact/meanwhile":        testCompactMeanwhile,
	"compact/by several":       testCompactSeveral,
	"compact/records of sizes": testCompactSizes,
}

func (b *bench) compactor() eventlog.Compactor {
	b.t.Helper()
	l, ok := b.log.(eventlog.Compactor)
	if !ok {
		b.t.Skip("the store is no Compactor")
	}
	return l
}

func (b *bench) compact(thread string, upTo eventlog.Cursor) {
	b.t.Helper()
	if err := b.compactor().Compact(b.ctx, thread, upTo); err != nil {
		b.t.Fatalf("compact %q up to %v: %v", thread, upTo, err)
	}
}

// long is a text like what agents say: much of it stands in other records too.
func long(n int) string {
	return fmt.Sprintf(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m%d","delta":"%s word %d"}`, n/50, strings.Repeat("so ", n%7*100), n*7919%1000)
}

// writeLong appends n records that compress well, some a batch.
func (b *bench) writeLong(thread string, n int) (last eventlog.Cursor) {
	b.t.Helper()
	for i := 0; i < n; {
		var batch []string
		for k := i%9 + 1; k > 0 && i < n; k-- {
			batch = append(batch, long(i))
			i++
		}
		last = b.write(thread, batch...)
	}
	return last
}

func testCompactCursors(t *testing.T, b *bench) {
	const n = 1000
	b.compactor()
	c := b.writeLong("t", n)
	b.writeLong("u", 20)
	before := b.state("t")
	for _, upTo := range []uint64{1, 400, 800, n} {
		b.compact("t", eventlog.Cursor{Gen: c.Gen, Seq: upTo})
		b.compact("t", eventlog.Cursor{Gen: c.Gen, Seq: upTo})
		b.same("t", before)
		// Every cursor in the end, before that some, and those at the joint.
		for seq := uint64(1); seq < n; seq++ {
			if upTo != n && seq%97 != 0 && (seq+3 < upTo || seq > upTo+3) {
				continue
			}
			got := b.read(b.log, "t", eventlog.Cursor{Gen: c.Gen, Seq: seq}, 1)[0]
			if got.Cursor != (eventlog.Cursor{Gen: c.Gen, Seq: seq + 1}) || string(got.Data) != long(int(seq)) || got.Run != "run" {
				t.Fatalf("compacted up to %d, after %d: %v %s", upTo, seq, got.Cursor, got.Data)
			}
		}
	}
	if got := b.write("t", "more"); got.Seq != n+1 {
		t.Errorf("the next record is %v", got)
	}
	b.reopen()
	b.same("t", append(before, fmt.Sprintf("%d 1 run more", n+1)))
	b.gone("t", eventlog.Cursor{Gen: c.Gen, Seq: n + 2})
}

// same compares without showing thousands of lines.
func (b *bench) same(thread string, want []string) {
	b.t.Helper()
	got := b.state(thread)
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			b.t.Fatalf("thread %q, line %d: %.200q, want %.200q", thread, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		b.t.Fatalf("thread %q: %d lines, want %d", thread, len(got), len(want))
	}
}

func testCompactRefused(t *testing.T, b *bench) {
	l := b.compactor()
	c := b.write("t", "1", "2", "3")
	b.trim("t", eventlog.Cursor{Gen: c.Gen, Seq: 2}, "two")
	for name, try := range map[string]struct {
		thread string
		upTo   eventlog.Cursor
		want   error
	}{
		"future":     {"t", eventlog.Cursor{Gen: c.Gen, Seq: 4}, eventlog.ErrGone},
		"trimmed":    {"t", eventlog.Cursor{Gen: c.Gen, Seq: 1}, eventlog.ErrGone},
		"generation": {"t", eventlog.Cursor{Gen: c.Gen + 1, Seq: 3}, eventlog.ErrGone},
		"unknown":    {"u", c, eventlog.ErrGone},
		"no thread":  {"", c, eventlog.ErrInvalid},
		"nothing":    {"t", eventlog.Cursor{Gen: c.Gen}, eventlog.ErrInvalid},
	} {
		if err := l.Compact(b.ctx, try.thread, try.upTo); !errors.Is(err, try.want) {
			t.Errorf("%s: got %v, want %v", name, err, try.want)
		}
	}
	b.compact("t", c)
	b.want("t", "2 1 run two", "3 1 run 3")
	if err := b.log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Compact(b.ctx, "t", c); !errors.Is(err, eventlog.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func testCompactSmaller(t *testing.T, b *bench) {
	sizer, ok := b.log.(eventlog.Sizer)
	if !ok {
		t.Skip("the store is no Sizer")
	}
	size := func() int64 {
		t.Helper()
		n, err := sizer.Size(b.ctx)
		if err != nil {
			t.Fatalf("size: %v", err)
		}
		return n
	}
	empty := size()
	var c eventlog.Cursor
	for i := range 50 {
		var batch []string
		for k := range 40 {
			batch = append(batch, long(40*i+k))
		}
		c = b.write("t", batch...)
	}
	full := size()
	if full-empty < 1<<20 {
		t.Fatalf("a mebibyte and more takes %d bytes", full-empty)
	}
	b.compact("t", c)
	small := size()
	if small-empty > (full-empty)/2 {
		t.Errorf("%d bytes became %d", full-empty, small-empty)
	}
	b.trim("t", c)
	if left := size(); left >= small {
		t.Errorf("%d bytes, trimmed they are %d", small, left)
	}
}

func testCompactTrim(t *testing.T, b *bench) {
	const n = 1000
	b.compactor()
	c := b.writeLong("t", n)
	at := func(seq uint64) eventlog.Cursor { return eventlog.Cursor{Gen: c.Gen, Seq: seq} }
	b.compact("t", at(900))
	b.trim("t", at(300), "replaced")
	if got := b.read(b.log, "t", eventlog.Cursor{}, 2); texts(got) != "replaced "+long(300) {
		t.Errorf("after the trim: %s", texts(got))
	}
	b.compact("t", at(950))
	got := b.read(b.log, "t", eventlog.Cursor{}, n-299)
	for i, r := range got[1:] {
		if r.Cursor.Seq != uint64(301+i) || string(r.Data) != long(300+i) {
			t.Fatalf("record %d is %v %s", 301+i, r.Cursor, r.Data)
		}
	}
	b.gone("t", at(299))
	b.trim("t", at(998))
	b.want("t", "999 1 run "+long(998), "1000 1 run "+long(999))
}

func testCompactDelete(t *testing.T, b *bench) {
	b.compactor()
	l := b.deleter()
	c := b.writeLong("t", 500)
	d := b.writeLong("u", 500)
	b.compact("t", c)
	b.compact("u", d)
	before := b.state("u")
	if err := l.DeleteThread(b.ctx, "t", 0, eventlog.Batch{}); err != nil {
		t.Fatal(err)
	}
	b.want("t")
	b.gone("t", c)
	b.same("u", before)
	if err := b.compactor().Compact(b.ctx, "t", c); !errors.Is(err, eventlog.ErrGone) {
		t.Errorf("a deleted thread: %v", err)
	}
}

// testCompactMeanwhile compacts what is being written and read.
func testCompactMeanwhile(t *testing.T, b *bench) {
	const batches, readers = 150, 3
	l := b.compactor()
	var wg sync.WaitGroup
	written := make(chan eventlog.Cursor, batches)
	wg.Go(func() {
		defer close(written)
		for i := range batches {
			var list []string
			for k := range 20 {
				list = append(list, long(20*i+k))
			}
			c, err := b.log.Append(b.ctx, eventlog.Batch{Thread: "t", Events: events(list...)})
			if err != nil {
				t.Errorf("append: %v", err)
				return
			}
			written <- c
		}
	})
	for range readers {
		wg.Go(func() {
			n := 0
			for r, err := range b.log.After(b.ctx, "t", eventlog.Cursor{}) {
				if err != nil || r.Cursor.Seq != uint64(n+1) || string(r.Data) != long(n) {
					t.Errorf("record %d: %v %s %v", n+1, r.Cursor, r.Data, err)
					return
				}
				if n++; n == 20*batches {
					return
				}
			}
			t.Errorf("a reader ended after %d records", n)
		})
	}
	for c := range written {
		if c.Seq%140 != 0 {
			continue
		}
		if err := l.Compact(b.ctx, "t", c); err != nil {
			t.Errorf("compact up to %v: %v", c, err)
		}
		from := eventlog.Cursor{Gen: c.Gen, Seq: c.Seq / 2}
		if got := b.read(b.log, "t", from, 1)[0]; string(got.Data) != long(int(from.Seq)) {
			t.Errorf("after %v: %s", from, got.Data)
		}
	}
	wg.Wait()
}

// testCompactSeveral has several compact the same thread, up to where each likes.
func testCompactSeveral(t *testing.T, b *bench) {
	const n = 1500
	l := b.compactor()
	c := b.writeLong("t", n)
	before := b.state("t")
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range 5 {
				upTo := eventlog.Cursor{Gen: c.Gen, Seq: uint64((i*911+k*577)%n + 1)}
				if err := l.Compact(b.ctx, "t", upTo); err != nil {
					t.Errorf("compact up to %v: %v", upTo, err)
				}
			}
		})
	}
	wg.Wait()
	b.same("t", before)
}

func testCompactSizes(t *testing.T, b *bench) {
	b.compactor()
	b.append(eventlog.Batch{Thread: "t", Events: []eventlog.Event{
		{}, {Kind: 255, Run: "r"}, {Kind: 2, Data: make([]byte, 3<<20)},
		{Run: strings.Repeat("long", 1000), Data: []byte{0, 1, 2, 255}}, {Data: make([]byte, 100_000)},
	}})
	c := b.write("t", "last")
	before := b.state("t")
	b.compact("t", c)
	b.same("t", before)
	for seq := range c.Seq {
		if seq == 0 {
			continue
		}
		b.read(b.log, "t", eventlog.Cursor{Gen: c.Gen, Seq: seq}, int(c.Seq-seq))
	}
}
