package torture_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream/e2e/recordings/player"
	"github.com/agentstream-go/agentstream/engine"
)

// driver does to one thread what its plan says.
type driver struct {
	w    *world
	plan threadPlan
	id   string
	rand *rand.Rand
	kill func(thread string) // kills the thread's agent

	end      *ending
	readers  []*reader
	watching *reader       // through whom the driver sees
	wake     chan struct{} // something came
	tabs     [2]*tab

	mu   sync.Mutex
	step chan struct{} // closed when the next begins

	answers map[string][]string // what resolve answers that were taken said, by request
}

func newDriver(w *world, seed uint64, p threadPlan, kill func(string)) *driver {
	d := &driver{
		w: w, plan: p, id: fmt.Sprintf("thread-%d", p.n), kill: kill, rand: rand.New(rand.NewPCG(seed, 1<<32+uint64(p.n))),
		end: &ending{known: make(chan struct{})}, wake: make(chan struct{}, 1), step: make(chan struct{}), answers: map[string][]string{},
	}
	d.watching = d.newReader(0, rawReader)
	d.watching.whole, d.watching.heard = true, d.poke
	for i, kind := range p.readers {
		d.readers = append(d.readers, d.newReader(i+1, kind))
	}
	for i := range d.tabs {
		d.tabs[i] = d.newTab(i, d.rand.Uint64())
	}
	return d
}

func (d *driver) newTab(i int, seed uint64) *tab {
	who := fmt.Sprintf("tab %d", i+1)
	return &tab{view: newView(d.w, who, false), rand: rand.New(rand.NewPCG(seed, 0)), agent: d.plan.agent, thread: d.id, cwd: d.cwd()}
}

func (d *driver) newReader(i int, kind readerKind) *reader {
	raw := kind == rawReader || kind == stalled || kind == polling
	return &reader{
		view: newView(d.w, fmt.Sprintf("reader %d (%s)", i, kind), raw), kind: kind, rand: rand.New(rand.NewPCG(d.rand.Uint64(), uint64(i))),
		agent: d.plan.agent, thread: d.id, end: d.end, next: d.coming,
	}
}

func (d *driver) poke() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// coming is closed when the next step begins.
func (d *driver) coming() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.step
}

func (d *driver) begin() {
	d.mu.Lock()
	defer d.mu.Unlock()
	close(d.step)
	d.step = make(chan struct{})
}

// run carries out the plan. When it returns, everybody has seen the end.
func (d *driver) run(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	var mu sync.Mutex
	var failures []error
	fail := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		failures = append(failures, err)
		cancel(errors.New("something else failed"))
	}
	for _, r := range append(d.readers, d.watching) {
		group.Go(func() {
			if err := r.follow(ctx); err != nil {
				fail(err)
			}
		})
	}
	for i, s := range d.plan.steps {
		d.begin()
		if err := d.do(ctx, i, s); err != nil {
			fail(fmt.Errorf("step %d: %w", i+1, err))
			break
		}
	}
	if ctx.Err() == nil {
		if err := d.finish(ctx); err != nil {
			fail(err)
		}
	}
	waited, stop := context.WithTimeoutCause(ctx, patience, errors.New("the readers do not come to the end"))
	defer stop()
	defer context.AfterFunc(waited, func() { cancel(context.Cause(waited)) })()
	group.Wait()
	return errors.Join(failures...)
}

// finish tells the readers where the end is, and brings the tabs there.
func (d *driver) finish(ctx context.Context) error {
	var p page
	if err := d.w.get(ctx, d.path("/events?wait=0s&tail=1"), &p); err != nil {
		return err
	}
	if len(p.Events) != 1 {
		return errors.New("the thread has no event")
	}
	d.end.last = p.Events[0].ID
	close(d.end.known)
	d.begin()
	for _, b := range d.tabs {
		if err := b.catchUp(ctx, d.end.last); err != nil {
			return err
		}
	}
	return nil
}

// cwd is the thread's own folder, by which its agent is known.
func (d *driver) cwd() string { return filepath.Join(d.w.folder, d.id) }

func (d *driver) path(below string) string { return "/v1/threads/" + url.PathEscape(d.id) + below }

// do carries out one step, to the end of its turns.
func (d *driver) do(ctx context.Context, n int, s step) error {
	if s.refresh {
		if err := d.tabs[0].refresh(ctx); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 2*patience, errors.New("the turn does not end"))
	defer cancel()
	asked := make(chan error, 1)
	go func() { asked <- d.start(ctx, n, s) }()
	return d.lead(ctx, n, s, asked)
}

// start asks for the step's runs, and returns when who asked has seen what it
// wanted to.
func (d *driver) start(ctx context.Context, n int, s step) error {
	var group sync.WaitGroup
	failures := make([]error, len(s.words))
	for i, text := range s.words {
		d.w.begun.Add(1)
		run := fmt.Sprintf("run-%d-%d-%d", d.plan.n, n, i)
		if s.how == byTab || s.how == byTabs {
			group.Go(func() { failures[i] = d.post(ctx, d.tabs[i], run, text, s.how == byTabs) })
			continue
		}
		body := map[string]any{"agent": d.plan.agent, "input": text, "runId": run, "cwd": d.cwd()}
		if s.how == byQueue {
			body["onConflict"] = "enqueue"
		}
		a, err := d.w.ask(ctx, "POST", d.path("/runs"), body)
		if err == nil && a.status != http.StatusAccepted && !(a.code == "interrupted" && s.how == byQueue) {
			err = a.bad("run " + run)
		}
		failures[i] = err
	}
	group.Wait()
	return errors.Join(failures...)
}

// post asks for a run by a tab. Of two that do so at once one may be refused.
func (d *driver) post(ctx context.Context, b *tab, run, text string, two bool) error {
	for {
		err := b.post(ctx, run, text, nil)
		var no *refused
		switch {
		case !errors.As(err, &no):
			return err
		case two && (no.code == "run_active" || no.code == "pending"):
			return nil // the other one was faster
		case !d.w.several || no.code != "run_active" && no.code != "pending":
			return err // else it may be an engine's that does not know yet
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// lead answers, cancels and kills until nothing runs any more.
func (d *driver) lead(ctx context.Context, n int, s step, asked <-chan error) error {
	tick := time.NewTicker(300 * time.Millisecond)
	defer tick.Stop()
	begun, over := false, ""
	var answered chan error // while somebody answers, which may take as long as the turn
	trigger := trigger{every: s.cancelAt + s.deathAt, seen: d.watching.events()}
	for {
		select {
		case err := <-asked:
			if err != nil {
				return err
			}
			begun, over, asked = true, "", nil
		case err := <-answered:
			if err != nil {
				return err
			}
			over, answered = "", nil
		case <-d.wake:
		case <-tick.C:
			trigger.still++
			over = ""
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if trigger.due(d.watching.events()) || d.wants() {
			over = ""
			if err := d.hurt(ctx, s); err != nil {
				return err
			}
		}
		at, ended := d.watching.ended()
		if at == over || !ended && over != "" {
			continue // nothing has happened that the thread would show
		}
		over = at
		state, err := d.look(ctx)
		switch {
		case err != nil:
			return err
		case state == idle && begun && answered == nil:
			return nil
		case state == waiting && answered == nil && s.answer != answerNobody:
			done := make(chan error, 1)
			answered = done
			go func() { done <- d.answer(ctx, n, s) }()
		}
	}
}

// trigger goes off whenever so many events more have come, and when none come any
// more: of a turn that is told to take for ever, somebody has to see the end.
type trigger struct {
	every int // 0: never
	seen  int
	last  int // seen when something came last
	still int // looks since then
}

func (t *trigger) due(seen int) bool {
	if seen != t.last {
		t.last, t.still = seen, 0
	}
	if t.every == 0 || seen < t.seen+t.every && t.still < 5 {
		return false
	}
	t.seen, t.still = seen, 0
	return true
}

// wants reports whether the played agent wants its turn to be cancelled, because it
// was when it was recorded or because there will be no answer.
func (d *driver) wants() bool {
	if d.plan.session == nil {
		return false
	}
	told := false
	for _, why := range []string{player.FileCancel, player.FileStuck} {
		told = os.Remove(filepath.Join(d.cwd(), why)) == nil || told
	}
	return told
}

// hurt cancels the turn, or kills its agent.
func (d *driver) hurt(ctx context.Context, s step) error {
	if s.deathAt > 0 && d.plan.session == nil {
		d.kill(d.id)
		return nil
	}
	return d.cancel(ctx)
}

// What a thread can be at.
const (
	idle    = "idle" // nothing is queued either
	running = "running"
	waiting = "waiting"
)

// look says what the thread is at.
func (d *driver) look(ctx context.Context) (state string, err error) {
	a, err := d.w.ask(ctx, "GET", d.path(""), nil)
	if err != nil || a.status == http.StatusNotFound {
		return running, err
	}
	var th engine.Thread
	if err := a.into(&th); err != nil {
		return running, err
	}
	switch {
	case th.Pending > 0:
		return waiting, nil
	case th.State != "idle":
		return running, nil
	}
	var all struct{ Runs []engine.Run } // one that is queued may be about to begin
	err = d.w.get(ctx, d.path("/runs"), &all)
	if slices.ContainsFunc(all.Runs, func(r engine.Run) bool { return r.State.Open() }) {
		return running, err
	}
	return idle, err
}

// cancel cancels the run that is open, if there is one.
func (d *driver) cancel(ctx context.Context) error {
	var th engine.Thread
	a, err := d.w.ask(ctx, "GET", d.path(""), nil)
	if err != nil || a.status == http.StatusNotFound {
		return err
	}
	if err := a.into(&th); err != nil || th.LastRun == nil {
		return err
	}
	path := "/v1/runs/" + url.PathEscape(th.LastRun.ID) + "/cancel?threadId=" + url.QueryEscape(d.id)
	a, err = d.w.ask(ctx, "POST", path, nil)
	if err == nil && a.status/100 != 2 {
		err = a.bad(path)
	}
	return err
}

// log reads the whole log.
func (d *driver) log(ctx context.Context) (log []entry, err error) {
	query := ""
	for {
		var p page
		if err := d.w.get(ctx, d.path("/events?wait=0s"+query), &p); err != nil {
			return nil, err
		}
		for _, e := range p.Events {
			decoded, err := decode(e.Event)
			if err != nil {
				return nil, err
			}
			log = append(log, entry{e.ID, compact(e.Event), decoded})
		}
		if len(p.Events) == 0 {
			return log, nil
		}
		query = "&after=" + url.QueryEscape(p.Cursor)
	}
}

// around are a log's events about a cursor, for a failure.
func around(log []entry, faults string) string {
	var b strings.Builder
	for i, e := range log {
		if strings.Contains(faults, e.id) || i >= len(log)-12 || strings.HasPrefix(string(e.Type()), "RUN_") {
			fmt.Fprintf(&b, "  %s %.240s\n", e.id, e.data)
		}
	}
	return b.String()
}
