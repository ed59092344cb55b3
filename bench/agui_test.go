package bench

import (
	"context"
	"encoding/json"
	"io"
	"testing"
	"time"

	"github.com/ag-ui-protocol/ag-ui/sdks/community/go/pkg/core/events"
	community "github.com/ag-ui-protocol/ag-ui/sdks/community/go/pkg/encoding/sse"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/sse"
)

const messageID = "abcd1234-m1"

// BenchmarkAGUIWrite is one text delta to an SSE frame.
func BenchmarkAGUIWrite(b *testing.B) {
	b.Run("agentstream", func(b *testing.B) {
		var frame []byte
		e := agui.NewEmitter(agui.EmitterConfig{Thread: "thread", Run: "run", Now: time.Now, Sink: func(_ agui.Type, event []byte) {
			frame = sse.AppendEvent(frame[:0], "00c0ffee-00000000000000000042", event)
			_, _ = io.Discard.Write(frame)
		}})
		e.Start(agui.Item{Kind: agui.KindText, ID: messageID})
		b.ReportAllocs()
		for b.Loop() {
			e.Delta(agui.KindText, messageID, chunkText)
		}
	})
	b.Run("community", func(b *testing.B) {
		w := community.NewSSEWriter()
		b.ReportAllocs()
		for b.Loop() {
			if err := w.WriteEvent(context.Background(), io.Discard, events.NewTextMessageContentEvent(messageID, chunkText)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		type event struct {
			Type      string `json:"type"`
			Timestamp int64  `json:"timestamp"`
			MessageID string `json:"messageId"`
			Delta     string `json:"delta"`
		}
		b.ReportAllocs()
		for b.Loop() {
			data, err := json.Marshal(event{"TEXT_MESSAGE_CONTENT", time.Now().UnixMilli(), messageID, chunkText})
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Discard.Write(append(append([]byte("data: "), data...), "\n\n"...))
		}
	})
}

// BenchmarkAGUIRead is one event from JSON.
func BenchmarkAGUIRead(b *testing.B) {
	data := agui.Append(nil, &agui.TextMessageContent{MessageID: messageID, Delta: chunkText})
	b.Run("agentstream", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := agui.Decode(data); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("community", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := events.EventFromJSON(data); err != nil {
				b.Fatal(err)
			}
		}
	})
}
