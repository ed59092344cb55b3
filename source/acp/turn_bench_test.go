package acp

import (
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
)

type counter struct{ chunks int }

func (c *counter) OnMessageChunk(string)                                       { c.chunks++ }
func (c *counter) OnThoughtChunk(string)                                       {}
func (c *counter) OnToolCall(string, string)                                   {}
func (c *counter) OnToolCallUpdate(string, string, agentstream.ToolCallStatus) {}
func (c *counter) OnToolCallArgsSnapshot(string, string)                       {}
func (c *counter) OnTokenUsage(int)                                            {}

// One chunk through everything: pipe, framing, session, translation, handler.
func BenchmarkTurn(b *testing.B) {
	p := newPeer(b)
	s := p.opened(Command{}, "")
	c := &counter{}
	done := start(b.Context(), s, source.Turn{Handler: c})
	m := p.expect("session/prompt")
	line := `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + chunk("token ") + "}}\n"
	block := []byte(strings.Repeat(line, 100))
	b.ReportAllocs()
	b.ResetTimer()
	for left := b.N; left > 0; left -= 100 {
		if _, err := p.out.Write(block[:min(left, 100)*len(line)]); err != nil {
			b.Fatal(err)
		}
	}
	p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
	<-done
	if c.chunks != b.N {
		b.Fatalf("%d of %d chunks", c.chunks, b.N)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
}
