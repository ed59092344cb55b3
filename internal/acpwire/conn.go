package acpwire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

// DefaultMaxLine is the longest line that is read, unless Config says otherwise. One
// costs some fifteen times its size until it is stored, so that longer ones would be
// a danger to all that runs beside.
const DefaultMaxLine = 32 << 20

var (
	// ErrClosed: the connection was closed on this side.
	ErrClosed = errors.New("the connection is closed")
	// ErrLost: the other side closed its end; everything it said before was
	// delivered.
	ErrLost = errors.New("the other side closed the connection")
	// ErrWrite: nothing can be written any more, though something may still come.
	ErrWrite = errors.New("the other side does not take anything any more")
)

// Config says who gets what comes in. All functions are called from one
// goroutine, in wire order, and the next line waits until they return; that is
// how a slow consumer slows the agent down. Slices are valid until then. Nil
// functions are fine.
type Config struct {
	// Request takes a request of the other side, or returns false; then, and
	// only then, it is answered "method not found" here. The reply may be given
	// later, from any goroutine.
	Request func(method string, params []byte, reply *Reply) bool
	Notify  func(method string, params []byte)
	// Diagnostic gets what is no frame, in words.
	Diagnostic func(text string)
	// Line gets each raw line, without its newline: an outgoing one before
	// anything that answers it.
	Line func(incoming bool, line []byte)
	// Lost is called once, when the other side has ended and everything that
	// it said was delivered; open requests fail after it.
	Lost func(err error)
	// Activity is called by the reading goroutine each time something came.
	Activity func()

	MaxLine int // longest line that is taken, newline included
}

// Conn is one connection. Its methods are safe for concurrent calls.
type Conn struct {
	cfg     Config
	out     *outbox
	batches chan batch
	free    chan []byte
	closed  chan struct{}
	once    sync.Once
	wg      sync.WaitGroup
	wake    chan struct{} // something was posted
	ended   chan struct{} // nothing is delivered any more

	mu      sync.Mutex
	last    int64
	pending map[int64]func(result []byte, err error)
	posts   []func()
	over    error // no answers will come any more
}

type batch struct {
	lines   []byte
	dropped int
	err     error
}

// New starts to read r and to write w. Whoever owns r and w closes them after
// Close and then calls Wait.
func New(r io.Reader, w io.Writer, cfg Config) *Conn {
	if cfg.MaxLine <= 0 {
		cfg.MaxLine = DefaultMaxLine
	}
	c := &Conn{
		cfg: cfg, out: newOutbox(),
		batches: make(chan batch), free: make(chan []byte, 2),
		closed: make(chan struct{}), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		pending: map[int64]func([]byte, error){},
	}
	c.wg.Go(func() { c.read(r) })
	c.wg.Go(c.dispatch)
	c.wg.Go(func() { c.write(w) })
	return c
}

// Close stops delivery and fails what is open. It does not wait.
func (c *Conn) Close() { c.once.Do(func() { close(c.closed) }) }

// Wait returns when no goroutine of the connection is left. The reader ends
// when r does.
func (c *Conn) Wait() { c.wg.Wait() }

// Ended is closed after Close, when the last function of Config has returned.
func (c *Conn) Ended() <-chan struct{} { return c.ended }

// Post has f called by the delivering goroutine, between two lines. It reports
// whether the connection still delivers.
func (c *Conn) Post(f func()) bool {
	select {
	case <-c.closed:
		return false
	default:
	}
	c.mu.Lock()
	c.posts = append(c.posts, f)
	c.mu.Unlock()
	pulse(c.wake)
	return true
}

// Go sends a request. done is called exactly once if Go returns no error: by
// the delivering goroutine, in wire order, with the result, an *Error, ErrLost
// or ErrClosed. ctx bounds only the wait for a place in the queue.
func (c *Conn) Go(ctx context.Context, method string, params any, done func(result []byte, err error)) (id int64, err error) {
	c.mu.Lock()
	if c.over != nil {
		c.mu.Unlock()
		return 0, c.over
	}
	c.last++
	id = c.last
	c.pending[id] = done
	c.mu.Unlock()
	line, err := encode(frame{ID: fmt.Append(nil, id), Method: method, Params: params})
	if err == nil {
		err = c.out.put(ctx, outgoing{id: id, line: line}, c.closed)
	}
	if err != nil {
		if !c.forget(id) { // done was or will be called
			return id, nil
		}
		return 0, err
	}
	return id, nil
}

// Withdraw takes a request back that was not yet written; its done function is
// then never called.
func (c *Conn) Withdraw(id int64) bool { return c.out.withdraw(id) && c.forget(id) }

func (c *Conn) forget(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.pending[id]
	delete(c.pending, id)
	return ok
}

// Call sends a request and waits for its answer, until ctx ends: then the
// error is ctx's cause. A result goes to then, if it is not nil, as Go's goes to
// done: in wire order, whether or not Call still waits. Call must not be called
// by the delivering goroutine.
func (c *Conn) Call(ctx context.Context, method string, params any, then func(result []byte)) error {
	got := make(chan error, 1)
	_, err := c.Go(ctx, method, params, func(result []byte, err error) {
		if err == nil && then != nil {
			then(result)
		}
		got <- err
	})
	if err != nil {
		return err
	}
	select {
	case err := <-got:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Notify sends a notification behind what is already queued.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	line, err := encode(frame{Method: method, Params: params})
	if err != nil {
		return err
	}
	return c.out.put(ctx, outgoing{line: line}, c.closed)
}

// Urgent sends a notification before everything that is not yet written. It
// never waits.
func (c *Conn) Urgent(method string, params any) error {
	line, err := encode(frame{Method: method, Params: params})
	if err == nil && !c.out.push(outgoing{line: line}) {
		err = ErrClosed
	}
	return err
}
