package engine

import (
	"context"
	"errors"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// answerAll settles what a resume answers and goes on, in a new run if none is
// open. taken says that a run of the posted id exists: CopilotKit resumes under
// the interrupted run's id.
func (t *turn) answerAll(ctx context.Context, r StartRequest, taken bool) (Started, error) {
	t.mu.Lock()
	if t.ending {
		t.mu.Unlock()
		return Started{}, errEnded
	}
	answers := map[*ask]Answer{}
	var order []*ask
	for _, entry := range r.Input.Resume {
		for _, a := range t.asks {
			if a.req.ID == entry.InterruptID {
				answers[a] = resumed(entry, a.q.Elicitation != nil)
				order = append(order, a)
			}
		}
	}
	if len(order) == 0 {
		// They were answered a moment ago: looked at again once that is durable.
		group := t.j.put
		t.mu.Unlock()
		if _, err := t.durable(ctx, group); err != nil {
			return Started{}, err
		}
		return Started{}, errEnded
	}
	if t.waiting {
		id := r.Input.RunID
		if taken {
			id = t.newRunID()
		}
		t.reopen(id)
	}
	for _, a := range order {
		chosen, err := choose(a.q, answers[a])
		if err != nil {
			chosen = source.Refuse(a.q) // what is not clearly an approval is a denial
		}
		t.settle(a, chosen, "resolved", Resolution{By: or(r.By, "client"), Reason: answers[a].Reason})
	}
	t.j.set(keyAnswer+resumeHash(r), []byte(t.run.ID))
	run, from := *t.run, t.run.FromSeq
	group := t.j.commit()
	t.mu.Unlock()
	head, err := t.durable(ctx, group)
	if err != nil {
		return Started{}, err
	}
	return Started{Run: run.public(head.Gen), After: eventlog.Cursor{Gen: head.Gen, Seq: from - 1}, Resumed: true}, nil
}

// steerAway denies what waits, because the user goes on with something else, and
// ends the turn. It returns once the thread is free.
func (t *turn) steerAway(ctx context.Context, r StartRequest) error {
	t.mu.Lock()
	if !t.ending {
		for len(t.asks) > 0 {
			a := t.asks[0]
			t.settle(a, source.Refuse(a.q), "cancelled", Resolution{By: or(r.By, "client"), Reason: "the user went on with something else"})
		}
		t.cancel(errCancelled) // before the agent hears of the denials, which it might end its turn at
		t.j.commit()
	}
	t.mu.Unlock()
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Resolve answers a request. The same answer again is fine, another is
// already_resolved. Of a run of another engine on a shared log it is run_active.
func (e *Engine) Resolve(ctx context.Context, id string, a Answer) (Request, error) {
	for range conflicts {
		req, err := e.Request(ctx, id)
		if err != nil {
			return req, err
		}
		if req.State != "pending" {
			if !sameAnswer(req, a) {
				return req, refuse("already_resolved", "request %q is %s already", id, req.State)
			}
			return req, nil
		}
		req, again, err := e.resolve(ctx, req, a)
		if !again {
			return req, storage(err)
		}
	}
	return Request{}, refuse("internal", "request %q has no turn that waits for it", id)
}

// resolve answers a request that was pending when it was read; again says that
// it no longer is.
func (e *Engine) resolve(ctx context.Context, req Request, answer Answer) (_ Request, again bool, err error) {
	c := e.use(req.Thread)
	defer c.release()
	t := c.open()
	if t == nil {
		err := c.settleStray(ctx)
		if errors.Is(err, eventlog.ErrHeld) {
			err = elsewhere(req.Run)
		}
		return req, err == nil, err
	}
	t.mu.Lock()
	var a *ask
	for _, o := range t.asks {
		if o.req.ID == req.ID {
			a = o
		}
	}
	if t.ending || a == nil {
		group := t.j.put
		t.mu.Unlock()
		_, err := t.durable(ctx, group)
		return req, err == nil || errors.Is(err, errEnded), err
	}
	chosen, err := choose(a.q, answer)
	if err != nil {
		t.mu.Unlock()
		return req, false, err
	}
	if t.waiting {
		t.reopen(t.newRunID())
	}
	t.settle(a, chosen, "resolved", Resolution{By: or(answer.By, "rest"), Reason: answer.Reason})
	req = a.req
	group := t.j.commit()
	t.mu.Unlock()
	_, err = t.durable(ctx, group)
	return req, errors.Is(err, errEnded), err
}

// durable waits until a group is. A turn that has lost its thread to another owner
// gives errEnded, once it is over: what it held counts no more, and the log says
// what does.
func (t *turn) durable(ctx context.Context, group uint64) (eventlog.Cursor, error) {
	head, err := t.j.wait(ctx, group)
	if !errors.Is(err, eventlog.ErrFenced) && !errors.Is(err, eventlog.ErrConflict) {
		return head, err
	}
	select {
	case <-t.done:
		return head, errEnded
	case <-ctx.Done():
		return head, context.Cause(ctx)
	}
}
