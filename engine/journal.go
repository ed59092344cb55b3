package engine

import (
	"context"
	"sync"

	"github.com/agentstream-go/agentstream/eventlog"
)

// journal writes a turn's happenings to the log. Whoever drives the turn (with
// its lock held) builds groups, each of which is appended whole; a goroutine of
// the journal takes all the groups there are as one batch, so that a burst costs
// one transaction. The driver is slowed down by room, never in the midst of a
// group.
type journal struct {
	log    eventlog.Log
	thread string
	epoch  uint64
	limit  int
	failed func(error) // called once, when the log refuses

	// Of the driver.
	seq   uint64 // of the last event that was put in
	group journalBatch

	mu      sync.Mutex
	ready   journalBatch
	spare   journalBatch // its memory is used again
	bytes   int          // in ready and in what is being written
	put     uint64       // groups put in
	done    uint64       // groups that are durable
	head    eventlog.Cursor
	err     error
	closed  bool
	changed chan struct{} // closed and made anew whenever done, bytes or err change
	work    chan struct{} // has one token when there is something to do
	ended   chan struct{}
}

// journalBatch is a batch in the making: the events' bytes lie one behind the
// other, the last change of a key wins.
type journalBatch struct {
	data   []byte
	events []journalEvent
	keys   map[string][]byte // nil deletes
	global map[string][]byte
	after  []func() // once it is durable, in order
}

type journalEvent struct {
	kind eventlog.Kind
	run  string
	end  int // of its bytes in data
}

func newJournal(log eventlog.Log, thread string, epoch uint64, head eventlog.Cursor, limit int, failed func(error)) *journal {
	j := &journal{
		log: log, thread: thread, epoch: epoch, limit: limit, failed: failed,
		seq: head.Seq, head: head,
		changed: make(chan struct{}), work: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	return j
}

// event adds an event to the group and gives its number.
func (j *journal) event(kind eventlog.Kind, run string, data []byte) uint64 {
	j.group.data = append(j.group.data, data...)
	j.group.events = append(j.group.events, journalEvent{kind, run, len(j.group.data)})
	j.seq++
	return j.seq
}

func (j *journal) set(key string, value []byte)       { set(&j.group.keys, key, value) }
func (j *journal) drop(key string)                    { set(&j.group.keys, key, nil) }
func (j *journal) setGlobal(key string, value []byte) { set(&j.group.global, key, value) }
func (j *journal) dropGlobal(key string)              { set(&j.group.global, key, nil) }

// after has f called once the group is durable; not at all if it never is.
func (j *journal) after(f func()) { j.group.after = append(j.group.after, f) }

func set(m *map[string][]byte, key string, value []byte) {
	if *m == nil {
		*m = map[string][]byte{}
	}
	(*m)[key] = value
}

func (b *journalBatch) empty() bool {
	return len(b.events) == 0 && len(b.keys) == 0 && len(b.global) == 0 && len(b.after) == 0
}

func (b *journalBatch) size() int {
	n := len(b.data)
	for k, v := range b.keys {
		n += len(k) + len(v)
	}
	return n
}

// add moves o to the end of b.
func (b *journalBatch) add(o *journalBatch) {
	base := len(b.data)
	b.data = append(b.data, o.data...)
	for _, e := range o.events {
		e.end += base
		b.events = append(b.events, e)
	}
	for k, v := range o.keys {
		set(&b.keys, k, v)
	}
	for k, v := range o.global {
		set(&b.global, k, v)
	}
	b.after = append(b.after, o.after...)
	o.reset()
}

func (b *journalBatch) reset() {
	*b = journalBatch{data: b.data[:0], events: b.events[:0]}
	if cap(b.data) > 1<<20 {
		b.data = nil
	}
}

func (b *journalBatch) batch(thread string, epoch uint64, expect uint64) eventlog.Batch {
	out := eventlog.Batch{Thread: thread, Epoch: epoch, Expect: &expect}
	out.Events = make([]eventlog.Event, 0, len(b.events))
	start := 0
	for _, e := range b.events {
		out.Events = append(out.Events, eventlog.Event{Kind: e.kind, Run: e.run, Data: b.data[start:e.end:e.end]})
		start = e.end
	}
	out.Put, out.Delete = entries(b.keys)
	out.PutGlobal, out.DeleteGlobal = entries(b.global)
	return out
}

func entries(m map[string][]byte) (put []eventlog.Entry, del []string) {
	for k, v := range m {
		if v == nil {
			del = append(del, k)
		} else {
			put = append(put, eventlog.Entry{Key: k, Value: v})
		}
	}
	return put, del
}

// commit hands the group over and gives its number, for wait. After a failure
// groups are thrown away.
func (j *journal) commit() uint64 {
	if j.group.empty() {
		return j.put
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		j.group.reset()
		return j.put
	}
	j.bytes += j.group.size()
	j.ready.add(&j.group)
	j.put++
	select {
	case j.work <- struct{}{}:
	default:
	}
	return j.put
}

// appendNow writes the group at once, before the goroutine runs.
func (j *journal) appendNow(ctx context.Context) error {
	head, err := j.log.Append(ctx, j.group.batch(j.thread, j.epoch, j.head.Seq))
	if err != nil {
		return err
	}
	j.head = head
	after := j.group.after
	j.group.reset()
	for _, f := range after {
		f()
	}
	return nil
}

// room waits until there is place for more, the journal has failed or ctx ends.
func (j *journal) room(ctx context.Context) {
	for {
		j.mu.Lock()
		full, changed := j.bytes >= j.limit && j.err == nil, j.changed
		j.mu.Unlock()
		if !full {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// wait waits until the group with that number is durable and gives the end of
// the log then.
func (j *journal) wait(ctx context.Context, group uint64) (eventlog.Cursor, error) {
	for {
		j.mu.Lock()
		done, head, err, changed := j.done >= group, j.head, j.err, j.changed
		j.mu.Unlock()
		switch {
		case done:
			return head, nil
		case err != nil:
			return head, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return head, context.Cause(ctx)
		}
	}
}

// close lets run return once everything is written, and waits for it.
func (j *journal) close() error {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	select {
	case j.work <- struct{}{}:
	default:
	}
	<-j.ended
	return j.err
}

// run writes until close or a failure.
func (j *journal) run() {
	defer close(j.ended)
	for range j.work {
		for {
			j.mu.Lock()
			if j.ready.empty() || j.err != nil {
				closed := j.closed || j.err != nil
				j.mu.Unlock()
				if closed {
					return
				}
				break
			}
			batch := j.ready
			j.ready, j.spare = j.spare, journalBatch{}
			upTo, expect := j.put, j.head.Seq
			j.mu.Unlock()
			j.write(&batch, upTo, expect)
		}
	}
}

func (j *journal) write(b *journalBatch, upTo, expect uint64) {
	size := b.size()
	head, err := j.log.Append(context.Background(), b.batch(j.thread, j.epoch, expect))
	after := b.after
	if err == nil {
		for _, f := range after {
			f()
		}
	}
	b.reset()
	j.mu.Lock()
	j.bytes -= size
	if err != nil {
		j.err = err
		j.bytes = 0
		j.ready.reset()
	} else {
		j.done, j.head, j.spare = upTo, head, *b
	}
	close(j.changed)
	j.changed = make(chan struct{})
	j.mu.Unlock()
	if err != nil && j.failed != nil {
		j.failed(err)
	}
}
