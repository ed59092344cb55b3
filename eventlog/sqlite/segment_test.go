package sqlite

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
)

func segmentOf(events ...eventlog.Event) segment {
	w := newSegment(7, 0)
	for i := range events {
		w.add(&events[i])
	}
	w.seal()
	return w.segment
}

func FuzzSegment(f *testing.F) {
	one := segmentOf(eventlog.Event{Kind: 1, Run: "run", Data: []byte("a")}, eventlog.Event{Kind: 2, Run: "run", Data: []byte("b")})
	f.Add(one.data[segmentHeader:], uint16(2))
	two := segmentOf(eventlog.Event{}, eventlog.Event{Run: "x"}, eventlog.Event{Kind: 255, Data: make([]byte, 300)})
	f.Add(two.data[segmentHeader:], uint16(3))
	f.Add([]byte{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, uint16(1))
	f.Fuzz(func(t *testing.T, body []byte, n uint16) {
		// A checksum that is right does not say that the content is.
		s := segment{gen: 7, last: uint64(n), n: uint64(n), data: append(make([]byte, segmentHeader), body...)}
		s.data[0] = segmentVersion
		s.seal()
		if s.check() != nil {
			return
		}
		var events []eventlog.Event
		all, err := new(decoder).each(&s, 0, func(r eventlog.Record) bool {
			events = append(events, eventlog.Event{Kind: r.Kind, Run: r.Run, Data: r.Data})
			return true
		})
		if err != nil || !all {
			return
		}
		again := segmentOf(events...)
		i := 0
		if _, err := new(decoder).each(&again, 0, func(r eventlog.Record) bool {
			e := events[i]
			if i++; r.Kind != e.Kind || r.Run != e.Run || !bytes.Equal(r.Data, e.Data) || r.Cursor.Seq != uint64(i) {
				t.Errorf("record %d: %v became %v", i, e, r)
			}
			return true
		}); err != nil || i != len(events) {
			t.Errorf("%d of %d records, %v", i, len(events), err)
		}
	})
}

func FuzzJournal(f *testing.F) {
	s := segmentOf(eventlog.Event{Kind: 1, Run: "run", Data: []byte("a")})
	f.Add(appendJournal(appendJournal(nil, 1, &s), 300, &s))
	f.Add([]byte{1, 1, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01})
	f.Fuzz(func(t *testing.T, row []byte) {
		var again []byte
		err := eachJournaled(row, func(num int64, s segment) error {
			again = appendJournal(again, num, &s)
			_, err := new(decoder).each(&s, 0, func(eventlog.Record) bool { return true })
			return err
		})
		// Numbers may be written longer than they need be.
		if err == nil && len(again) > len(row) {
			t.Errorf("%x became %x", row, again)
		}
	})
}

// TestJoin joins segments of all kinds of runs: one must not take over another's.
func TestJoin(t *testing.T) {
	runs := []string{"", "a", "a", "", "b", "", "", "b"}
	joined := segment{}
	for i, run := range runs {
		w := newSegment(7, uint64(i))
		w.add(&eventlog.Event{Kind: eventlog.Kind(i), Run: run, Data: []byte(fmt.Sprint(i))})
		w.seal()
		if i == 0 {
			joined = w.segment
			joined.data = joined.data[:len(joined.data):len(joined.data)]
		} else {
			joined = joined.join(&w.segment)
		}
	}
	joined.seal()
	if err := joined.check(); err != nil {
		t.Fatal(err)
	}
	i := 0
	whole, err := new(decoder).each(&joined, 0, func(r eventlog.Record) bool {
		if r.Run != runs[i] || string(r.Data) != fmt.Sprint(i) || r.Cursor.Seq != uint64(i+1) {
			t.Errorf("record %d is %v %q %q", i, r.Cursor, r.Run, r.Data)
		}
		i++
		return true
	})
	if !whole || err != nil || i != len(runs) {
		t.Errorf("%d records, %v", i, err)
	}
}

func BenchmarkSegment(b *testing.B) {
	data := make([]byte, 200)
	var events []eventlog.Event
	for range 300 {
		events = append(events, eventlog.Event{Kind: 1, Run: "run-0123456789", Data: data})
	}
	s := segmentOf(events...)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(s.data)))
		for b.Loop() {
			segmentOf(events...)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(s.data)))
		var d decoder
		for b.Loop() {
			_, _ = d.each(&s, 0, func(eventlog.Record) bool { return true })
		}
	})
}
