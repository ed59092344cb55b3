package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/agentstream-go/agentstream/source"
)

// ask is a request that waits for its answer.
type ask struct {
	req   Request
	q     source.Request
	tool  string
	reply func(source.Answer)
	timer *time.Timer   // expiry
	over  chan struct{} // closed when it is settled
}

// ask is the session's Turn.Ask: it settles the request by a remembered answer
// or the policy, or records it and lets the run end with an interrupt.
func (t *turn) ask(q source.Request, reply func(source.Answer)) {
	defer t.survive()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ending || t.limited {
		go reply(source.Answer{})
		return
	}
	defer t.j.commit()
	a := t.newAsk(q, reply)
	if g, ok := t.granted(a); ok {
		if answer, ok := g.answer(q); ok {
			t.settle(a, answer, "resolved", Resolution{By: "grant", Grant: g.ID})
			return
		}
	}
	policy := t.e.o.Policy
	if policy != PolicyAsk {
		answer, allowed := policy.decide(q, t.rec.Cwd)
		if !allowed {
			t.run.Refused++
		}
		t.settle(a, answer, "resolved", Resolution{By: "policy", Policy: policy})
		return
	}
	t.pend(a)
}

func (t *turn) newAsk(q source.Request, reply func(source.Answer)) *ask {
	now := t.e.o.Now().UTC()
	t.rec.Turn.Requests++
	public, _ := t.b.CallID(q.ToolCallID)
	r := Request{
		ID:     fmt.Sprintf("q%011x-%s-%d", now.UnixMilli(), t.rec.Turn.Prefix, t.rec.Turn.Requests),
		Thread: t.c.id, Run: t.run.ID, Agent: t.agent.Name, ToolCallID: public,
		Title: q.Title, Kind: q.Kind, Locations: q.Locations, Options: []RequestOption{},
		State: "pending", CreatedAt: now,
	}
	for _, o := range q.Options {
		r.Options = append(r.Options, RequestOption{OptionID: o.ID, Name: o.Name, Kind: o.Kind})
	}
	if e := q.Elicitation; e != nil {
		r.Elicitation = &Elicitation{Message: e.Message, Mode: e.Mode, Schema: e.Schema, URL: e.URL}
	}
	t.j.set(keyAsked+r.ID, []byte{'1'})
	return &ask{req: r, q: q, tool: t.tools[q.ToolCallID], reply: reply, over: make(chan struct{})}
}

// pend records a request that waits.
func (t *turn) pend(a *ask) {
	expires := a.req.CreatedAt.Add(t.e.o.RequestTTL)
	a.req.ExpiresAt = &expires
	t.asks = append(t.asks, a)
	t.rec.Pending = len(t.asks)
	t.b.Hold(a.q.ToolCallID)
	t.j.setGlobal(keyPending+a.req.ID, []byte(t.c.id))
	t.saveAsk(a)
	t.save()
	a.timer = time.AfterFunc(t.e.o.RequestTTL, func() { t.withdraw(a, "expired", "nobody answered in time") })
	go t.watchAsk(a)
	if t.e.o.Ask != nil {
		go t.askDirectly(a, a.req)
		return
	}
	if t.quietTimer == nil {
		t.firstAsk = time.Now()
		t.quietTimer = time.AfterFunc(quietFor, t.quiet)
	}
}

func (t *turn) saveAsk(a *ask) {
	req := a.req
	t.j.setGlobal(keyRequest+req.ID, encode(req))
	change := requestChange{req.ID, req.State}
	t.j.setGlobal(change.key(), encode(change))
	t.j.after(func() { t.e.feed.add(change) })
}

// watchAsk ends the request when the agent withdraws it.
func (t *turn) watchAsk(a *ask) {
	select {
	case <-a.q.Done: // nil for a source that never withdraws
		t.withdraw(a, "cancelled", "the agent withdrew the request")
	case <-a.over:
	case <-t.done:
	}
}

// withdraw ends a request without anybody's answer. If a run waits for it, the
// turn goes on in a new one.
func (t *turn) withdraw(a *ask, state, reason string) {
	defer t.survive()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ending || !t.pending(a) {
		return
	}
	defer t.j.commit()
	t.settle(a, source.Answer{}, state, Resolution{By: "engine", Reason: reason})
	if t.waiting {
		t.reopen(t.newRunID())
	}
}

func (t *turn) pending(a *ask) bool {
	for _, o := range t.asks {
		if o == a {
			return true
		}
	}
	return false
}

// askDirectly asks whoever sits at the terminal.
func (t *turn) askDirectly(a *ask, req Request) {
	ctx, cancel := context.WithCancel(t.ctx)
	defer cancel()
	go func() {
		select {
		case <-a.over:
			cancel() // answered elsewhere
		case <-ctx.Done():
		}
	}()
	defer t.survive()
	answer, ok := t.e.o.Ask(ctx, req)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ending || !t.pending(a) {
		return
	}
	defer t.j.commit()
	chosen, err := choose(a.q, answer)
	res := Resolution{By: or(answer.By, "terminal"), Reason: answer.Reason}
	if !ok || err != nil {
		chosen = source.Refuse(a.q)
		res = Resolution{By: "policy", Policy: PolicyAsk, Reason: "nobody could be asked"}
		t.run.Refused++
		t.save()
	}
	t.settle(a, chosen, "resolved", res)
}

// settle ends a request: its record, then, once that is durable, the agent's
// answer.
func (t *turn) settle(a *ask, answer source.Answer, state string, res Resolution) {
	close(a.over)
	if a.timer != nil {
		a.timer.Stop()
	}
	for i, o := range t.asks {
		if o == a {
			t.asks = append(t.asks[:i:i], t.asks[i+1:]...)
			if t.b != nil {
				t.b.Release(a.q.ToolCallID)
			}
			t.j.dropGlobal(keyPending + a.req.ID)
			break
		}
	}
	t.rec.Pending = len(t.asks)
	if len(t.asks) == 0 && t.quietTimer != nil {
		t.quietTimer.Stop()
		t.quietTimer = nil
	}
	res.At, res.OptionID, res.Content = t.e.o.Now().UTC(), answer.OptionID, answer.Content
	a.req.State, a.req.Resolution = state, &res
	if state == "resolved" && res.Grant == "" && res.Policy == "" {
		t.remember(a, answer)
	}
	t.saveAsk(a)
	t.save()
	reply := a.reply
	t.j.after(func() { go reply(answer) })
}

// dropAsks ends all requests because the turn does.
func (t *turn) dropAsks(reason string) {
	for len(t.asks) > 0 {
		t.settle(t.asks[0], source.Answer{}, "cancelled", Resolution{By: "engine", Reason: reason})
	}
}

// granted looks for a remembered answer.
func (t *turn) granted(a *ask) (Grant, bool) {
	for _, g := range t.grants {
		if g.covers(t.agent.Name, a.tool, a.q) {
			return g, true
		}
	}
	return Grant{}, false
}

// remember stores an "always" answer.
func (t *turn) remember(a *ask, answer source.Answer) {
	g, ok := grantFor(t.agent.Name, a.tool, a.q, kindOf(a.q.Options, answer.OptionID))
	if !ok {
		return
	}
	g.ID, g.Thread, g.Request = "g"+a.req.ID[1:], t.c.id, a.req.ID
	g.By, g.CreatedAt = a.req.Resolution.By, a.req.Resolution.At
	t.grants = append(t.grants, g)
	t.j.set(keyGrant+g.ID, encode(g))
	t.j.setGlobal(keyGrants+g.ID, []byte(t.c.id))
}
