package eventlogtest

import (
	"errors"
	"fmt"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
)

// pastTests change what has been written.
var pastTests = map[string]func(*testing.T, *bench){
	"trim/with replacement":    testTrimReplace,
	"trim/without replacement": testTrimAll,
	"trim/within a batch":      testTrimWithin,
	"trim/again":               testTrimAgain,
	"trim/big replacement":     testTrimBig,
	"trim/refused":             testTrimRefused,
	"trim/readers":             testTrimReaders,
	"delete/thread":            testDelete,
	"delete/readers":           testDeleteReaders,
	"delete/invalid":           testDeleteInvalid,
}

func (b *bench) deleter() eventlog.ThreadDeleter {
	b.t.Helper()
	l, ok := b.log.(eventlog.ThreadDeleter)
	if !ok {
		b.t.Skip("the store is no ThreadDeleter")
	}
	return l
}

func (b *bench) trim(thread string, upTo eventlog.Cursor, replacement ...string) {
	b.t.Helper()
	if err := b.log.Trim(b.ctx, thread, upTo, events(replacement...)); err != nil {
		b.t.Fatalf("trim up to %v: %v", upTo, err)
	}
}

func testTrimReplace(t *testing.T, b *bench) {
	for _, text := range []string{"1", "2", "3", "4", "5", "6"} {
		b.append(eventlog.Batch{Thread: "t", Events: events(text), Put: entries("k", text)})
	}
	c := b.write("t")
	at := func(seq uint64) eventlog.Cursor { return eventlog.Cursor{Gen: c.Gen, Seq: seq} }
	b.trim("t", at(4), "three", "four")
	b.want("t", "3 1 run three", "4 1 run four", "5 1 run 5", "6 1 run 6", "k=6")
	if got := texts(b.read(b.log, "t", eventlog.Cursor{}, 4)); got != "three four 5 6" {
		t.Errorf("from the start: %s", got)
	}
	if got := texts(b.read(b.log, "t", at(4), 2)); got != "5 6" {
		t.Errorf("after 4: %s", got)
	}
	for seq := range uint64(3) {
		b.gone("t", at(seq+1))
	}
	if d := b.write("t", "7"); d != at(7) {
		t.Errorf("the next record is %v", d)
	}
	b.reopen()
	b.want("t", "3 1 run three", "4 1 run four", "5 1 run 5", "6 1 run 6", "7 1 run 7", "k=6")
	b.gone("t", at(3))
}

func testTrimAll(t *testing.T, b *bench) {
	c := b.write("t", "1", "2", "3")
	b.trim("t", c)
	b.want("t")
	b.reopen()
	if head := b.write("t"); head != c {
		t.Errorf("the head is %v, was %v", head, c)
	}
	d := b.write("t", "4")
	if d.Seq != 4 {
		t.Errorf("the next record is %v", d)
	}
	if got := b.read(b.log, "t", eventlog.Cursor{}, 1)[0]; got.Cursor != d {
		t.Errorf("from the start: %v", got.Cursor)
	}
	if got := b.read(b.log, "t", c, 1)[0]; got.Cursor != d {
		t.Errorf("after %v: %v", c, got.Cursor)
	}
}

func testTrimWithin(t *testing.T, b *bench) {
	c := b.append(eventlog.Batch{Thread: "t", Events: []eventlog.Event{
		{Kind: 1, Run: "a", Data: []byte("1")}, {Kind: 1, Run: "a", Data: []byte("2")},
		{Kind: 2, Run: "a", Data: []byte("3")}, {Kind: 1, Run: "b", Data: []byte("4")},
	}})
	b.trim("t", eventlog.Cursor{Gen: c.Gen, Seq: 2}, "two")
	b.want("t", "2 1 run two", "3 2 a 3", "4 1 b 4")
	if got := texts(b.read(b.log, "t", eventlog.Cursor{Gen: c.Gen, Seq: 3}, 1)); got != "4" {
		t.Errorf("after 3: %s", got)
	}
}

func testTrimAgain(t *testing.T, b *bench) {
	c := b.write("t", "1", "2", "3", "4", "5")
	at := func(seq uint64) eventlog.Cursor { return eventlog.Cursor{Gen: c.Gen, Seq: seq} }
	b.trim("t", at(3), "a", "b")
	b.trim("t", at(3), "c")
	b.want("t", "3 1 run c", "4 1 run 4", "5 1 run 5")
	b.trim("t", at(4), "d", "e", "f")
	b.want("t", "2 1 run d", "3 1 run e", "4 1 run f", "5 1 run 5")
	if err := b.log.Trim(b.ctx, "t", at(3), nil); !errors.Is(err, eventlog.ErrGone) {
		t.Errorf("trim up to what is gone: %v", err)
	}
}

func testTrimBig(t *testing.T, b *bench) {
	var c eventlog.Cursor
	for range 20 {
		c = b.write("t", make([]string, 50)...)
	}
	replacement := make([]eventlog.Event, 500)
	for i := range replacement {
		replacement[i] = eventlog.Event{Data: make([]byte, 5000)}
	}
	if err := b.log.Trim(b.ctx, "t", c, replacement); err != nil {
		t.Fatal(err)
	}
	b.write("t", "more")
	got := b.read(b.log, "t", eventlog.Cursor{}, 501)
	for i, r := range got {
		if r.Cursor.Seq != uint64(501+i) {
			t.Fatalf("record %d has the number %d", i, r.Cursor.Seq)
		}
	}
}

func testTrimRefused(t *testing.T, b *bench) {
	c := b.write("t", "1", "2")
	for name, try := range map[string]struct {
		thread string
		upTo   eventlog.Cursor
		with   []eventlog.Event
		want   error
	}{
		"future":     {"t", eventlog.Cursor{Gen: c.Gen, Seq: 3}, nil, eventlog.ErrGone},
		"generation": {"t", eventlog.Cursor{Gen: c.Gen + 1, Seq: 1}, nil, eventlog.ErrGone},
		"unknown":    {"u", c, nil, eventlog.ErrGone},
		"no thread":  {"", c, nil, eventlog.ErrInvalid},
		"nothing":    {"t", eventlog.Cursor{Gen: c.Gen}, nil, eventlog.ErrInvalid},
		"too many":   {"t", c, events("1", "2", "3"), eventlog.ErrInvalid},
	} {
		if err := b.log.Trim(b.ctx, try.thread, try.upTo, try.with); !errors.Is(err, try.want) {
			t.Errorf("%s: got %v, want %v", name, err, try.want)
		}
	}
	b.want("t", "1 1 run 1", "2 1 run 2")
}

func testTrimReaders(t *testing.T, b *bench) {
	c := b.write("t", "1", "2", "3", "4")
	// One stands behind what is trimmed and goes on, one before it and ends.
	var got []string
	for r, err := range b.log.After(b.ctx, "t", eventlog.Cursor{Gen: c.Gen, Seq: 3}) {
		if err != nil {
			t.Fatalf("a reader behind the trimmed records: %v", err)
		}
		got = append(got, string(r.Data))
		if len(got) == 1 {
			b.trim("t", eventlog.Cursor{Gen: c.Gen, Seq: 3}, "three")
			b.write("t", "5")
		} else {
			break
		}
	}
	if s := fmt.Sprint(got); s != "[4 5]" {
		t.Errorf("got %s", s)
	}

	waiting := make(chan struct{})
	result := make(chan error)
	go func() {
		var last error
		for r, err := range b.log.After(b.ctx, "u", eventlog.Cursor{}) {
			last = err
			if err == nil && r.Cursor.Seq == 1 {
				close(waiting)
				<-result // until it was trimmed beyond
			}
		}
		result <- last
	}()
	b.write("u", "1")
	<-waiting
	d := b.write("u", "2", "3", "4")
	b.trim("u", d, "four")
	b.write("u", "5")
	result <- nil
	if err := <-result; !errors.Is(err, eventlog.ErrGone) {
		t.Errorf("a reader before what was trimmed ended with %v", err)
	}
}

func testDelete(t *testing.T, b *bench) {
	l := b.deleter()
	c := b.append(eventlog.Batch{Thread: "t", Events: events("1", "2"), Put: entries("k", "v"), PutGlobal: entries("g", "t", "h", "t")})
	b.write("u", "stays")
	err := l.DeleteThread(b.ctx, "t", 0, eventlog.Batch{DeleteGlobal: []string{"g"}, PutGlobal: entries("deleted", "t")})
	if err != nil {
		t.Fatal(err)
	}
	b.want("t", "global deleted=t", "global h=t")
	b.want("u", "1 1 run stays", "global deleted=t", "global h=t")
	b.gone("t", c)
	d := b.write("t", "anew")
	if d.Seq != 1 || d.Gen == c.Gen {
		t.Errorf("the new thread begins at %v, the old one ended at %v", d, c)
	}
	b.gone("t", eventlog.Cursor{Gen: c.Gen, Seq: 1})
	if err := l.DeleteThread(b.ctx, "unknown", 0, eventlog.Batch{}); err != nil {
		t.Errorf("deletion of a thread that does not exist: %v", err)
	}
	b.reopen()
	b.want("t", "1 1 run anew", "global deleted=t", "global h=t")
}

func testDeleteReaders(t *testing.T, b *bench) {
	l := b.deleter()
	got := make(chan error)
	go func() {
		defer close(got)
		for _, err := range b.log.After(b.ctx, "t", eventlog.Cursor{}) {
			got <- err
		}
	}()
	b.write("t", "1")
	if err := <-got; err != nil {
		t.Fatalf("after: %v", err)
	}
	if err := l.DeleteThread(b.ctx, "t", 0, eventlog.Batch{}); err != nil {
		t.Fatal(err)
	}
	b.write("t", "anew")
	if err := <-got; !errors.Is(err, eventlog.ErrGone) {
		t.Errorf("got %v, want ErrGone", err)
	}
	if err, more := <-got; more {
		t.Errorf("after the error there came %v", err)
	}
}

func testDeleteInvalid(t *testing.T, b *bench) {
	l := b.deleter()
	zero := uint64(0)
	b.write("t", "1")
	for _, batch := range []eventlog.Batch{
		{Thread: "t"}, {Epoch: 1}, {Expect: &zero}, {Events: events("a")},
		{Put: entries("a", "b")}, {Delete: []string{"a"}}, {PutGlobal: entries("", "b")},
	} {
		if err := l.DeleteThread(b.ctx, "t", 0, batch); !errors.Is(err, eventlog.ErrInvalid) {
			t.Errorf("%+v: got %v", batch, err)
		}
	}
	if err := l.DeleteThread(b.ctx, "", 0, eventlog.Batch{}); !errors.Is(err, eventlog.ErrInvalid) {
		t.Errorf("no thread: got %v", err)
	}
	b.want("t", "1 1 run 1")
}
