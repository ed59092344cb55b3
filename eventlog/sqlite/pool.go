package sqlite

import (
	"errors"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

const (
	// idleConns is how many reading connections are kept.
	idleConns = 4
	// maxCatchUps is how many readers may read from the file at once.
	maxCatchUps = 8
)

// readers is the pool of connections that read.
type readers struct {
	path     string
	patience time.Duration
	mu       sync.Mutex
	idle     []*conn
	closed   bool
	busy     sync.WaitGroup
	slots    chan struct{}
}

func (r *readers) init(path string, patience time.Duration) {
	r.path, r.patience = path, patience
	r.slots = make(chan struct{}, maxCatchUps)
}

func (r *readers) get() (*conn, error) {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, eventlog.ErrClosed
	}
	r.busy.Add(1)
	if n := len(r.idle); n > 0 {
		c := r.idle[n-1]
		r.idle = r.idle[:n-1]
		r.mu.Unlock()
		return c, nil
	}
	r.mu.Unlock()
	c, err := open(r.path, r.patience, "query_only=1", "cache_size=-4096")
	if err != nil {
		r.busy.Done()
		return nil, failure(r.path, err)
	}
	return c, nil
}

func (r *readers) put(c *conn) {
	defer r.busy.Done()
	r.mu.Lock()
	if len(r.idle) < idleConns && !r.closed {
		r.idle = append(r.idle, c)
		c = nil
	}
	r.mu.Unlock()
	if c != nil {
		_ = c.close() // it only read
	}
}

// close waits for those that read.
func (r *readers) close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.busy.Wait()
	var errs []error
	for _, c := range r.idle {
		errs = append(errs, c.close())
	}
	r.idle = nil
	return errors.Join(errs...)
}

// read calls fn within one read transaction.
func (r *readers) read(fn func(*conn) error) error {
	c, err := r.get()
	if err != nil {
		return err
	}
	defer r.put(c)
	if err := c.run("BEGIN"); err != nil {
		return failure(r.path, err)
	}
	defer func() { _ = c.run("ROLLBACK") }() // it only read
	return fn(c)
}
