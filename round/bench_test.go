package round

import (
	"fmt"
	"testing"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

const (
	pending   = agentstream.ToolCallStatusPending
	running   = agentstream.ToolCallStatusInProgress
	completed = agentstream.ToolCallStatusCompleted
	failed    = agentstream.ToolCallStatusFailed
)

// quiet hears everything and does nothing.
type quiet struct{ nobody }

func benchBuilder() *Builder {
	return NewBuilder(Config{Prefix: testPrefix, FirstRound: 1, Events: &quiet{}, OnRound: func(Round) {}})
}

// BenchmarkMessageChunk is the hot path: a piece of an answer. Answers are ten
// thousand pieces long.
func BenchmarkMessageChunk(b *testing.B) {
	b.ReportAllocs()
	builder := benchBuilder()
	n := 0
	for b.Loop() {
		if n++; n%10_000 == 0 {
			builder = benchBuilder()
		}
		builder.OnMessageChunk("twelve bytes")
	}
}

// BenchmarkMessageChunkEncoded is the same with an encoder and a list behind it.
func BenchmarkMessageChunkEncoded(b *testing.B) {
	b.ReportAllocs()
	var builder *Builder
	n := 0
	for b.Loop() {
		if n++; n%10_000 == 1 {
			emitter := agui.NewEmitter(agui.EmitterConfig{Thread: "t", Run: "r"})
			builder = NewBuilder(Config{Prefix: testPrefix, Events: agui.Handlers(emitter, agui.NewList())})
		}
		builder.OnMessageChunk("twelve bytes")
	}
}

// BenchmarkArgumentDeltas is one call whose arguments come in as many deltas as
// the name says, 12 bytes each: the time for each must not grow.
func BenchmarkArgumentDeltas(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				builder := benchBuilder()
				builder.OnToolCall("c", "write")
				builder.OnToolCallUpdate("c", `{"content":"`, pending)
				for range n - 2 {
					builder.OnToolCallUpdate("c", "twelve bytes", pending)
				}
				builder.OnToolCallUpdate("c", `"}`, pending)
				builder.OnToolCallUpdate("c", "done", completed)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/delta")
		})
	}
}

// BenchmarkManyCalls declares a thousand calls before the first result; each has
// a hundred deltas and a result.
func BenchmarkManyCalls(b *testing.B) {
	const calls, each = 1000, 100
	ids := make([]string, calls)
	for i := range ids {
		ids[i] = fmt.Sprintf("call_%d", i)
	}
	b.ReportAllocs()
	for b.Loop() {
		builder := benchBuilder()
		for _, id := range ids {
			builder.OnToolCall(id, "read")
		}
		for i := range each {
			delta := "twelve bytes"
			switch i {
			case 0:
				delta = `{"content":"`
			case each - 1:
				delta = `"}`
			}
			for _, id := range ids {
				builder.OnToolCallUpdate(id, delta, pending)
			}
		}
		for _, id := range ids {
			builder.OnToolCallUpdate(id, "done", completed)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(calls*(each+2)), "ns/event")
}

// BenchmarkHandOut is a round of ten calls, from its first word to the caller.
func BenchmarkHandOut(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		builder := benchBuilder()
		builder.OnMessageChunk("Let me look.")
		for i := range 10 {
			id := string(rune('a' + i))
			builder.OnToolCall(id, "read")
			builder.OnToolCallArgsSnapshot(id, `{"path":"/tmp/a"}`)
			builder.OnToolCallUpdate(id, "done", completed)
		}
		builder.Close("")
	}
}

// BenchmarkRestore folds a turn of a thousand events back.
func BenchmarkRestore(b *testing.B) {
	s := newStage(b)
	s.play(randomScript(1, 1000))
	events := decoded(b, s.frames)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Restore(Config{Prefix: testPrefix}, events); err != nil {
			b.Fatal(err)
		}
	}
}
