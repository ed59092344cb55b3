package engine

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/source"
)

// paused is a log whose writer stands still for a while, as a machine does that
// sleeps.
type paused struct {
	eventlog.Log
	gate chan chan struct{} // holds what to wait for, if anything
}

func newPaused(l eventlog.Log) *paused {
	p := &paused{Log: l, gate: make(chan chan struct{}, 1)}
	p.gate <- nil
	return p
}

// pause stops the writer until the returned function is called.
func (p *paused) pause() (resume func()) {
	stop := make(chan struct{})
	<-p.gate
	p.gate <- stop
	return func() { close(stop) }
}

func (p *paused) wait(ctx context.Context) error {
	stop := <-p.gate
	p.gate <- stop
	if stop == nil {
		return nil
	}
	select {
	case <-stop:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *paused) Append(ctx context.Context, b eventlog.Batch) (eventlog.Cursor, error) {
	if err := p.wait(ctx); err != nil {
		return eventlog.Cursor{}, err
	}
	return p.Log.Append(ctx, b)
}

func (p *paused) Lease(ctx context.Context, thread, owner string, ttl time.Duration) (uint64, error) {
	if err := p.wait(ctx); err != nil {
		return 0, err
	}
	return p.Log.Lease(ctx, thread, owner, ttl)
}

// TestTwoEnginesOnOneDatabase: an engine stands still for longer than its lease.
// The other one ends its run as lost and goes on with the thread; when the first
// wakes, nothing that it still has to say gets into the log.
func TestTwoEnginesOnOneDatabase(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	open := func() *sqlite.Log {
		l, err := sqlite.Open(path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	shared := func(o *Options) { o.Shared, o.LeaseTTL, o.ShutdownTimeout = true, time.Second, time.Millisecond }
	log := newPaused(open())
	a := newWorld(t, log, map[string]script{"go": untilCancelled("working"), "ask": asks("c")}, shared)
	b := newWorld(t, open(), nil, shared)
	s := a.start("t", "r1", "go")
	waiting := a.start("w", "r1", "ask")
	a.stream(waiting)
	elsewhereRefused(t, b)
	resume := log.pause()
	started := untilFree(t, b, "t", "r2", "hi")
	untilFree(t, b, "w", "r2", "hi")
	if run := b.settled("t", "r1"); run.State != RunLost {
		t.Errorf("the run of who stood still: %+v", run)
	}
	if p, err := b.Requests(bg, "", "pending"); err != nil || len(p) != 0 {
		t.Errorf("pending: %+v, %v", p, err)
	}
	b.settled("t", "r2")
	b.settled("w", "r2")
	b.free("t")
	b.free("w")
	resume() // only now, so that nobody is there who might take what b has
	title := "said after waking"
	a.agent.session(0).o.Observe(source.Fact{Title: &title})
	a.free("t")
	a.free("w")
	if got := unquote(b.stream(started)); !slices.Contains(got, "text you said hi") {
		t.Errorf("%q", got)
	}
	want := []string{"started", "text_message_start", "text working", "text_message_end", "tool_call_start", "args {}", "tool_call_end", "result [no result: unfinished]", "error run_lost"}
	got := slices.DeleteFunc(unquote(b.stream(s)), func(l string) bool { return l == "custom agentstream.silence" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if th, err := b.Thread(bg, "t"); err != nil || th.LastRun.ID != "r2" || th.LastRun.State != RunFinished || th.State != "idle" {
		t.Errorf("the thread: %+v, %v", th, err)
	}
	if runs, err := b.Runs(bg, "w"); err != nil || len(runs) != 3 || runs[1].State != RunLost || runs[2].State != RunFinished {
		t.Errorf("the thread that waited: %+v, %v", runs, err)
	}
	a.close()
	b.close()
}

// elsewhereRefused: what another engine runs can be seen, but neither cancelled nor
// answered. Whether it still runs depends on the lease, which a slow machine may
// let run out.
func elsewhereRefused(t *testing.T, b *world) {
	t.Helper()
	if run, err := b.Cancel(bg, "t", "r1"); code(err) != "run_active" && run.State != RunLost {
		t.Errorf("cancelled elsewhere: %+v, %v", run, err)
	}
	p, err := b.Requests(bg, "w", "pending")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range p {
		if got, err := b.Resolve(bg, q.ID, Answer{Approved: yes()}); code(err) != "run_active" && code(err) != "already_resolved" {
			t.Errorf("answered elsewhere: %+v, %v", got, err)
		}
	}
}

// untilFree starts a run as soon as the thread's lease has run out.
func untilFree(t *testing.T, w *world, thread, run, text string) Started {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	for {
		s, err := w.Start(bg, w.request(thread, run, text))
		if err == nil {
			return s
		}
		if code(err) != "run_active" {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
			t.Fatal(errors.New("the lease does not run out"))
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// Who asks an engine that has lost a thread without knowing it is answered as by
// one that knows, once it does.
func TestAskedAfterItLostTheThread(t *testing.T) {
	log := openSQLite(t)
	a := newWorld(t, log, map[string]script{"ask": asks("c")})
	for _, thread := range []string{"m", "r", "s", "c", "q"} {
		a.stream(a.start(thread, "r1", "ask"))
	}
	ids := map[string]string{}
	for _, q := range a.pending() {
		ids[q.Thread] = q.ID
	}
	resume := a.answer("s", "r2", approve(ids["s"], `{"approved":true}`))
	again := a.request("q", "r2", "hi")
	again.Enqueue = true
	title := "a title"
	b := newWorld(t, log, nil) // takes all leases
	if _, err := a.Resolve(bg, ids["r"], Answer{OptionID: "yes"}); code(err) != "already_resolved" {
		t.Errorf("resolve: %v", err)
	}
	if s, err := a.Start(bg, resume); err != nil || !s.Attached || len(s.Conflicts) != 1 {
		t.Errorf("resume: %+v, %v", s, err)
	}
	if th, err := a.Configure(bg, "c", ThreadPatch{Title: &title}); err != nil || th.Title != title {
		t.Errorf("configure: %+v, %v", th, err)
	}
	if s, err := a.Start(bg, again); err != nil || s.Run.State != RunRunning {
		t.Errorf("enqueue: %+v, %v", s, err)
	}
	a.settled("q", "r2")
	c := a.use("m")
	turn := c.open()
	turn.mu.Lock()
	turn.j.set("x", []byte("y"))
	turn.j.commit()
	turn.mu.Unlock()
	if m, err := a.Messages(bg, "m", 0, ""); err != nil || m.OpenRun != nil || len(m.Pending) > 0 || len(m.Messages) != 3 {
		t.Errorf("messages: %+v, %v", m, err)
	}
	c.release()
	a.close()
	b.close()
}

// A turn that notices only with its last word that it has lost the thread leaves it
// to its new owner, and is no fault.
func TestLostWithTheLastWord(t *testing.T) {
	log := openSQLite(t)
	begun, gate := make(chan struct{}), make(chan struct{})
	var told bytes.Buffer
	a := newWorld(t, log, map[string]script{"go": func(_ context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
		tn.Handler.OnToolCall("c", "look")
		close(begun)
		<-gate
		return source.EndTurn, nil
	}}, func(o *Options) { o.Logger = slog.New(slog.NewTextHandler(&told, nil)) })
	a.start("t", "r1", "go")
	<-begun
	if _, err := a.Messages(bg, "t", 0, ""); err != nil { // all of it is durable
		t.Fatal(err)
	}
	b := newWorld(t, log, map[string]script{"hi": untilCancelled("hello")}) // takes all leases
	b.start("t", "r2", "hi")
	close(gate)
	a.forgotten(t)
	a.close()
	if told.Len() > 0 {
		t.Errorf("it says: %s", told.String())
	}
	if run, err := b.Run(bg, "t", "r2"); err != nil || run.State != RunRunning {
		t.Errorf("the owner's run: %+v, %v", run, err)
	}
	if _, err := b.Cancel(bg, "t", "r2"); err != nil {
		t.Error(err)
	}
	b.close()
}

// forgotten waits until the engine holds no thread, nor anything to be done to one.
func (w *world) forgotten(t *testing.T) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); ; <-tick.C {
		w.mu.Lock()
		n := len(w.conversations)
		w.mu.Unlock()
		switch {
		case n == 0:
			return
		case time.Now().After(end):
			t.Fatal("threads are still in use")
		}
	}
}

// A turn that finds out by its lease that it lost the thread does not keep it from
// its owner.
func TestARenewedLeaseIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		a := newWorld(t, log, map[string]script{"ask": asks("c")})
		a.stream(a.start("t", "r1", "ask"))
		b := newWorld(t, log, nil) // takes the lease, ends the turn and gives the lease back
		a.pass(15 * time.Second)   // a asks for its lease
		if s, err := b.Start(bg, b.request("t", "r2", "hi")); err != nil || s.Run.State != RunRunning {
			t.Errorf("%+v, %v", s, err)
		}
		b.settled("t", "r2")
		b.close()
		a.close()
	})
}

// What an engine that stops has queued begins at the other one, when somebody looks.
func TestQueueOfAnEngineThatStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		shared := func(o *Options) { o.Shared = true }
		a := newWorld(t, log, map[string]script{"go": untilCancelled("working")}, shared)
		b := newWorld(t, log, nil, shared)
		a.start("t", "r1", "go")
		q := a.request("t", "r2", "hi")
		q.Enqueue = true
		if s, err := a.Start(bg, q); err != nil || s.Run.State != RunQueued {
			t.Fatalf("%+v, %v", s, err)
		}
		if err := a.Close(bg); err != nil {
			t.Fatal(err)
		}
		if _, err := b.Thread(bg, "t"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if run, err := b.Run(bg, "t", "r2"); err != nil || run.State != RunFinished {
			t.Errorf("%+v, %v", run, err)
		}
		b.close()
	})
}
