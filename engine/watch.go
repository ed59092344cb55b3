package engine

import (
	"context"
	"sync"
	"time"
)

// pulse wakes those who wait for a change of any thread's record.
type pulse struct {
	mu   sync.Mutex
	next chan struct{}
}

// beat is called once a change is durable.
func (p *pulse) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next != nil {
		close(p.next)
		p.next = nil
	}
}

// wait gives a channel that the next beat closes.
func (p *pulse) wait() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil {
		p.next = make(chan struct{})
	}
	return p.next
}

// settle is how long changes are collected that come together, as those at the
// end of a run do.
const settle = 50 * time.Millisecond

// WatchThreads gives a page of threads as soon as it is another than the one whose
// Cursor is since, or as it is when ctx ends. What another process changes in a
// shared log is not seen before.
func (e *Engine) WatchThreads(ctx context.Context, q ThreadQuery, since string) (ThreadPage, error) {
	for {
		changed := e.threads.wait()
		// The page is wanted even if the time for waiting is up.
		page, err := e.Threads(context.WithoutCancel(ctx), q)
		if err != nil || page.Cursor != since {
			return page, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return page, nil
		case <-e.ctx.Done():
			return page, nil
		}
		select {
		case <-time.After(settle):
		case <-ctx.Done():
		}
	}
}

// mark gives the page its cursor: a hash of what it shows. The ends of logs do not
// count, which move with every word.
func (p *ThreadPage) mark() {
	seen := ThreadPage{Next: p.Next}
	for _, t := range p.Threads {
		t.Cursor = ""
		seen.Threads = append(seen.Threads, t)
	}
	p.Cursor = hashOf(string(encode(seen)))
}
