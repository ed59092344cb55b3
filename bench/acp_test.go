//go:build unix

package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	coder "github.com/coder/acp-go-sdk"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
	"github.com/agentstream-go/agentstream/source/acp"
)

// window is how many updates the other client may have in its queue, which
// holds 1,024 and closes the connection beyond.
const window = 512

// BenchmarkACP is one update from an agent's process to the consumer's call.
func BenchmarkACP(b *testing.B) {
	b.Run("agentstream", func(b *testing.B) {
		s := openOurs(b)
		c := &count{}
		b.ReportAllocs()
		b.ResetTimer()
		stop, err := s.Run(b.Context(), source.Turn{Prompt: promptOf("%d", b.N), Handler: c})
		b.StopTimer()
		if err != nil || c.n != b.N {
			b.Fatalf("%d of %d chunks, %v, %v", c.n, b.N, stop, err)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	})
	b.Run("coder-throttled", func(b *testing.B) {
		c := &coderClient{window: window}
		conn := openCoder(b, c)
		b.ReportAllocs()
		b.ResetTimer()
		err := c.prompt(b.Context(), conn, fmt.Sprintf("%d %d", b.N, window))
		b.StopTimer()
		if got := int(c.n.Load()); err != nil || got != b.N {
			b.Fatalf("%d of %d chunks, %v", got, b.N, err)
		}
		b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "updates/s")
	})
}

// BenchmarkACPBurst has an agent say 3,000 updates at once to a consumer that
// takes 100 µs for each, and reports how many arrive.
func BenchmarkACPBurst(b *testing.B) {
	const burst = 3000
	slow := func() {
		for end := time.Now().Add(100 * time.Microsecond); time.Now().Before(end); {
		}
	}
	b.Run("agentstream", func(b *testing.B) {
		delivered := 0
		for b.Loop() {
			s := openOurs(b)
			c := &count{slow: slow}
			_, _ = s.Run(b.Context(), source.Turn{Prompt: promptOf("%d", burst), Handler: c})
			delivered += c.n
		}
		b.ReportMetric(float64(delivered)/float64(b.N)/burst*100, "%-delivered")
	})
	b.Run("coder", func(b *testing.B) {
		delivered := 0
		for b.Loop() {
			c := &coderClient{slow: slow}
			conn := openCoder(b, c)
			_ = c.prompt(b.Context(), conn, fmt.Sprint(burst))
			delivered += int(c.n.Load())
		}
		b.ReportMetric(float64(delivered)/float64(b.N)/burst*100, "%-delivered")
	})
}

func promptOf(format string, args ...any) []source.Part {
	return []source.Part{{Type: source.PartText, Text: fmt.Sprintf(format, args...)}}
}

func ours() *acp.Command {
	return &acp.Command{Name: "bench", Argv: []string{os.Args[0]}, Env: map[string]string{agentEnv: "1"}}
}

func openOurs(b *testing.B) source.Session {
	b.Helper()
	s, err := ours().Open(b.Context(), source.Options{Cwd: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// count is a handler that counts.
type count struct {
	n    int
	slow func()
}

func (c *count) OnMessageChunk(string) {
	c.n++
	if c.slow != nil {
		c.slow()
	}
}
func (c *count) OnThoughtChunk(string)                                       {}
func (c *count) OnToolCall(string, string)                                   {}
func (c *count) OnToolCallUpdate(string, string, agentstream.ToolCallStatus) {}
func (c *count) OnToolCallArgsSnapshot(string, string)                       {}
func (c *count) OnTokenUsage(int)                                            {}

// coderClient is a client of the other library that counts.
type coderClient struct {
	coder.Client // the rest is never called
	n            atomic.Int64
	window       int64
	conn         *coder.ClientSideConnection
	session      coder.SessionId
	slow         func()
}

func (c *coderClient) SessionUpdate(ctx context.Context, u coder.SessionNotification) error {
	if u.Update.AgentMessageChunk == nil || u.Update.AgentMessageChunk.Content.Text == nil {
		return nil
	}
	if n := c.n.Add(1); c.window > 0 && n%c.window == 0 {
		return c.conn.Cancel(ctx, coder.CancelNotification{SessionId: c.session})
	}
	if c.slow != nil {
		c.slow()
	}
	return nil
}

func (c *coderClient) prompt(ctx context.Context, conn *coder.ClientSideConnection, text string) error {
	_, err := conn.Prompt(ctx, coder.PromptRequest{SessionId: c.session, Prompt: []coder.ContentBlock{coder.TextBlock(text)}})
	return err
}

func openCoder(b *testing.B, c *coderClient) *coder.ClientSideConnection {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), agentEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	conn := coder.NewClientSideConnection(c, in, out)
	conn.SetLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	c.conn = conn
	ctx := b.Context()
	if _, err := conn.Initialize(ctx, coder.InitializeRequest{ProtocolVersion: coder.ProtocolVersionNumber}); err != nil {
		b.Fatal(err)
	}
	s, err := conn.NewSession(ctx, coder.NewSessionRequest{Cwd: b.TempDir(), McpServers: []coder.McpServer{}})
	if err != nil {
		b.Fatal(err)
	}
	c.session = s.SessionId
	return conn
}
