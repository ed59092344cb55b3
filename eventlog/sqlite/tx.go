package sqlite

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

// A segment's id holds both numbers; these are their greatest values.
const (
	seqBits   = 36
	maxSeq    = 1<<seqBits - 1
	maxThread = 1<<(63-seqBits) - 1
)

func segmentID(num int64, seq uint64) int64 { return num<<seqBits | int64(min(seq, maxSeq)) }

// published is a segment with the name of its thread.
type published struct {
	thread string
	num    int64
	segment
}

// tx is a transaction of the writer.
type tx struct {
	writer    *writer
	conn      *conn
	now       time.Time
	open      []*thread   // those with a segment that is not sealed
	sealed    []published // what readers get once the transaction is durable
	written   int         // how many of the sealed are in the file
	unsettled []string    // threads whose past has changed
	changed   bool
	bytes     int // roughly what goes into the write-ahead log
}

// exec runs a statement that changes something.
func (t *tx) exec(query string, args ...any) error {
	t.changed = true
	t.bytes += 4096
	return broken(t.conn.run(query, args...))
}

// thread finds a thread, nil if there is none.
func (t *tx) thread(name string) (*thread, error) {
	if th := t.writer.threads[name]; th != nil {
		return th, nil
	}
	th, err := t.conn.thread(name)
	if err != nil || th == nil {
		return nil, broken(err)
	}
	if th.head = t.writer.journal.head(th.num); th.head == 0 {
		if th.head, err = t.conn.stored(th); err != nil {
			return nil, broken(err)
		}
	}
	t.writer.threads[name] = th
	return th, nil
}

// made finds a thread or makes it.
func (t *tx) made(name string) (*thread, error) {
	th, err := t.thread(name)
	if err != nil || th != nil {
		return th, err
	}
	num, err := t.count("thread")
	if err != nil {
		return nil, err
	}
	if num > maxThread {
		return nil, broken(fmt.Errorf("there have been %d threads, which is the most", maxThread))
	}
	th = &thread{name: name, num: num, gen: newGeneration()}
	t.writer.threads[name] = th
	return th, t.exec("INSERT INTO threads (num, name, gen) VALUES (?, ?, ?)", th.num, name, int64(th.gen))
}

func newGeneration() uint32 {
	for {
		var b [4]byte
		_, _ = rand.Read(b[:]) // never fails
		if gen := binary.BigEndian.Uint32(b[:]); gen != 0 {
			return gen
		}
	}
}

// count takes the next number of a counter.
func (t *tx) count(name string) (int64, error) {
	if err := t.exec("UPDATE counters SET value = value + 1 WHERE name = ?", name); err != nil {
		return 0, err
	}
	n, err := t.conn.number("SELECT value FROM counters WHERE name = ?", name)
	return n, broken(err)
}

// mayWrite checks an epoch against a thread, which is nil if there is none.
func (t *tx) mayWrite(th *thread, epoch uint64) error {
	switch {
	case th == nil && epoch == 0:
		return nil
	case th == nil:
		return eventlog.ErrFenced
	case epoch == 0 && t.held(th), epoch != 0 && epoch != th.epoch:
		return eventlog.ErrFenced
	}
	return nil
}

func (t *tx) held(th *thread) bool { return th.epoch != 0 && t.now.UnixMilli() < th.expires }

func (t *tx) append(b *eventlog.Batch) (eventlog.Cursor, error) {
	if b.Thread == "" {
		return eventlog.Cursor{}, t.global(b)
	}
	th, err := t.thread(b.Thread)
	if err != nil {
		return eventlog.Cursor{}, err
	}
	if err := t.mayWrite(th, b.Epoch); err != nil {
		return eventlog.Cursor{}, err
	}
	var head uint64
	if th != nil {
		head = th.head
	}
	if b.Expect != nil && *b.Expect != head {
		return eventlog.Cursor{}, fmt.Errorf("%w: its last record is %d, expected was %d", eventlog.ErrConflict, head, *b.Expect)
	}
	if head+uint64(len(b.Events)) > maxSeq {
		return eventlog.Cursor{}, fmt.Errorf("%w: a thread holds at most %d records", eventlog.ErrInvalid, maxSeq)
	}
	if th == nil {
		if th, err = t.made(b.Thread); err != nil {
			return eventlog.Cursor{}, err
		}
	}
	if err := t.keys(th.num, b.Delete, b.Put); err != nil {
		return eventlog.Cursor{}, err
	}
	if err := t.global(b); err != nil {
		return eventlog.Cursor{}, err
	}
	t.add(th, b.Events)
	return th.cursor(), nil
}

// add appends events to the thread's open segment.
func (t *tx) add(th *thread, events []eventlog.Event) {
	for i := range events {
		if th.open != nil && len(th.open.data) >= segmentSize {
			t.seal(th)
		}
		if th.open == nil {
			th.open = newSegment(th.gen, th.head)
			t.open = append(t.open, th)
			t.changed = true
		}
		th.open.add(&events[i])
		th.head++
	}
}

func (t *tx) seal(th *thread) {
	if th.open != nil {
		th.open.seal()
		t.sealed = append(t.sealed, published{th.name, th.num, th.open.segment})
		th.open = nil
	}
}
