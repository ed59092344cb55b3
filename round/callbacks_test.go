package round

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// grumpy panics at the nth thing it hears.
type grumpy struct {
	*agui.List
	n *int
}

var errGrumpy = errors.New("out of patience")

func (g grumpy) tick() {
	if *g.n--; *g.n == 0 {
		panic(errGrumpy)
	}
}

func (g grumpy) Start(i agui.Item)                  { g.tick(); g.List.Start(i) }
func (g grumpy) Delta(k agui.Kind, id, text string) { g.tick(); g.List.Delta(k, id, text) }
func (g grumpy) Result(r agui.Result)               { g.tick(); g.List.Result(r) }
func (g grumpy) End(k agui.Kind, id string, metadata json.RawMessage) {
	g.tick()
	g.List.End(k, id, metadata)
}
func (g grumpy) Emit(e agui.Event) { g.tick(); g.List.Emit(e) }

// TestPanicInAHandler lets one call of a handler panic, another one in each
// turn: the caller sees it, and everything else is done all the same, for the
// other handler, in rounds and in calls that come later.
func TestPanicInAHandler(t *testing.T) {
	first := seed(t)
	for i := range uint64(60) {
		script := randomScript(first*3_000_000+i, 40)
		want := newPlainStage(t)
		want.play(script)
		want.close("failed")

		n := 1 + int(i)
		s := newPlainStage(t)
		events := agui.Handlers(s.driven, grumpy{agui.NewList(), &n})
		cfg := s.config()
		cfg.Events = events
		s.builder = NewBuilder(cfg)
		panics := 0
		for _, x := range script {
			panics += recovered(t, func() {
				switch x.do {
				case "suspend":
					s.tick++
					s.builder.Suspend()
				case "resume":
					s.tick++
					s.runs++
					s.builder.Resume(s.run(), events)
				default:
					s.do(x)
				}
			})
		}
		s.tick++
		if s.runs < want.runs {
			s.runs++
			s.builder.Resume(s.run(), events)
		}
		panics += recovered(t, func() { s.builder.Close("failed") })
		if n <= 0 && panics != 1 {
			t.Errorf("%d panics came through, want 1", panics)
		}
		if diff := cmp.Diff(finals(want.rounds), finals(s.rounds)); diff != "" {
			t.Errorf("rounds (-without a panic +with):\n%s", diff)
		}
		if diff := cmp.Diff(indent(want.driven.AppendJSON(nil)), indent(s.driven.AppendJSON(nil))); diff != "" {
			t.Errorf("lists (-without a panic +with):\n%s", diff)
		}
		if t.Failed() {
			t.Fatalf("thread %d:\n%s", i, show(script))
		}
	}
}

func recovered(t *testing.T, do func()) (panics int) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			panics = 1
			err, ok := p.(error)
			if !ok || !errors.Is(err, errGrumpy) || !strings.Contains(err.Error(), "callbacks_test.go") {
				t.Errorf("the panic is %v, and says not where it was", p)
			}
		}
	}()
	do()
	return 0
}

// TestARoundThatWasNotTakenComesAgain lets OnRound panic: the round is not lost.
func TestARoundThatWasNotTakenComesAgain(t *testing.T) {
	var got []Round
	panics := 0
	b := NewBuilder(Config{Prefix: testPrefix, OnRound: func(r Round) {
		if panics++; panics == 1 {
			panic("no room")
		}
		got = append(got, r)
	}})
	b.OnToolCall("a", "ls")
	func() {
		defer func() {
			if p := recover(); p == nil || !strings.Contains(fmt.Sprint(p), "no room") {
				t.Errorf("the panic is %v", p)
			}
		}()
		b.OnToolCallUpdate("a", "files", completed)
	}()
	b.OnMessageChunk("Done.")
	b.Close("")
	if len(got) != 2 || got[0].Number != 0 || !got[0].Complete || got[0].Messages[1].Content != "files" {
		t.Errorf("got %+v", got)
	}
}

// once notices when it is called by two at once.
type once struct {
	nobody
	t      *testing.T
	inside atomic.Int32
}

func (o *once) enter() func() {
	if o.inside.Add(1) != 1 {
		o.t.Error("two calls at once")
	}
	return func() { o.inside.Add(-1) }
}

func (o *once) Start(agui.Item)                 { defer o.enter()() }
func (o *once) Delta(agui.Kind, string, string) { defer o.enter()() }
func (o *once) Result(agui.Result)              { defer o.enter()() }
func (o *once) Emit(agui.Event)                 { defer o.enter()() }

// TestManyGoroutines drives one Builder from many sides while it is closed:
// callbacks come one at a time, and none after Close returned.
func TestManyGoroutines(t *testing.T) {
	o := &once{t: t}
	var rounds []Round // guarded by what is tested
	b := NewBuilder(Config{Prefix: testPrefix, Events: o, OnRound: func(r Round) {
		defer o.enter()()
		rounds = append(rounds, r)
	}})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			id := fmt.Sprint("c", g)
			for i := range 200 {
				b.OnMessageChunk("x")
				b.OnThoughtChunk("y")
				b.OnToolCall(id, "ls")
				b.Hold(id)
				b.OnToolCallArgsSnapshot(id, `{"a":1}`)
				agentstream.Send(b, agentstream.Output{ID: id, Data: "z"})
				b.Release(id)
				b.CallID(id)
				if i == 150 {
					b.OnToolCallUpdate(id, "done", completed)
				}
				if g == 0 && i == 190 {
					b.Close("cancelled")
				}
			}
		})
	}
	wg.Wait()
	n := len(rounds)
	b.OnMessageChunk("late")
	b.OnToolCall("late", "late")
	agentstream.Send(b, agentstream.Notice{Text: "late"})
	b.OnTokenUsage(7)
	b.Suspend()
	b.Close("failed")
	if len(rounds) != n {
		t.Error("something was handed out after Close")
	}
	for _, r := range rounds {
		if err := Validate(Eino, r.Messages); err != nil {
			t.Error(err)
		}
	}
}

// TestChunksDoNotAllocate: the text is kept, and nothing else is made.
func TestChunksDoNotAllocate(t *testing.T) {
	b := benchBuilder()
	b.OnToolCall("c", "write")
	for name, chunk := range map[string]func(){
		"text":      func() { b.OnMessageChunk("twelve bytes") },
		"arguments": func() { b.OnToolCallUpdate("c", "twelve bytes", pending) },
	} {
		if n := testing.AllocsPerRun(20_000, chunk); n >= 1 {
			t.Errorf("%s: %v allocations a chunk", name, n)
		}
	}
}
