package sourcetest

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
)

// patience bounds every wait; no check depends on how long anything takes.
const patience = time.Minute

// Kit is what the suite needs of a source.
type Kit struct {
	// Source gives a source whose agent plays the script. Its grace for a
	// cancelled turn should be short.
	Source func(t *testing.T, s Script) source.Source
	// Skip names verbs that the wire cannot say; scenarios with them are left out.
	Skip []Verb
	// Left gives the ids of processes that belong to the sources made in this
	// test and still run. Nil: the source has no processes.
	Left func(t *testing.T) []int
}

// Run checks the source of a kit against G1 to G9, one subtest a scenario.
func Run(t *testing.T, k Kit) {
	for _, sc := range scenarios {
		t.Run(sc.name, func(t *testing.T) {
			for _, turn := range sc.script {
				for _, step := range turn {
					if slices.Contains(k.Skip, step.Do) {
						t.Skip("the wire cannot say", step.Do)
					}
				}
			}
			k.play(t, sc)
		})
	}
}

type scenario struct {
	name   string // begins with the guarantees that it checks
	script Script
	ask    func(q source.Request, reply func(source.Answer))
	cancel bool // the first turn, once its first chunk has come
	check  func(t *testing.T, turns []turn, s *stage)
}

// turn is how one Run went.
type turn struct {
	events []agentstream.Event
	reason source.StopReason
	err    error
}

// stage is an open session under observation.
type stage struct {
	session source.Session
	mu      sync.Mutex
	late    []agentstream.Event
	came    chan struct{}
}

func (s *stage) observe(f source.Fact) {
	if f.Late == nil {
		return
	}
	s.mu.Lock()
	s.late = append(s.late, f.Late)
	s.mu.Unlock()
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// await returns the first late event that fits.
func (s *stage) await(t *testing.T, fits func(agentstream.Event) bool) {
	t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		s.mu.Lock()
		found := slices.ContainsFunc(s.late, fits)
		s.mu.Unlock()
		if found {
			return
		}
		select {
		case <-s.came:
		case <-limit.C:
			t.Fatal("G2: what was said after the turn did not reach the observer")
		}
	}
}

var errStop = errors.New("the user has had enough")

func (k Kit) play(t *testing.T, sc scenario) {
	before := runtime.NumGoroutine()
	src := k.Source(t, sc.script)
	ctx, done := context.WithTimeout(t.Context(), patience)
	defer done()
	st := &stage{came: make(chan struct{}, 1)}
	session, err := src.Open(ctx, source.Options{Cwd: t.TempDir(), Observe: st.observe})
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	st.session = session
	var turns []turn
	var witnesses []*witness
	for i := range sc.script {
		w := &witness{}
		witnesses = append(witnesses, w)
		turns = append(turns, runOne(ctx, session, sc, w, sc.cancel && i == 0))
	}
	if sc.check != nil {
		sc.check(t, turns, st)
	}
	if err := session.Close(); err != nil {
		t.Errorf("G8: closing: %v", err)
	}
	if err := session.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	if _, err := session.Run(ctx, source.Turn{Handler: &witness{}}); !errors.Is(err, source.ErrClosed) {
		t.Errorf("running a closed session: %v", err)
	}
	for _, w := range witnesses {
		w.verdict(t)
	}
	done()
	k.nothingLeft(t, before)
}

func runOne(ctx context.Context, session source.Session, sc scenario, w *witness, cancelled bool) turn {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var h agentstream.StreamHandler = w
	if cancelled {
		h = &trigger{w, sync.OnceFunc(func() { cancel(errStop) })}
	}
	w.open.Store(1)
	reason, err := session.Run(ctx, source.Turn{
		Prompt: []source.Part{{Type: source.PartText, Text: "play"}}, Handler: h, Ask: sc.ask,
	})
	w.open.Store(0)
	return turn{w.Events(), reason, err}
}

// trigger pulls once the agent speaks.
type trigger struct {
	*witness
	pull func()
}

// OnMessageChunk records, and pulls.
func (g *trigger) OnMessageChunk(text string) {
	g.witness.OnMessageChunk(text)
	g.pull()
}

// nothingLeft waits for goroutines to have ended: those of the runtime's own
// doing take a moment.
func (k Kit) nothingLeft(t *testing.T, before int) {
	t.Helper()
	if k.Left != nil {
		if pids := k.Left(t); len(pids) > 0 {
			t.Errorf("G8: processes left after Close: %v", pids)
		}
	}
	for deadline := time.Now().Add(patience); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("G8: %d goroutines left after Close, %d before Open\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}
