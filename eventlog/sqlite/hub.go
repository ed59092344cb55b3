package sqlite

import (
	"sync"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

const (
	// ringBytes bounds what is kept in memory of a thread that somebody
	// reads live. The last segment is kept whatever its size.
	ringBytes = 256 << 10
	// watchInterval is how often a log that is not exclusive looks for what
	// others wrote, while somebody reads live.
	watchInterval = 250 * time.Millisecond
)

// hub knows the threads that somebody reads live.
type hub struct {
	log      *Log
	mu       sync.Mutex
	topics   map[string]*topic
	stopped  bool
	watching bool
	changed  chan struct{} // capacity 1: there are no topics any more
}

// topic is one of these threads.
type topic struct {
	readers int // guarded by the hub

	mu      sync.Mutex
	ring    []segment // the latest, without a gap
	bytes   int
	version uint64        // changes when the ring can not tell what has happened
	waiters bool          // somebody waits for wake
	wake    chan struct{} // closed at the next change
}

func (h *hub) init(l *Log) {
	h.log = l
	h.topics = make(map[string]*topic)
	h.changed = make(chan struct{}, 1)
}

// join returns the thread's topic. What is published from now on is in its ring.
func (h *hub) join(thread string) *topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[thread]
	if t == nil {
		t = &topic{wake: make(chan struct{})}
		h.topics[thread] = t
	}
	t.readers++
	if !h.log.opts.Exclusive && !h.watching && !h.stopped {
		h.watching = true
		h.log.background.Go(h.watch)
	}
	return t
}

func (h *hub) leave(thread string, t *topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.readers--; t.readers > 0 {
		return
	}
	delete(h.topics, thread)
	if len(h.topics) == 0 {
		select {
		case h.changed <- struct{}{}:
		default:
		}
	}
}

// watch has the writer look for what others wrote, as long as there are topics.
func (h *hub) watch() {
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	last := &request{done: make(chan struct{})}
	close(last.done)
	for {
		select {
		case <-tick.C:
			select {
			case <-last.done:
				last = &request{apply: func(*tx) error { return nil }, done: make(chan struct{})}
				h.log.queue.push(last)
			default: // the writer is busy and looks by itself
			}
		case <-h.changed:
		case <-h.log.done:
			return
		}
		h.mu.Lock()
		if len(h.topics) == 0 {
			h.watching = false
			h.mu.Unlock()
			return
		}
		h.mu.Unlock()
	}
}

// stop lets no new watcher start.
func (h *hub) stop() {
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
}

// publish gives readers what has become durable.
func (h *hub) publish(sealed []published, unsettled []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.topics) == 0 {
		return
	}
	for i := range sealed {
		if t := h.topics[sealed[i].thread]; t != nil {
			t.add(sealed[i].segment)
		}
	}
	for _, thread := range unsettled {
		if t := h.topics[thread]; t != nil {
			t.unsettle()
		}
	}
}

// unsettle sends all readers back to the file.
func (h *hub) unsettle() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range h.topics {
		t.unsettle()
	}
}

func (t *topic) add(s segment) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.ring); n > 0 && (t.ring[n-1].gen != s.gen || t.ring[n-1].last+1 != s.first()) {
		t.ring, t.bytes = nil, 0
	}
	t.ring = append(t.ring, s)
	t.bytes += len(s.data)
	drop := 0
	for t.bytes > ringBytes && drop < len(t.ring)-1 {
		t.bytes -= len(t.ring[drop].data)
		t.ring[drop] = segment{}
		drop++
	}
	t.ring = t.ring[drop:]
	t.notify()
}

func (t *topic) unsettle() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.version++
	t.ring, t.bytes = nil, 0
	t.notify()
}

func (t *topic) notify() {
	if t.waiters {
		close(t.wake)
		t.wake, t.waiters = make(chan struct{}), false
	}
}

// next appends to dst what comes after pos, for a reader that knows
// everything up to the version. Without anything the reader may wait for wake;
// with stale it has to look into the file, and knows the returned version then.
func (t *topic) next(dst []segment, pos eventlog.Cursor, version uint64) (segs []segment, wake <-chan struct{}, stale bool, now uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if version != t.version {
		return dst, nil, true, t.version
	}
	n := len(t.ring)
	if n == 0 || t.ring[n-1].gen == pos.Gen && t.ring[n-1].last <= pos.Seq {
		t.waiters = true
		return dst, t.wake, false, version
	}
	if t.ring[0].first() > pos.Seq+1 || t.ring[0].gen != pos.Gen && pos.Gen != 0 {
		return dst, nil, true, version
	}
	i := n
	for i > 0 && t.ring[i-1].last > pos.Seq {
		i--
	}
	return append(dst, t.ring[i:]...), nil, false, version
}
