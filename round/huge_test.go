package round

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// Arguments of several megabytes cost what they are long, live and when they are
// folded again, not the square of it.
func TestHugeArguments(t *testing.T) {
	const pieces, size = 20_000, 200 // 4 MB
	piece := strings.Repeat("x", size)
	var stored []agui.Event
	var live []Round
	emitter := agui.NewEmitter(agui.EmitterConfig{Thread: "t", Run: "r", Sink: func(_ agui.Type, data []byte) {
		e, err := agui.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		stored = append(stored, e)
	}})
	config := func(to *[]Round) Config {
		return Config{Thread: "t", Run: "r", Prefix: "abcd1234", FirstRound: 1, Events: emitter, OnRound: func(r Round) { *to = append(*to, r) }}
	}
	b := NewBuilder(config(&live))
	b.OnToolCall("c", "write")
	b.OnToolCallUpdate("c", `{"content":"`, pending)
	used := allocated(func() {
		for range pieces {
			b.OnToolCallUpdate("c", piece, pending)
		}
	})
	if limit := uint64(40 * pieces * size); used > limit {
		t.Errorf("%d bytes were allocated live, more than %d", used, limit)
	}
	b.OnToolCallUpdate("c", `"}`, pending)
	whole := slices.Clone(stored)
	b.OnToolCallUpdate("c", "done", completed)
	b.Close("")

	var again []Round
	c := config(&again)
	c.Events = nil
	var restored *Builder
	used = allocated(func() {
		var err error
		if restored, err = Restore(c, slices.Values(whole)); err != nil {
			t.Fatal(err)
		}
	})
	if limit := uint64(40 * pieces * size); used > limit {
		t.Errorf("%d bytes were allocated when it was folded, more than %d", used, limit)
	}
	restored.OnToolCallUpdate("c", "done", completed)
	restored.Close("")
	if len(live) != 1 || len(again) != 1 {
		t.Fatalf("%d and %d rounds", len(live), len(again))
	}
	a, r := live[0].Messages[0].ToolCalls[0].Function.Arguments, again[0].Messages[0].ToolCalls[0].Function.Arguments
	if a != r || len(a) != pieces*size+len(`{"content":""}`) {
		t.Errorf("%d bytes of arguments live, %d restored", len(a), len(r))
	}
}

// What a round held is let go of once it was handed out whole, so that a long turn
// does not keep all that its tools have printed.
func TestRoundsAreLetGo(t *testing.T) {
	const size = 1 << 20
	handed := 0
	b := NewBuilder(Config{Run: "r", Prefix: "abcd1234", FirstRound: 1, OnRound: func(r Round) {
		for _, m := range r.Messages[1:] {
			handed += len(m.Content)
		}
	}})
	for i := range 64 {
		id := fmt.Sprint("c", i)
		b.OnToolCall(id, "read")
		b.OnToolCallArgsSnapshot(id, `{"content":"`+strings.Repeat("x", size)+`"}`)
		b.Forward(agentstream.Diff{ID: id, New: strings.Repeat("x", size)})
		b.OnToolCallUpdate(id, strings.Repeat("x", size), completed)
	}
	runtime.GC()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	if mem.HeapAlloc > 32*size {
		t.Errorf("%d MB are held after %d MB of results", mem.HeapAlloc>>20, handed>>20)
	}
	b.OnMessageChunk("done")
	b.Close("")
	if handed != 64*size {
		t.Errorf("%d bytes of results were handed out, want %d", handed, 64*size)
	}
}

func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Results that come late to a round of very many calls cost what they are, not
// the square of it; none is missing in the end, and of few calls each heals at
// once.
func TestManyLateResults(t *testing.T) {
	for calls, most := range map[int]int{10: 11, 64: 65, 5000: handOuts + 3} {
		var rounds []Round
		b := NewBuilder(Config{Thread: "t", Run: "r", Prefix: testPrefix, FirstRound: 1, OnRound: func(r Round) { rounds = append(rounds, r) }})
		for i := range calls {
			b.OnToolCall(fmt.Sprint("c", i), "read")
		}
		b.OnMessageChunk("I do not wait for them.")
		for i := range calls - 1 {
			b.OnToolCallUpdate(fmt.Sprint("c", i), "done", completed)
		}
		b.Close("cancelled")
		var got []Round
		for _, r := range rounds {
			if r.Number == 1 {
				got = append(got, r)
			}
		}
		if len(got) > most || calls <= handOuts && len(got) < calls {
			t.Errorf("%d calls: the round was handed out %d times", calls, len(got))
		}
		last := got[len(got)-1]
		done := 0
		for _, m := range last.Messages[1:] {
			if m.Content == "done" {
				done++
			}
		}
		if done != calls-1 || last.Revision != len(got) || last.Complete {
			t.Errorf("%d calls: at the end %d have results, revision %d of %d", calls, done, last.Revision, len(got))
		}
	}
}
