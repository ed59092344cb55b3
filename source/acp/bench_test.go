package acp

import (
	"fmt"
	"testing"

	"github.com/agentstream-go/agentstream"
)

// quiet is a handler that does nothing.
type quiet struct{ n int }

func (q *quiet) OnMessageChunk(text string)                                 { q.n += len(text) }
func (q *quiet) OnThoughtChunk(text string)                                 { q.n += len(text) }
func (q *quiet) OnToolCall(string, string)                                  {}
func (q *quiet) OnToolCallUpdate(_, _ string, _ agentstream.ToolCallStatus) {}
func (q *quiet) OnToolCallArgsSnapshot(string, string)                      {}
func (q *quiet) OnTokenUsage(int)                                           {}
func (q *quiet) Forward(agentstream.Event) bool                             { return true }

const chunkLine = `{"sessionId":"a3f8a6d3-7564-46dd-88cc-f960be8df570","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"keeps every byte\nin order, %s"},"messageId":"msg_3"}}`

func BenchmarkChunk(b *testing.B) {
	for _, c := range []struct{ name, tail string }{{"plain", "ünï"}, {"escaped", `\u00fc\ud83d\ude00`}} {
		b.Run(c.name, func(b *testing.B) {
			line := fmt.Appendf(nil, chunkLine, c.tail)
			t := newTranslator(agentInfo{Name: "@agentclientprotocol/claude-agent-acp"})
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			for i := 0; b.Loop(); i++ {
				if i%10000 == 0 { // a message of that many chunks
					t.begin(&quiet{})
				}
				t.update(line)
			}
		})
	}
}

func BenchmarkToolCallUpdate(b *testing.B) {
	t := newTranslator(agentInfo{})
	t.begin(&quiet{})
	var lines [2][]byte
	for i := range lines {
		lines[i] = fmt.Appendf(nil, `{"update":{"sessionUpdate":"tool_call_update","toolCallId":"call_1","title":"Edit a.txt","rawInput":{"path":"/src/a.txt","old":"alpha","new":"beta %d"}}}`, i)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		t.update(lines[i%2])
	}
}

// A chunk is what a turn consists of: it must cost no more than its text.
func TestChunkCostsLittle(t *testing.T) {
	line := fmt.Appendf(nil, chunkLine, "é")
	tr := newTranslator(agentInfo{Name: "@agentclientprotocol/codex-acp"})
	tr.begin(&quiet{})
	if n := testing.AllocsPerRun(200, func() { tr.update(line) }); n > 3 {
		t.Errorf("a chunk costs %.0f allocations, want at most 3", n)
	}
}
