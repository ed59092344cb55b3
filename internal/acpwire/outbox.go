package acpwire

import (
	"context"
	"fmt"
	"io"
	"sync"
)

const (
	maxQueued  = 64   // requests and notifications that wait for the agent to read
	maxAnswers = 4096 // answers that wait; an agent that asks more and reads none loses them
)

type outgoing struct {
	id   int64 // of a request, else 0
	line []byte
}

// outbox holds what is to be written. Requests and notifications wait for
// room; answers never do, because the goroutine that gives them is the one
// that reads, and must go on reading for the agent to take anything.
type outbox struct {
	mu     sync.Mutex
	first  []outgoing // answers and urgent notifications
	then   []outgoing
	err    error
	signal chan struct{} // something to write
	room   chan struct{} // a place in then
}

func newOutbox() *outbox {
	return &outbox{signal: make(chan struct{}, 1), room: make(chan struct{}, 1)}
}

func pulse(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// put queues o behind earlier requests, waiting for room until ctx ends.
func (b *outbox) put(ctx context.Context, o outgoing, closed <-chan struct{}) error {
	for {
		b.mu.Lock()
		if b.err != nil {
			b.mu.Unlock()
			return b.err
		}
		if len(b.then) < maxQueued {
			b.then = append(b.then, o)
			more := len(b.then) < maxQueued
			b.mu.Unlock()
			pulse(b.signal)
			if more {
				pulse(b.room) // another one may be waiting
			}
			return nil
		}
		b.mu.Unlock()
		select {
		case <-b.room:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-closed:
			return ErrClosed
		}
	}
}

// push queues o before all requests; it reports whether there was room.
func (b *outbox) push(o outgoing) bool {
	b.mu.Lock()
	ok := b.err == nil && len(b.first) < maxAnswers
	if ok {
		b.first = append(b.first, o)
	}
	b.mu.Unlock()
	pulse(b.signal)
	return ok
}

// withdraw takes back a request that was not yet written.
func (b *outbox) withdraw(id int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, o := range b.then {
		if o.id == id {
			b.then = append(b.then[:i], b.then[i+1:]...)
			pulse(b.room)
			return true
		}
	}
	return false
}

func (b *outbox) take() ([]byte, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	q := &b.first
	if len(*q) == 0 {
		q = &b.then
	}
	if len(*q) == 0 {
		return nil, false
	}
	line := (*q)[0].line
	(*q)[0] = outgoing{}
	*q = (*q)[1:]
	if q == &b.then {
		pulse(b.room)
	}
	return line, true
}

// write carries lines to w until closed or until w fails; from then on nothing
// is taken any more.
func (b *outbox) write(w io.Writer, closed <-chan struct{}, writing func(line []byte)) error {
	for {
		line, ok := b.take()
		if !ok {
			select {
			case <-b.signal:
				continue
			case <-closed:
				return b.fail(ErrClosed)
			}
		}
		if writing != nil {
			writing(line)
		}
		if _, err := w.Write(line); err != nil {
			return b.fail(fmt.Errorf("%w: %w", ErrWrite, err))
		}
	}
}

func (b *outbox) fail(err error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
	b.first, b.then = nil, nil
	pulse(b.room)
	return err
}
