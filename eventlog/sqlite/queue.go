package sqlite

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/agentstream-go/agentstream/eventlog"
)

// request is one caller's part of a transaction.
type request struct {
	// apply checks everything before it changes anything: an error that is
	// no defect of the database must leave the transaction as it was.
	apply func(*tx) error
	state atomic.Int32
	err   error
	done  chan struct{}
}

const (
	requestWaiting int32 = iota
	requestTaken
	requestAbandoned
)

// queue holds the requests that wait for the next transaction. It has no bound
// of its own: every caller waits for its one request.
type queue struct {
	mu      sync.Mutex
	waiting []*request
	closed  bool
	signal  chan struct{} // capacity 1; a value says: look
	finish  bool          // the writer shall do a checkpoint before the next transaction
}

func (q *queue) init() {
	q.signal = make(chan struct{}, 1)
}

func (q *queue) wake() {
	select {
	case q.signal <- struct{}{}:
	default:
	}
}

func (q *queue) push(r *request) bool {
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return false
	}
	q.waiting = append(q.waiting, r)
	q.mu.Unlock()
	q.wake()
	return true
}

// take returns what waits, waiting for something to come, and nil when the queue is
// closed and empty. The slice spare is used for those who come next.
func (q *queue) take(spare []*request) (group []*request, checkpoint bool) {
	for {
		q.mu.Lock()
		if len(q.waiting) > 0 || q.closed || q.finish {
			group, q.waiting = q.waiting, spare[:0]
			checkpoint, q.finish = q.finish, false
			q.mu.Unlock()
			return group, checkpoint
		}
		q.mu.Unlock()
		<-q.signal
	}
}

// checkpoint asks the writer to finish a checkpoint.
func (q *queue) checkpoint() {
	q.mu.Lock()
	q.finish = true
	q.mu.Unlock()
	q.wake()
}

func (q *queue) close() {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	q.wake()
}

// do has apply called in a transaction and waits until that is durable. An
// error of ctx means that apply was not called.
func (l *Log) do(ctx context.Context, apply func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	r := &request{apply: apply, done: make(chan struct{})}
	if !l.queue.push(r) {
		return eventlog.ErrClosed
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		if r.state.CompareAndSwap(requestWaiting, requestAbandoned) {
			return context.Cause(ctx)
		}
		<-r.done
		return r.err
	}
}
