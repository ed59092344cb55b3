package engine

import (
	"context"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream/source"
)

// pool bounds the sessions with agents. A seat is the place of one thread's
// session; it is busy during a turn and kept for a while afterwards.
type pool struct {
	limit int

	mu    sync.Mutex
	seats map[string]*seat // by thread
	freed chan struct{}    // closed and made anew when a seat is given back
	wg    sync.WaitGroup   // sessions being closed
}

// seat belongs to the turn that took it; the pool only touches idle ones.
type seat struct {
	p       *pool
	c       *conversation
	session source.Session // nil: none yet
	mode    string         // as last selected
	model   string
	cwd     string

	busy  bool
	since time.Time   // idle since
	timer *time.Timer // closes it
	out   *seat       // the idle one that had to make place, to be closed first
}

func newPool(limit int) *pool {
	return &pool{limit: limit, seats: map[string]*seat{}, freed: make(chan struct{})}
}

// try takes the thread's seat, a free one, or that of the thread that has been
// idle longest. Nil: all are busy.
func (p *pool) try(c *conversation) *seat {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.seats[c.id]; s != nil {
		if s.busy {
			return nil
		}
		s.busy = true
		s.timer.Stop()
		return s
	}
	s := &seat{p: p, c: c, busy: true}
	if len(p.seats) >= p.limit {
		for _, o := range p.seats {
			if !o.busy && (s.out == nil || o.since.Before(s.out.since)) {
				s.out = o
			}
		}
		if s.out == nil {
			return nil
		}
		s.out.timer.Stop()
		delete(p.seats, s.out.c.id)
	}
	p.seats[c.id] = s
	c.retain()
	return s
}

// take waits for a seat.
func (p *pool) take(ctx context.Context, c *conversation) (*seat, error) {
	for {
		p.mu.Lock()
		freed := p.freed
		p.mu.Unlock()
		if s := p.try(c); s != nil {
			return s, nil
		}
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// ready closes the session that had to make place.
func (s *seat) ready() {
	if s.out != nil {
		s.out.shut()
		s.out = nil
	}
}

// drop closes the session; the seat stays taken.
func (s *seat) drop() {
	if s.session != nil {
		_ = s.session.Close() // nothing is lost with a session that is given up
		s.session = nil
	}
}

// shut closes the session of a seat that is no longer in the pool.
func (s *seat) shut() {
	s.drop()
	s.c.release()
}

// giveBack ends the turn's use. The session, if there is one, is kept for idle.
func (s *seat) giveBack(idle time.Duration) {
	s.ready()
	p := s.p
	p.mu.Lock()
	defer p.mu.Unlock()
	s.busy = false
	s.since = time.Now()
	if s.session == nil || idle <= 0 {
		delete(p.seats, s.c.id)
		p.shutLater(s)
	} else {
		s.timer = time.AfterFunc(idle, func() { p.evict(s) })
	}
	close(p.freed)
	p.freed = make(chan struct{})
}

func (p *pool) shutLater(s *seat) {
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		s.shut()
	}()
}

// evict closes a seat that is idle.
func (p *pool) evict(s *seat) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.busy || p.seats[s.c.id] != s {
		return
	}
	s.timer.Stop()
	delete(p.seats, s.c.id)
	p.shutLater(s)
	close(p.freed)
	p.freed = make(chan struct{})
}

// evictThread closes the seat of a thread, if it is idle.
func (p *pool) evictThread(id string) {
	p.mu.Lock()
	s := p.seats[id]
	p.mu.Unlock()
	if s != nil {
		p.evict(s)
	}
}

// close closes all seats; none may be busy any more.
func (p *pool) close() {
	p.mu.Lock()
	all := make([]*seat, 0, len(p.seats))
	for _, s := range p.seats {
		all = append(all, s)
	}
	p.mu.Unlock()
	for _, s := range all {
		p.evict(s)
	}
	p.wg.Wait()
}
