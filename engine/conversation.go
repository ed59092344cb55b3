package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// conversation is what the engine has in memory of a thread. It is there while
// somebody uses it: a caller, a turn, a seat.
type conversation struct {
	e    *Engine
	id   string
	refs int // guarded by Engine.mu

	// busy has its token taken by whoever starts, settles, changes or deletes.
	busy chan struct{}

	mu     sync.Mutex
	turn   *turn // the open one, if this engine runs it
	offers offers
	unsaid bool // offers have changed since they were stored

	facts   []source.Fact // said outside a turn, to be stored
	storing bool

	// The list of an idle thread as of a record; nil: not loaded.
	list   *agui.List
	listAt eventlog.Cursor

	joined mark // where the last reader joined
}

// use gives the conversation of a thread; release it when done.
func (e *Engine) use(id string) *conversation {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.conversations[id]
	if c == nil {
		c = &conversation{e: e, id: id, busy: make(chan struct{}, 1)}
		e.conversations[id] = c
	}
	c.refs++
	return c
}

func (c *conversation) retain() *conversation {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	c.refs++
	return c
}

func (c *conversation) release() {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	if c.refs--; c.refs == 0 {
		delete(c.e.conversations, c.id)
	}
}

// later runs f in a goroutine of the engine, with a use of its own.
func (c *conversation) later(f func(context.Context)) bool {
	c.retain()
	ok := c.e.later(func(ctx context.Context) {
		defer c.release()
		f(ctx)
	})
	if !ok {
		c.release()
	}
	return ok
}

func (c *conversation) lock(ctx context.Context) error {
	select {
	case c.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c *conversation) unlock() { <-c.busy }

func (c *conversation) open() *turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.turn
}

func (c *conversation) setTurn(t *turn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn = t
}

// keep remembers the list of the thread as of a record.
func (c *conversation) keep(list *agui.List, at eventlog.Cursor) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list, c.listAt = list, at
}

// view reads the thread's record and the end of its log, and lets fn read more.
func (c *conversation) view(ctx context.Context, fn func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) error) error {
	return c.e.o.Log.View(ctx, c.id, func(v eventlog.View) error {
		rec, err := getThread(v, c.id)
		if err != nil {
			return err
		}
		head, err := v.Head()
		if err != nil {
			return err
		}
		return fn(v, rec, head)
	})
}

// known is view for threads that have to exist.
func (c *conversation) known(ctx context.Context, fn func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) error) error {
	return c.view(ctx, func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) error {
		if rec == nil {
			return refuse("thread_unknown", "no thread %q", c.id)
		}
		return fn(v, rec, head)
	})
}

// folded gives a copy of the list as of the end of the view. What was known of
// the thread below the floor is of no use.
func (c *conversation) folded(v eventlog.View, head eventlog.Cursor, floor uint64) (*agui.List, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	list, from := c.list, c.listAt
	if list == nil || from.Gen != head.Gen || from.Seq > head.Seq || from.Seq < floor {
		stored, at, err := startOf(v, head.Seq, floor)
		if err != nil {
			return nil, err
		}
		if list, from = stored, (eventlog.Cursor{Gen: head.Gen, Seq: at}); list == nil {
			list = agui.NewList()
		}
	}
	c.list = nil // until the fold has succeeded
	for r, err := range v.Records(from.Seq, 0) {
		if err != nil {
			return nil, err
		}
		c.apply(list, r)
	}
	c.list, c.listAt = list, head
	return list.Clone(), nil
}

// storage says what a failure of the log means to a caller.
func storage(err error) error {
	var own *Error
	if err == nil || errors.As(err, &own) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, eventlog.ErrClosed) { // a request that came while the server stops
		return &Error{Code: "draining", Message: "the server is stopping", Err: err}
	}
	return &Error{Code: "storage", Message: "the log failed: " + err.Error(), Err: err}
}
