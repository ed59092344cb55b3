//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/internal/sse"
	"github.com/agentstream-go/agentstream/server"
)

// BenchmarkPath is one chunk from an agent's process to a client behind a
// socket: by agentstream, which decodes it, builds rounds, makes it durable and
// only then sends it, and by a pump that does nothing but decode the line and
// send its text on.
func BenchmarkPath(b *testing.B) {
	for name, start := range map[string]func(*testing.B) string{"agentstream": startServer, "pump": startPump} {
		b.Run(name, func(b *testing.B) {
			url := start(b)
			turn(b, url, "100", nil) // the agent is started
			b.ReportAllocs()
			cpu := cpuTime()
			b.ResetTimer()
			n := turn(b, url, strconv.Itoa(b.N), nil)
			b.StopTimer()
			if n < b.N*len(chunkText) {
				b.Fatalf("%d bytes of text, want %d", n, b.N*len(chunkText))
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
			b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N), "cpu-µs/chunk")
		})
	}
}

// BenchmarkPathLatency is the time from when the agent says a chunk until the
// client has it, at 500 chunks a second.
func BenchmarkPathLatency(b *testing.B) {
	const rate = 500
	for name, start := range map[string]func(*testing.B) string{"agentstream": startServer, "pump": startPump} {
		b.Run(name, func(b *testing.B) {
			url := start(b)
			turn(b, url, "100", nil)
			var late []time.Duration
			b.ResetTimer()
			turn(b, url, fmt.Sprintf("%d 0 %d", b.N, rate), func(text string) {
				// What came together was said at several times.
				now := time.Now()
				for said := range strings.FieldsSeq(text) {
					if ns, err := strconv.ParseInt(said, 10, 64); err == nil {
						late = append(late, now.Sub(time.Unix(0, ns)))
					}
				}
			})
			b.StopTimer()
			if len(late) != b.N {
				b.Fatalf("%d of %d chunks", len(late), b.N)
			}
			slices.Sort(late)
			b.ReportMetric(float64(late[len(late)/2].Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(late[len(late)*99/100].Microseconds())/1000, "p99-ms")
		})
	}
}

func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func startServer(b *testing.B) string {
	b.Helper()
	return startServerWith(b, engine.Options{Agents: []engine.Agent{{Name: "bench", Type: "acp", Source: ours()}}})
}

func startServerWith(b *testing.B, o engine.Options) string {
	b.Helper()
	dir := b.TempDir()
	log, err := sqlite.Open(filepath.Join(dir, "bench.db"), sqlite.Options{Exclusive: true})
	if err != nil {
		b.Fatal(err)
	}
	o.Log, o.Cwd = log, dir
	e, err := engine.New(b.Context(), o)
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(server.New(e, &server.Options{NoAuth: true}))
	b.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = e.Close(ctx)
		_ = log.Close()
	})
	return s.URL + "/agui/bench"
}

// startPump serves an agent's updates by the shortest way there is.
func startPump(b *testing.B) string {
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
	lines := bufio.NewReaderSize(out, 1<<16)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var input struct{ Messages []struct{ Content string } }
		if err := json.NewDecoder(r.Body).Decode(&input); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		fmt.Fprintf(in, `{"id":1,"method":"session/prompt","params":{"prompt":[{"text":%q}]}}`+"\n", input.Messages[0].Content)
		pump(w, lines)
	}))
	b.Cleanup(func() {
		s.Close()
		_ = in.Close()
		_ = cmd.Wait()
	})
	return s.URL
}

func pump(w http.ResponseWriter, lines *bufio.Reader) {
	var frame []byte
	ctl := http.NewResponseController(w)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Params struct {
				Update struct{ Content struct{ Text string } }
			}
		}
		if json.Unmarshal(line, &m) != nil || m.ID != nil {
			return
		}
		data, err := json.Marshal(map[string]string{"delta": m.Params.Update.Content.Text})
		if err != nil {
			return
		}
		frame = sse.AppendEvent(frame[:0], "", data)
		if _, err := w.Write(frame); err != nil {
			return
		}
		if lines.Buffered() == 0 {
			_ = ctl.Flush()
		}
	}
}

var runs atomic.Int64

// turn sends a prompt and reads the answer to its end. It returns the length of
// its text, and tells heard each piece of it.
func turn(b *testing.B, url, prompt string, heard func(text string)) (size int) {
	b.Helper()
	return turnIn(b, url, "t", prompt, heard)
}

func turnIn(b *testing.B, url, thread, prompt string, heard func(text string)) (size int) {
	b.Helper()
	id := runs.Add(1)
	input := fmt.Sprintf(`{"threadId":%q,"runId":"r%d","messages":[{"id":"u%d","role":"user","content":%q}],"tools":[],"context":[],"state":{},"forwardedProps":{}}`, thread, id, id, prompt)
	req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(input))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		b.Fatalf("%s: %s", resp.Status, text)
	}
	frames := sse.NewReader(resp.Body)
	for {
		f, err := frames.Next()
		if err == io.EOF {
			return size
		}
		if err != nil {
			b.Fatal(err)
		}
		text, ok := deltaOf(f.Data)
		if bytes.Contains(f.Data, []byte(`"RUN_ERROR"`)) {
			b.Fatalf("%s", f.Data)
		}
		if !ok {
			continue
		}
		size += len(text)
		if heard != nil {
			heard(string(text))
		}
	}
}

// deltaOf cuts the delta out of an event; the chunks hold nothing that JSON
// escapes.
func deltaOf(data []byte) ([]byte, bool) {
	_, rest, ok := bytes.Cut(data, []byte(`"delta":"`))
	if !ok {
		return nil, false
	}
	text, _, ok := bytes.Cut(rest, []byte{'"'})
	return text, ok
}
