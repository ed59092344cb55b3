package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
)

// Engine runs agents over a log. Make it with New and end it with Close.
type Engine struct {
	o       Options
	agents  map[string]Agent
	pool    *pool
	feed    *feed
	keeper  *keeper
	threads pulse           // when a thread's record changes
	ctx     context.Context // of all turns
	stop    context.CancelCauseFunc
	wg      sync.WaitGroup // turns and what is done later

	mu            sync.Mutex
	conversations map[string]*conversation // by thread
	drained       bool
	closed        bool
}

var agentName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`)

// New makes an Engine. Runs that an earlier owner left open are ended as lost
// before it returns; unless Options.Shared, every other owner counts as dead. ctx
// bounds only that.
func New(ctx context.Context, o Options) (*Engine, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	e := &Engine{
		o: o, agents: map[string]Agent{}, pool: newPool(o.Limits.Processes),
		conversations: map[string]*conversation{},
	}
	for _, a := range o.Agents {
		if !agentName.MatchString(a.Name) || a.Source == nil || e.agents[a.Name].Source != nil {
			return nil, fmt.Errorf("engine: agent %q: a name is %s and given once, and an agent has a source", a.Name, agentName)
		}
		a.fill()
		e.agents[a.Name] = a
	}
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	e.feed = newFeed(e)
	e.keeper = newKeeper(e)
	if taker, ok := o.Log.(eventlog.LeaseTaker); ok && !o.Shared {
		if err := taker.Takeover(ctx, o.Owner); err != nil {
			e.stop(err)
			return nil, storage(err)
		}
	}
	err := e.feed.recover(ctx)
	if err == nil {
		err = e.settleAll(ctx)
	}
	if err != nil {
		return nil, errors.Join(storage(err), e.Close(ctx))
	}
	if o.Shared {
		e.later(e.janitor)
	}
	e.later(e.keeper.run)
	return e, nil
}

func (o *Options) fill() error {
	if o.Log == nil {
		return errors.New("engine: Options.Log is required")
	}
	if o.Cwd == "" {
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("engine: no working folder: %w", err)
		}
		o.Cwd = dir
	}
	if len(o.Roots) == 0 {
		o.Roots = []string{o.Cwd}
	}
	o.Policy = Policy(or(string(o.Policy), string(PolicyAsk)))
	if !slices.Contains([]Policy{PolicyAsk, PolicyReads, PolicyAll, PolicyNone}, o.Policy) {
		return fmt.Errorf("engine: unknown policy %q", o.Policy)
	}
	fallback(&o.RequestTTL, 24*time.Hour)
	fallback(&o.ShutdownTimeout, 5*time.Second)
	fallback(&o.LeaseTTL, 30*time.Second)
	fallback(&o.Limits.Processes, 16)
	fallback(&o.Limits.JournalBytes, 4<<20)
	fallback(&o.Limits.RunEvents, 1_000_000)
	fallback(&o.Limits.RunBytes, 256<<20)
	fallback(&o.Limits.ThreadBytes, 1<<30)
	fallback(&o.Retention.CompactAfter, 15*time.Minute)
	fallback(&o.Retention.CollapseAfter, 30*24*time.Hour)
	if _, ok := o.Log.(eventlog.Sizer); o.Limits.TotalBytes > 0 && !ok {
		return errors.New("engine: Limits.TotalBytes needs a log that tells its size")
	}
	o.Owner = or(o.Owner, "engine-"+randomID())
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

func (a *Agent) fill() {
	fallback(&a.IdleTimeout, 10*time.Minute)
	fallback(&a.StartTimeout, 120*time.Second)
}

func fallback[T ~int | ~int64](v *T, otherwise T) {
	if *v == 0 {
		*v = otherwise
	}
}

func randomID() string {
	var b [8]byte
	rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

// Agents gives the agents that can be run, in the order of the options.
func (e *Engine) Agents() []Agent {
	out := make([]Agent, 0, len(e.o.Agents))
	for _, a := range e.o.Agents {
		out = append(out, e.agents[a.Name])
	}
	return out
}

// agent gives an agent, without a source if it is not configured.
func (e *Engine) agent(name string) Agent {
	a := e.agents[name]
	a.Name = name
	return a
}

// later runs f in a goroutine that Close waits for; false once Close has begun.
func (e *Engine) later(f func(context.Context)) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	e.wg.Add(1)
	go func() {
		defer e.wg.Done()
		f(e.ctx)
	}()
	return true
}

func (e *Engine) giveLease(thread string) {
	ctx, cancel := context.WithTimeout(context.Background(), e.o.LeaseTTL)
	defer cancel()
	if _, err := e.o.Log.Lease(ctx, thread, e.o.Owner, 0); err != nil {
		e.o.Logger.Warn("a lease could not be given back; it will run out", "thread", thread, "error", err)
	}
}

// janitor ends what other owners of a shared log have left open.
func (e *Engine) janitor(ctx context.Context) {
	tick := time.NewTicker(e.o.LeaseTTL)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := e.settleAll(ctx); err != nil && ctx.Err() == nil {
				e.o.Logger.Warn("the log could not be looked through for lost runs", "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}

// Drain refuses new runs from now on.
func (e *Engine) Drain() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.drained = true
}

// Draining reports whether new runs are refused.
func (e *Engine) Draining() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.drained
}

// Close drains, gives running turns the shutdown timeout, ends the others with
// server_stopping, and ends every agent. It returns when all is done; the end of
// ctx cuts the shutdown timeout short.
func (e *Engine) Close(ctx context.Context) error {
	e.Drain()
	deadline := time.NewTimer(e.o.ShutdownTimeout)
	defer deadline.Stop()
	for _, t := range e.turns() {
		t.mu.Lock()
		waiting := t.waiting
		t.mu.Unlock()
		if waiting {
			t.cancel(errStopping) // nobody will answer in time
		}
	}
wait:
	for _, t := range e.turns() {
		select {
		case <-t.done:
		case <-deadline.C:
			break wait
		case <-ctx.Done():
			break wait
		}
	}
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	for _, t := range e.turns() {
		t.cancel(errStopping)
	}
	e.stop(errStopping)
	e.wg.Wait()
	e.pool.close()
	e.feed.close()
	return nil
}

// turns are those that are open now.
func (e *Engine) turns() []*turn {
	e.mu.Lock()
	all := slices.Collect(maps.Values(e.conversations))
	e.mu.Unlock()
	var out []*turn
	for _, c := range all {
		if t := c.open(); t != nil {
			out = append(out, t)
		}
	}
	return out
}

// Stats counts what the engine holds.
func (e *Engine) Stats() Stats {
	e.pool.mu.Lock()
	sessions := len(e.pool.seats)
	e.pool.mu.Unlock()
	return Stats{OpenRuns: len(e.turns()), Sessions: sessions}
}
