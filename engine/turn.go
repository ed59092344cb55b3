package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/round"
	"github.com/agentstream-go/agentstream/source"
)

// Why a turn's context ended.
var (
	errCancelled = errors.New("cancelled")
	errStopping  = errors.New("the server is stopping")
	errFenced    = errors.New("another owner has the thread")
	errStorage   = errors.New("the log failed")
	errSilent    = errors.New("the agent said nothing for too long")
	errPanic     = errors.New("a defect ended the turn")
)

// turn is one prompt of the agent. It has a run, and one more after each
// interrupt. Whoever drives it holds mu and commits the journal before leaving.
type turn struct {
	e      *Engine
	c      *conversation
	agent  Agent
	ctx    context.Context
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when it is over and the next may begin
	j      *journal
	prompt []source.Part
	seat   *seat // reserved at the start; nil: to be waited for

	mu         sync.Mutex
	rec        *threadRecord
	run        *runRecord // now; while waiting the last one
	list       *agui.List
	emit       *agui.Emitter
	b          *round.Builder
	firstRound int
	// storedRound is the last one in the log, of a turn whose builder is gone.
	storedRound int
	waiting     bool // no run is open: requests wait for answers
	ending      bool // nothing more is taken
	limited     bool // the run is as long as it may be: what the agent still says is dropped
	prompted    bool // the agent has the prompt
	said        bool // the agent has said something
	held        []agentstream.Event
	heldBytes   int
	reopened    chan struct{} // closed when what is held has been passed on
	asks        []*ask
	grants      []Grant
	tools       map[string]string // name by the agent's call id
	blobs       map[string]bool   // hashes of those that were stored
	large       int64             // bytes of those that the run stored
	lastSaid    time.Time
	firstAsk    time.Time // of those that no interrupt has shown
	quietTimer  *time.Timer
	silence     silence
	leaseTimer  *time.Timer
}

// main runs the turn to its end.
func (t *turn) main() {
	defer t.e.wg.Done()
	stop, err := t.drive()
	t.finish(stop, err)
}

// drive has the agent carry out the prompt. A session that was kept and turns
// out to be dead or spoilt is replaced once, if the agent has said nothing.
func (t *turn) drive() (_ source.StopReason, err error) {
	defer t.recovered(&err)
	if t.agent.Source == nil {
		return "", &source.Error{Code: source.CodeAgentMissing, Message: fmt.Sprintf("agent %s is not configured any more", t.agent.Name)}
	}
	if t.seat == nil {
		seat, err := t.e.pool.take(t.ctx, t.c)
		if err != nil {
			return "", err
		}
		t.seat = seat
	}
	t.seat.ready()
	for {
		kept := t.seat.session != nil
		if t.ctx.Err() != nil {
			return "", context.Cause(t.ctx)
		}
		if err := t.sit(); err != nil {
			return "", err
		}
		stop, err := t.converse()
		if err == nil || !kept || !gone(err) || t.ctx.Err() != nil || t.hasSaid() {
			return stop, err
		}
		t.seat.drop()
	}
}

// gone reports whether a session is of no more use.
func gone(err error) bool {
	var own *source.Error
	return errors.Is(err, source.ErrSpoilt) || errors.Is(err, source.ErrClosed) ||
		errors.As(err, &own) && (own.Code == source.CodeAgentExited || own.Code == source.CodeAgentProtocol || own.Code == source.CodeTimeout)
}

func (t *turn) hasSaid() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.said
}

// converse runs the session's turn. A source that does not return when it is
// cancelled has its session closed, and is then left behind.
func (t *turn) converse() (source.StopReason, error) {
	type result struct {
		stop source.StopReason
		err  error
	}
	t.mu.Lock()
	t.prompted = true
	t.lastSaid = time.Now()
	t.mu.Unlock()
	session, ended := t.seat.session, make(chan result, 1)
	go func() {
		var r result
		defer func() { ended <- r }()
		defer t.recovered(&r.err)
		r.stop, r.err = session.Run(t.ctx, source.Turn{Prompt: t.prompt, Handler: gate{t}, Ask: t.ask})
	}()
	select {
	case r := <-ended:
		return r.stop, r.err
	case <-t.ctx.Done():
	}
	grace := time.NewTimer(cancelGrace)
	defer grace.Stop()
	select {
	case r := <-ended:
		return r.stop, r.err
	case <-grace.C:
	}
	t.e.o.Logger.Error("the agent's session did not end a cancelled turn", "thread", t.c.id, "agent", t.agent.Name)
	t.seat.session = nil
	go session.Close()
	grace.Reset(cancelGrace)
	select {
	case r := <-ended:
		return r.stop, r.err
	case <-grace.C:
		return "", context.Cause(t.ctx)
	}
}

// cancelGrace is what a source gets to end a cancelled turn, and again after its
// session was closed.
const cancelGrace = 20 * time.Second

// survive ends the turn instead of the process when what a timer or a source
// called has a defect.
func (t *turn) survive() {
	if p := recover(); p != nil {
		t.e.o.Logger.Error("panic in a turn", "thread", t.c.id, "agent", t.agent.Name, "panic", p, "stack", string(debug.Stack()))
		t.cancel(errPanic)
	}
}

// recovered turns a panic into an error.
func (t *turn) recovered(err *error) {
	if p := recover(); p != nil {
		t.e.o.Logger.Error("panic in a turn", "thread", t.c.id, "agent", t.agent.Name, "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("%w: %v", errPanic, p)
	}
}

// newRun makes the record of the turn's next run.
func (t *turn) newRun(id, parent string) {
	now := t.e.o.Now().UTC()
	t.rec.Runs++
	t.rec.Turn.Runs++
	t.large = 0
	t.run = &runRecord{Ordinal: t.rec.Runs, Run: Run{
		ID: id, Thread: t.c.id, Agent: t.agent.Name, Parent: parent,
		State: RunRunning, CreatedAt: now, StartedAt: &now,
	}}
}

// open begins a run: its emitter and RUN_STARTED.
func (t *turn) open(started agui.RunStarted) {
	t.waiting, t.rec.Turn.Waiting = false, false
	t.rec.State = "running"
	t.emit = agui.NewEmitter(agui.EmitterConfig{Thread: t.c.id, Run: t.run.ID, Now: t.e.o.Now, Sink: t.sink})
	t.emit.Begin(started)
	t.touch()
	t.save()
	t.j.set(keyRunID+t.run.ID, []byte(ordinal(t.run.Ordinal)))
	t.j.setGlobal(runsKey(t.run.ID, t.c.id), []byte{'1'})
}

func (t *turn) sink(typ agui.Type, data []byte) {
	seq := t.j.event(eventlog.KindEvent, t.run.ID, data)
	t.rec.Unlisted += len(data)
	t.run.Bytes += int64(len(data))
	switch {
	case typ == agui.TypeRunStarted:
		t.run.FromSeq = seq
	case typ.Terminal():
		t.run.ToSeq = seq
	}
}

// events is what the builder drives.
func (t *turn) events() agui.EventHandler { return offload{t, agui.Handlers(t.emit, t.list)} }

// touch makes the thread the last changed one.
func (t *turn) touch() { t.rec.touch(t.e.o.Now(), t.j.setGlobal, t.j.dropGlobal) }

func (r *threadRecord) touch(now time.Time, put func(string, []byte), drop func(string)) {
	if r.Recent != "" {
		drop(r.Recent)
	}
	r.UpdatedAt = now.UTC()
	r.Recent = recentKey(r.UpdatedAt, r.ID)
	put(r.Recent, []byte(r.ID))
}

// save stores the thread and the run as they are.
func (t *turn) save() {
	t.rec.Last = t.run
	t.j.set(keyRun+ordinal(t.run.Ordinal), encode(t.run))
	t.j.setGlobal(keyThread+t.c.id, encode(t.rec))
	t.j.after(t.e.threads.beat)
}

// storeRound is the builder's OnRound.
func (t *turn) storeRound(r round.Round) {
	out := Round{Run: r.Run, Round: r.Number, Revision: r.Revision, Complete: r.Complete, Input: []agui.Message{}, Messages: r.Messages}
	if r.Number == t.firstRound && len(t.rec.Input) > 0 {
		out.Input = t.rec.Input
	}
	t.j.set(keyRound+ordinal(r.Number), t.pack(out))
}

// closeRun ends the run with its terminal, which the caller's function writes.
func (t *turn) closeRun(state RunState, terminal func()) {
	t.emit.Close()
	if t.emit.NeedsSnapshot() {
		t.emit.Emit(&agui.MessagesSnapshot{Messages: t.list.Messages()})
	}
	terminal()
	now := t.e.o.Now().UTC()
	t.run.State, t.run.EndedAt, t.run.SilentSeconds = state, &now, 0
	t.rec.Bytes += t.run.Bytes
	if t.rec.Unlisted > max(64<<10, t.rec.ListBytes) {
		list := encode(storedList{Seq: t.j.seq, Messages: t.list.Messages(), State: t.list.State()})
		t.j.set(keyList, list)
		t.rec.ListBytes, t.rec.Unlisted = len(list), 0
	}
	t.touch()
	if t.rec.Turn == nil {
		t.rec.ripen(t.e.keeper, t.j.setGlobal, t.j.dropGlobal)
		t.j.after(t.e.keeper.wake)
	}
	t.save()
}

// emitCustom adds a CUSTOM event to the open run.
func (t *turn) emitCustom(name string, value any) {
	data, err := json.Marshal(value)
	if err == nil {
		t.emit.Emit(&agui.Custom{Name: name, Value: data})
	}
}

// broken takes a failure of the journal.
func (t *turn) broken(err error) {
	if errors.Is(err, eventlog.ErrFenced) || errors.Is(err, eventlog.ErrConflict) {
		t.cancel(fmt.Errorf("%w: %w", errFenced, err))
		return
	}
	t.e.o.Logger.Error("the log failed", "thread", t.c.id, "error", err)
	t.cancel(fmt.Errorf("%w: %w", errStorage, err))
}
