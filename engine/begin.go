package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/round"
)

// idle is a thread that nothing runs in, as it was read.
type idle struct {
	rec    *threadRecord // nil: the thread is to be made
	head   eventlog.Cursor
	list   *agui.List
	grants []Grant
	queued *runRecord // the run that was queued, if that is what is to begin
}

// begin starts a turn: RUN_STARTED and all records are durable when it returns.
// The seat is reserved, or nil if the turn is to wait for one. An error that
// matches eventlog.ErrConflict says that something was appended since the thread
// was read.
func (c *conversation) begin(ctx context.Context, r StartRequest, in idle, n news, s *seat) (Started, error) {
	epoch, err := c.e.o.Log.Lease(ctx, c.id, c.e.o.Owner, c.e.o.LeaseTTL)
	if err != nil {
		return Started{}, err
	}
	t := &turn{
		e: c.e, c: c, agent: c.e.agent(in.rec.Agent), done: make(chan struct{}), reopened: make(chan struct{}), seat: s,
		rec: in.rec, list: in.list, tools: map[string]string{}, grants: in.grants,
		firstRound: in.rec.NextRound, prompt: parts(n.prompt, r.Input.Context), lastSaid: time.Now(),
	}
	t.ctx, t.cancel = context.WithCancelCause(c.e.ctx)
	t.j = newJournal(c.e.o.Log, c.id, epoch, in.head, c.e.o.Limits.JournalBytes, t.broken)
	dropped := in.queued != nil && in.queued.Cancelled
	t.first(r, n, in.queued)
	if err := t.j.appendNow(ctx); err != nil {
		t.cancel(err)
		c.e.giveLease(c.id)
		return Started{}, err
	}
	started := Started{Run: t.run.public(t.j.head.Gen), After: eventlog.Cursor{Gen: t.j.head.Gen, Seq: t.run.FromSeq - 1}}
	c.retain()
	c.setTurn(t)
	c.e.wg.Add(1)
	go t.j.run()
	t.leaseTimer = time.AfterFunc(c.e.o.LeaseTTL/3, t.renew)
	if dropped {
		t.cancel(errCancelled)
	}
	t.watchSilence()
	go t.main()
	return started, nil
}

// first makes the turn's records and its first run.
func (t *turn) first(r StartRequest, n news, queued *runRecord) {
	rec, inputs := t.rec, refs(n.prompt)
	if queued != nil && queued.Cancelled {
		n = news{} // taken back before anybody was told of it
	}
	rec.Turns++
	rec.Turn = &turnRecord{Prefix: turnPrefix(t.c.id, rec.CreatedAt, rec.Turns), From: t.j.seq}
	rec.Input = append(rec.Input[:len(rec.Input):len(rec.Input)], n.prompt...)
	if rec.Title == "" {
		rec.Title = titleOf(n.prompt)
	}
	if queued != nil {
		now := t.e.o.Now().UTC()
		t.run = queued
		t.run.State, t.run.StartedAt = RunRunning, &now
		rec.Turn.Runs++
		t.j.drop(keyQueued + queued.ID)
	} else {
		t.newRun(r.Input.RunID, r.Input.ParentRunID)
	}
	t.run.Inputs = inputs
	t.j.setGlobal(keyOpen+t.c.id, []byte(t.e.o.Owner))
	input := r.Input
	input.Messages, input.Tools, input.Context, input.Resume = n.all(), []agui.Tool{}, []agui.ContextEntry{}, nil
	input.State, input.ForwardedProps = orEmpty(input.State), orEmpty(input.ForwardedProps)
	input.ProtocolVersion = ""
	t.list.Add(n.all()...)
	t.open(agui.RunStarted{ParentRunID: r.Input.ParentRunID, Input: &input})
	if said(input.State) && !sameJSON(input.State, t.list.State()) {
		event := &agui.StateSnapshot{Snapshot: input.State}
		t.emit.Emit(event)
		t.list.Emit(event)
		t.save()
	}
	t.b = round.NewBuilder(round.Config{
		Thread: t.c.id, Run: t.run.ID, Prefix: rec.Turn.Prefix, FirstRound: t.firstRound,
		Events: t.events(), OnRound: t.storeRound, Now: t.e.o.Now,
	})
}

func orEmpty(v json.RawMessage) json.RawMessage {
	if len(v) == 0 || string(v) == "null" {
		return json.RawMessage("{}")
	}
	return v
}

// said reports whether a posted state says anything: clients post {} always.
func said(state json.RawMessage) bool { return !sameJSON(state, json.RawMessage("{}")) }

// next starts the queued run that is due.
func (c *conversation) next(ctx context.Context) {
	if err := c.lock(ctx); err != nil {
		return
	}
	defer c.unlock()
	for range conflicts {
		if c.open() != nil || c.e.Draining() {
			return
		}
		err := c.startQueued(ctx)
		if !errors.Is(err, eventlog.ErrConflict) {
			if unknown := (*Error)(nil); err != nil && !(errors.As(err, &unknown) && unknown.Code == "thread_unknown") {
				c.e.o.Logger.Warn("a queued run could not start", "thread", c.id, "error", err)
			}
			return
		}
	}
}

// conflicts is how often something may be appended between reading and writing.
const conflicts = 8

func (c *conversation) startQueued(ctx context.Context) error {
	var in idle
	var r StartRequest
	err := c.known(ctx, func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) (err error) {
		if len(rec.Queue) == 0 || rec.Turn != nil {
			return nil
		}
		id := rec.Queue[0]
		rec.Queue = rec.Queue[1:]
		if r, _, err = decode[StartRequest](v.Get(keyQueued + id)); err != nil {
			return err
		}
		if in.queued, err = getRun(v, id); err != nil {
			return err
		}
		return c.readIdle(v, rec, head, &in)
	})
	if err != nil || in.queued == nil {
		return err
	}
	_, err = c.begin(ctx, r, in, sift(r.Input.Messages, ids(in.list)), nil)
	return err
}

// readIdle reads what a turn begins with.
func (c *conversation) readIdle(v eventlog.View, rec *threadRecord, head eventlog.Cursor, in *idle) (err error) {
	in.rec, in.head = rec, head
	if in.list, err = c.folded(v, head, rec.floor()); err != nil {
		return err
	}
	in.grants, err = readGrants(v)
	return err
}

// enqueue puts a run behind the open one.
func (t *turn) enqueue(ctx context.Context, r StartRequest) (Started, error) {
	t.mu.Lock()
	if t.ending {
		t.mu.Unlock()
		return Started{}, errEnded
	}
	n := sift(r.Input.Messages, ids(t.list))
	if len(n.prompt) == 0 {
		t.mu.Unlock()
		return Started{}, errNothing
	}
	t.rec.Runs++
	run := &runRecord{Ordinal: t.rec.Runs, Inputs: refs(n.prompt), Run: Run{
		ID: r.Input.RunID, Thread: t.c.id, Agent: t.agent.Name, Parent: r.Input.ParentRunID, State: RunQueued, CreatedAt: t.e.o.Now().UTC(),
	}}
	t.rec.Queue = append(t.rec.Queue, run.ID)
	t.j.set(keyRun+ordinal(run.Ordinal), encode(run))
	t.j.set(keyRunID+run.ID, []byte(ordinal(run.Ordinal)))
	t.j.setGlobal(runsKey(run.ID, t.c.id), []byte{'1'})
	t.j.set(keyQueued+run.ID, encode(r))
	t.save()
	at := t.j.seq
	group := t.j.commit()
	t.mu.Unlock()
	head, err := t.durable(ctx, group)
	if err != nil {
		return Started{}, err
	}
	return Started{Run: run.Run, After: eventlog.Cursor{Gen: head.Gen, Seq: at}}, nil
}

var (
	errEnded   = errors.New("the turn has ended")
	errNothing = refuse("bad_request", "there is no new user message to answer")
)

// fill completes a request with ids that a retry gets too.
func (r *StartRequest) fill() error {
	in := &r.Input
	switch {
	case in.ThreadID == "" || len(in.ThreadID) > maxID || strings.Contains(in.ThreadID, "\x00"):
		return refuse("bad_request", "a thread id has 1 to %d bytes, none of them NUL", maxID)
	case len(in.RunID) > maxID || strings.Contains(in.RunID, "\x00"):
		return refuse("bad_request", "a run id has at most %d bytes, none of them NUL", maxID)
	case len(in.ParentRunID) > maxID:
		return refuse("bad_request", "a parent run id has at most %d bytes", maxID)
	}
	if in.RunID == "" {
		in.RunID = "run-" + randomID()
	}
	messages := make([]agui.Message, len(in.Messages))
	for i, m := range in.Messages {
		if m.ID == "" {
			m.ID = fmt.Sprintf("%.40s", "u-"+hashOf(in.RunID, fmt.Sprint(i)))
		}
		messages[i] = m
	}
	in.Messages = messages
	return nil
}

const maxID = 256
