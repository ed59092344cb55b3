//go:build unix

package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/internal/sse"
	"github.com/agentstream-go/agentstream/source/acp"
)

// generatorEnv, in the environment, makes the test binary the one generator behind
// many pipes. It names a pipe from which the generator reads numbers of processes,
// one a line, and answers on the standard input and output of each as agent does.
const generatorEnv = "AGENTSTREAM_BENCH_GENERATOR"

func generate(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0) // for both, so that it never ends
	if err != nil {
		return err
	}
	for in := bufio.NewScanner(f); in.Scan(); {
		proc := "/proc/" + in.Text() + "/fd/"
		stdin, err := os.OpenFile(proc+"0", os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		stdout, err := os.OpenFile(proc+"1", os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		go agent(stdin, stdout)
	}
	return nil
}

// startGenerator returns the command of an agent that does nothing by itself: the
// generator speaks for it.
func startGenerator(b *testing.B) (argv []string) {
	b.Helper()
	if _, err := os.Stat("/proc/self/fd/0"); err != nil {
		b.Skip("the pipes of another process are opened in /proc")
	}
	path := filepath.Join(b.TempDir(), "agents")
	if out, err := exec.Command("mkfifo", path).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), generatorEnv+"="+path)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return []string{"sh", "-c", `(echo $$ > "$0"); exec sleep 600`, path}
}

// BenchmarkPipes is one line of one of 200 agents, each of which says 25 a second
// for itself, to the client that waits for it, durable: by agentstream, and by a
// pump that decodes the line, appends it to the same log and sends it on. The time
// is from when the agent says it until the client has it; CPU is that of server and
// clients. The first second, in which 200 turns begin, is not counted.
func BenchmarkPipes(b *testing.B) {
	const pipes, rate = 200, 25
	for _, by := range []struct {
		name  string
		start func(*testing.B, int) []string
	}{{"pump", pumps}, {"agentstream", served}} {
		b.Run(by.name, func(b *testing.B) {
			urls := by.start(b, pipes)
			each := max(b.N/pipes, 2*rate)
			late := make([][]time.Duration, pipes)
			var lines atomic.Int64
			var cpu, used time.Duration
			all := func(prompt string, heard func(int, string)) {
				var wg sync.WaitGroup
				for i, url := range urls {
					wg.Go(func() {
						turnIn(b, url, fmt.Sprint("t", i), prompt, func(text string) { heard(i, text) })
					})
				}
				wg.Wait()
			}
			all("1", func(int, string) {}) // all agents are started
			b.ResetTimer()
			all(fmt.Sprintf("%d 0 %d", each, rate), func(i int, text string) {
				now := time.Now()
				for said := range strings.FieldsSeq(text) {
					ns, err := strconv.ParseInt(said, 10, 64)
					if err != nil {
						continue
					}
					late[i] = append(late[i], now.Sub(time.Unix(0, ns)))
					switch lines.Add(1) {
					case rate * pipes:
						cpu = cpuTime()
					case int64(each * pipes):
						used = cpuTime() - cpu
					}
				}
			})
			b.StopTimer()
			if n := lines.Load(); n != int64(each*pipes) {
				b.Fatalf("%d of %d lines", n, each*pipes)
			}
			for i := range late {
				late[i] = late[i][rate:]
			}
			heard := slices.Concat(late...)
			percentiles(b, heard)
			b.ReportMetric(float64(used.Microseconds())/float64(len(heard)), "cpu-µs/line")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// served are the addresses of one server's threads.
func served(b *testing.B, n int) []string {
	source := &acp.Command{Argv: startGenerator(b)}
	url := startServerWith(b, engine.Options{
		Agents: []engine.Agent{{Name: "bench", Type: "acp", Source: source}},
		Limits: engine.Limits{Processes: n},
	})
	return slices.Repeat([]string{url}, n)
}

// pumps are servers, one for each agent, with one log for all.
func pumps(b *testing.B, n int) (urls []string) {
	log, err := sqlite.Open(filepath.Join(b.TempDir(), "pump.db"), sqlite.Options{Exclusive: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = log.Close() })
	argv := startGenerator(b)
	for i := range n {
		cmd := exec.Command(argv[0], argv[1:]...)
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
		thread := fmt.Sprint("t", i)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var input struct{ Messages []struct{ Content string } }
			if err := json.NewDecoder(r.Body).Decode(&input); err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			fmt.Fprintf(in, `{"id":1,"method":"session/prompt","params":{"prompt":[{"text":%q}]}}`+"\n", input.Messages[0].Content)
			pumpDurably(r.Context(), w, lines, log, thread)
		}))
		b.Cleanup(func() {
			s.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		urls = append(urls, s.URL)
	}
	return urls
}

// pumpDurably sends an answer on, each line of it when it is in the log; a
// burst is one batch.
func pumpDurably(ctx context.Context, w http.ResponseWriter, lines *bufio.Reader, log eventlog.Log, thread string) {
	ctl := http.NewResponseController(w)
	var frames []byte
	var batch []eventlog.Event
	for over := false; !over; {
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
		if json.Unmarshal(line, &m) != nil {
			return
		}
		if over = m.ID != nil; !over {
			data, err := json.Marshal(map[string]string{"delta": m.Params.Update.Content.Text})
			if err != nil {
				return
			}
			batch = append(batch, eventlog.Event{Kind: eventlog.KindEvent, Run: "run", Data: data})
			frames = sse.AppendEvent(frames, "", data)
		}
		if !over && bytes.IndexByte(peek(lines), '\n') >= 0 {
			continue
		}
		if _, err := log.Append(ctx, eventlog.Batch{Thread: thread, Events: batch}); err != nil {
			return
		}
		if _, err := w.Write(frames); err != nil {
			return
		}
		_ = ctl.Flush()
		frames, batch = frames[:0], batch[:0]
	}
}

// peek gives what is there already.
func peek(r *bufio.Reader) []byte {
	data, _ := r.Peek(r.Buffered())
	return data
}
