package agui_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/agui"
)

const chunk = "twelve bytes"

func BenchmarkEmitterDelta(b *testing.B) {
	for name, now := range map[string]func() time.Time{"plain": nil, "stamped": time.Now} {
		b.Run(name, func(b *testing.B) {
			bytes := 0
			e := agui.NewEmitter(agui.EmitterConfig{Thread: "thread", Run: "run", Now: now, Sink: func(_ agui.Type, data []byte) { bytes += len(data) }})
			e.Start(agui.Item{Kind: agui.KindText, ID: "abcd1234-m1"})
			e.Delta(agui.KindText, "abcd1234-m1", chunk)
			b.ReportAllocs()
			for b.Loop() {
				e.Delta(agui.KindText, "abcd1234-m1", chunk)
			}
		})
	}
}

// Deltas of several calls in turn are the case that a cache of the last one misses.
func BenchmarkEmitterInterleavedDeltas(b *testing.B) {
	e := agui.NewEmitter(agui.EmitterConfig{Thread: "thread", Run: "run"})
	ids := make([]string, 8)
	for i := range ids {
		ids[i] = fmt.Sprintf("abcd1234-c%d", i)
		e.Start(agui.Item{Kind: agui.KindToolCall, ID: ids[i], Name: "f"})
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Delta(agui.KindToolCall, ids[i%len(ids)], chunk)
	}
}

func BenchmarkAppend(b *testing.B) {
	var buf []byte
	e := &agui.TextMessageContent{MessageID: "abcd1234-m1", Delta: chunk}
	b.ReportAllocs()
	for b.Loop() {
		buf = agui.Append(buf[:0], e)
	}
}

func BenchmarkEmitterToolCall(b *testing.B) {
	e := agui.NewEmitter(agui.EmitterConfig{Thread: "thread", Run: "run"})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		id := fmt.Sprint("c", i)
		e.Start(agui.Item{Kind: agui.KindToolCall, ID: id, Name: "f", Parent: "m", Metadata: []byte(`{"agentstream":{"title":"Read a file"}}`)})
		e.Delta(agui.KindToolCall, id, `{"path":"main.go"}`)
		e.End(agui.KindToolCall, id, nil)
		e.Result(agui.Result{MessageID: "t" + id, CallID: id, Content: "text of the file"})
	}
}

func BenchmarkDecode(b *testing.B) {
	data := agui.Append(nil, &agui.TextMessageContent{MessageID: "abcd1234-m1", Delta: chunk})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agui.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkListDelta(b *testing.B) {
	l := agui.NewList()
	l.Start(agui.Item{Kind: agui.KindText, ID: "m"})
	b.ReportAllocs()
	for b.Loop() {
		l.Delta(agui.KindText, "m", chunk)
	}
}

func BenchmarkListAppendJSON(b *testing.B) {
	l := agui.NewList()
	for i := range 1000 {
		id := fmt.Sprint("m", i)
		l.Start(agui.Item{Kind: agui.KindText, ID: id})
		for range 20 {
			l.Delta(agui.KindText, id, "some words of an answer with \"quotes\"\n")
		}
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = l.AppendJSON(buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkListClone(b *testing.B) {
	l := agui.NewList()
	for i := range 1000 {
		l.Start(agui.Item{Kind: agui.KindText, ID: fmt.Sprint("m", i)})
	}
	b.ReportAllocs()
	for b.Loop() {
		l.Clone()
	}
}

func BenchmarkDecodeInput(b *testing.B) {
	in := agui.Input{ThreadID: "t", RunID: "r"}
	for i := range 500 {
		in.Messages = append(in.Messages, agui.Message{ID: fmt.Sprint(i), Role: agui.RoleUser, Content: agui.StringContent("a question of some length, as people ask them")})
	}
	data := agui.Append(nil, &agui.RunStarted{Input: &in})
	data = data[len(`{"type":"RUN_STARTED","threadId":"","runId":"","input":`) : len(data)-1]
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agui.DecodeInput(data); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkVerifier(b *testing.B) {
	v := agui.NewVerifier(agui.V1)
	if err := v.CheckJSON([]byte(started)); err != nil {
		b.Fatal(err)
	}
	if err := v.CheckJSON([]byte(text("m"))); err != nil {
		b.Fatal(err)
	}
	data := []byte(content("m"))
	b.ReportAllocs()
	for b.Loop() {
		if err := v.CheckJSON(data); err != nil {
			b.Fatal(err)
		}
	}
}
