package engine

import (
	"context"
	"errors"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
)

// Start starts a run, or says which one already answers the request. It returns
// when RUN_STARTED is durable. The same (thread, run id) with the same agent and
// the same new user messages attaches; ctx bounds the call, never the run.
func (e *Engine) Start(ctx context.Context, r StartRequest) (Started, error) {
	if err := r.fill(); err != nil {
		return Started{}, err
	}
	c := e.use(r.Input.ThreadID)
	defer c.release()
	if err := c.lock(ctx); err != nil {
		return Started{}, err
	}
	defer c.unlock()
	var s Started
	var err error
	for range conflicts {
		s, err = c.admit(ctx, r)
		switch {
		case errors.Is(err, errEnded):
			// The open turn ended meanwhile; look again.
		case errors.Is(err, eventlog.ErrConflict):
		case errors.Is(err, eventlog.ErrHeld), errors.Is(err, eventlog.ErrFenced):
			return Started{}, c.heldElsewhere(ctx)
		default:
			if !r.Strict {
				s.posted = r.Input.Messages
			}
			return s, storage(err)
		}
	}
	return Started{}, storage(err)
}

// heldElsewhere says that another owner runs the thread.
func (c *conversation) heldElsewhere(ctx context.Context) error {
	active := refuse("run_active", "a run is open in this thread")
	err := c.view(ctx, func(_ eventlog.View, rec *threadRecord, _ eventlog.Cursor) error {
		if rec != nil && rec.Last != nil {
			active.Run = rec.Last.ID
		}
		return nil
	})
	if err != nil {
		return storage(err)
	}
	return active
}

// sight is what a thread looks like to a request.
type sight struct {
	in    idle
	t     *turn           // the open turn, if it is run here
	known map[string]bool // ids of the list
	run   *runRecord      // of the id asked for
	asked map[string]Request
	again *runRecord // that this very resume was answered with before

	elsewhere bool // another owner runs the open turn
}

// admit decides what becomes of a request. It holds the conversation's token, so
// that nothing begins meanwhile; the open turn may end, which is errEnded.
func (c *conversation) admit(ctx context.Context, r StartRequest) (Started, error) {
	x, err := c.look(ctx, r)
	if err != nil {
		return Started{}, err
	}
	if rec := x.in.rec; rec != nil {
		if r.Agent == "" {
			r.Agent = rec.Agent
		} else if r.Agent != rec.Agent {
			return Started{}, refuse("agent_mismatch", "thread %q belongs to agent %q", c.id, rec.Agent)
		}
	}
	agent, ok := c.e.agents[r.Agent]
	if !ok {
		return Started{}, refuse("agent_unknown", "no agent %q", r.Agent)
	}
	if len(r.Input.Resume) > 0 {
		s, done, err := c.admitResume(ctx, r, x)
		if done || err != nil {
			return s, err
		}
		if x, err = c.look(ctx, r); err != nil {
			return Started{}, err
		}
	}
	if x.run != nil {
		if !repeats(r.Input.Messages, x.run.Inputs, x.known) {
			return Started{}, refuse("run_conflict", "run %q was started with something else", x.run.ID)
		}
		return c.attach(x, x.run), nil
	}
	if x.elsewhere {
		return Started{}, eventlog.ErrHeld
	}
	if c.e.Draining() {
		return Started{}, refuse("draining", "the server is stopping")
	}
	if x.t == nil || r.Enqueue {
		if err := c.e.keeper.refuses(ctx); err != nil {
			return Started{}, err
		}
	}
	if x.t != nil {
		return x.t.admitBusy(ctx, r)
	}
	n := sift(r.Input.Messages, x.known)
	if len(n.prompt) == 0 {
		return Started{}, errNothing
	}
	if x.in.rec == nil {
		if x.in.rec, err = c.e.newThread(c.id, agent, r); err != nil {
			return Started{}, err
		}
	}
	s := c.e.pool.try(c)
	if s == nil {
		return Started{}, refuse("limited", "%d agents are at work, which is all that may be", c.e.o.Limits.Processes)
	}
	started, err := c.begin(ctx, r, x.in, n, s)
	if err != nil {
		s.giveBack(agent.IdleTimeout)
	}
	return started, err
}

// look reads the thread. A turn that nobody runs any more is settled first, one
// that is just ending is waited for.
func (c *conversation) look(ctx context.Context, r StartRequest) (*sight, error) {
	if t := c.open(); t != nil && t.over() {
		select {
		case <-t.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	x := &sight{t: c.open(), asked: map[string]Request{}}
	stray, err := c.readSight(ctx, r, x)
	if err == nil && stray {
		err = c.settle(ctx, RunLost, "run_lost", lostMessage)
		if err == nil {
			return nil, errEnded
		}
		if errors.Is(err, eventlog.ErrHeld) {
			x.elsewhere, err = true, nil
		}
	}
	if err != nil {
		return nil, err
	}
	if x.t == nil {
		x.known = ids(x.in.list)
		return x, nil
	}
	x.t.mu.Lock()
	defer x.t.mu.Unlock()
	x.known = ids(x.t.list)
	return x, nil
}

// readSight reads what look gives; stray says that the thread has an open turn
// that is not run here.
func (c *conversation) readSight(ctx context.Context, r StartRequest, x *sight) (stray bool, err error) {
	err = c.view(ctx, func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) (err error) {
		stray = rec != nil && rec.Turn != nil && x.t == nil
		x.in.rec, x.in.head = rec, head
		if x.t == nil {
			if err = c.readIdle(v, rec, head, &x.in); err != nil {
				return err
			}
		}
		if x.run, err = getRun(v, r.Input.RunID); err != nil {
			return err
		}
		for _, entry := range r.Input.Resume {
			req, found, err := decode[Request](v.GetGlobal(keyRequest + entry.InterruptID))
			if err != nil {
				return err
			}
			if found && req.Thread == c.id {
				x.asked[req.ID] = req
			}
		}
		id, err := v.Get(keyAnswer + resumeHash(r))
		if err == nil && id != nil {
			x.again, err = getRun(v, string(id))
		}
		return err
	})
	return stray, err
}

func (t *turn) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ending
}

// attach gives the run that answers the request already.
func (c *conversation) attach(x *sight, run *runRecord) Started {
	after := x.in.head
	if run.FromSeq > 0 {
		after.Seq = run.FromSeq - 1
	}
	return Started{Run: run.public(x.in.head.Gen), Attached: true, After: after}
}

// admitBusy answers a request to a thread with an open turn.
func (t *turn) admitBusy(ctx context.Context, r StartRequest) (Started, error) {
	t.mu.Lock()
	ending, waiting, run := t.ending, t.waiting, t.run.ID
	var pending []Request
	for _, a := range t.asks {
		pending = append(pending, a.req)
	}
	t.mu.Unlock()
	switch {
	case ending:
		return Started{}, errEnded
	case r.Enqueue:
		return t.enqueue(ctx, r)
	case !waiting:
		return Started{}, &Error{Code: "run_active", Run: run, Message: "run " + run + " is open in this thread"}
	case r.Strict:
		return Started{}, &Error{Code: "interrupted", Run: run, Message: "run " + run + " waits for an answer"}
	}
	return Started{Pending: pending, Run: Run{
		ID: r.Input.RunID, Thread: t.c.id, Agent: t.agent.Name, State: RunInterrupted, CreatedAt: t.e.o.Now().UTC(),
	}}, nil
}

// newThread makes the record of a thread.
func (e *Engine) newThread(id string, a Agent, r StartRequest) (*threadRecord, error) {
	cwd, err := e.folder(a, r.Cwd, r.Input.ForwardedProps)
	if err != nil {
		return nil, err
	}
	now := e.o.Now().UTC()
	return &threadRecord{
		Thread:    Thread{ID: id, Agent: a.Name, Cwd: cwd, State: "idle", CreatedAt: now, UpdatedAt: now},
		NextRound: 1,
	}, nil
}

// admitResume handles a request that carries answers. done says that nothing is
// left to start.
func (c *conversation) admitResume(ctx context.Context, r StartRequest, x *sight) (s Started, done bool, err error) {
	if err := checkResume(r.Input.Resume); err != nil {
		return s, true, err
	}
	pending, allCancelled := 0, true
	var conflicts []Request
	for _, entry := range r.Input.Resume {
		req, ok := x.asked[entry.InterruptID]
		if !ok {
			return s, true, refuse("unknown_interrupt", "this thread has no request %q", entry.InterruptID)
		}
		allCancelled = allCancelled && entry.Status == "cancelled"
		if req.State == "pending" {
			pending++
		} else if !sameAnswer(req, resumed(entry, req.Elicitation != nil)) {
			conflicts = append(conflicts, req)
		}
	}
	fresh := len(r.Input.Messages) > 0 && r.Input.Messages[len(r.Input.Messages)-1].Role == agui.RoleUser &&
		!x.known[r.Input.Messages[len(r.Input.Messages)-1].ID]
	switch {
	case pending > 0 && x.elsewhere:
		return s, true, eventlog.ErrHeld
	case pending > 0 && x.t == nil:
		return s, true, errEnded // it was settled with its turn; look again
	case pending > 0 && allCancelled && fresh:
		return s, false, x.t.steerAway(ctx, r)
	case pending > 0:
		s, err := x.t.answerAll(ctx, r, x.run != nil)
		s.Conflicts = conflicts
		return s, true, err
	case fresh:
		return s, false, nil
	}
	run := x.again
	if run == nil {
		run = x.in.rec.Last
	}
	s = c.attach(x, run)
	s.Resumed, s.Conflicts = true, conflicts
	return s, true, nil
}

func checkResume(entries []agui.Resume) error {
	seen := map[string]bool{}
	for _, entry := range entries {
		switch {
		case entry.InterruptID == "":
			return refuse("resume_invalid", "an entry of resume names no interrupt")
		case seen[entry.InterruptID]:
			return refuse("resume_invalid", "resume answers %q twice", entry.InterruptID)
		case entry.Status != "resolved" && entry.Status != "cancelled":
			return refuse("resume_invalid", "an entry of resume has the status %q", entry.Status)
		}
		seen[entry.InterruptID] = true
	}
	return nil
}

// resumeHash tells one resume from another.
func resumeHash(r StartRequest) string {
	parts := []string{r.Input.RunID}
	for _, entry := range r.Input.Resume {
		parts = append(parts, entry.InterruptID, entry.Status, string(entry.Payload))
	}
	return hashOf(parts...)
}
