//go:build unix

package bench

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/sse"
)

// long is how many chunks the run says that readers come back to.
const long = 100_000

// BenchmarkReconnect is a reader that comes to a run of 100,000 events, which has
// ended or goes on, of one text or of 400 rounds: the raw events until the last,
// and a stock client that joins.
func BenchmarkReconnect(b *testing.B) {
	for _, open := range []bool{false, true} {
		for _, calls := range []int{0, long / 400} {
			name := fmt.Sprintf("%s/%s", map[bool]string{false: "closed", true: "open"}[open], map[bool]string{false: "rounds", true: "text"}[calls == 0])
			b.Run(name, func(b *testing.B) {
				url := startServer(b)
				last := longRun(b, url, open, calls)
				base := strings.TrimSuffix(url, "/agui/bench")
				b.Run("raw", func(b *testing.B) {
					reconnect(b, base+"/v1/threads/t/events", last)
				})
				for _, prelude := range []string{"replay", "snapshot"} {
					b.Run("prelude="+prelude, func(b *testing.B) {
						reconnect(b, url+"?threadId=t&prelude="+prelude, last)
					})
				}
				for _, v := range aguitest.Versions {
					b.Run("client="+string(v), func(b *testing.B) { stock(b, url, v, open, last) })
				}
			})
		}
	}
}

// longRun has the agent say it all and returns the cursor of the last event. An
// open run goes on for ever, silently.
func longRun(b *testing.B, url string, open bool, calls int) (last string) {
	b.Helper()
	prompt := fmt.Sprintf("%d 0 0 %d", long, calls)
	if open {
		prompt = fmt.Sprintf("%d %d 0 %d", long+1, long, calls)
	}
	base := strings.TrimSuffix(url, "/agui/bench")
	body := strings.NewReader(fmt.Sprintf(`{"agent":"bench","input":%q}`, prompt))
	resp, err := http.Post(base+"/v1/threads/t/runs", "application/json", body)
	if err != nil {
		b.Fatal(err)
	}
	text, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		b.Fatalf("%s: %s", resp.Status, text)
	}
	chunks := 0
	hear(b, base+"/v1/threads/t/events", func(f sse.Frame) bool {
		if _, ok := deltaOf(f.Data); ok && strings.Contains(string(f.Data), string(agui.TypeTextMessageContent)) {
			chunks++
		}
		last = f.ID
		return !(open && chunks == long) && !strings.Contains(string(f.Data), `"RUN_FINISHED"`)
	})
	if chunks != long {
		b.Fatalf("the run has %d chunks", chunks)
	}
	return last
}

// hear reads a stream until heard returns false or it ends.
func hear(b *testing.B, url string, heard func(sse.Frame) bool) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		b.Fatal(resp.Status)
	}
	for r := sse.NewReader(resp.Body); ; {
		f, err := r.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		if len(f.Data) > 0 && !heard(f) {
			return
		}
	}
}

// reconnect measures until the first event is there and until the last is.
func reconnect(b *testing.B, url, last string) {
	b.Helper()
	var first time.Duration
	n, size := 0, 0
	b.ReportAllocs()
	for b.Loop() {
		begin, one := time.Now(), false
		n, size = 0, 0
		hear(b, url, func(f sse.Frame) bool {
			if !one {
				first, one = first+time.Since(begin), true
			}
			n, size = n+1, size+len(f.Data)
			return f.ID != last
		})
	}
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(b.N) }
	b.ReportMetric(ms(first), "first-ms")
	b.ReportMetric(ms(b.Elapsed()), "whole-ms")
	b.ReportMetric(float64(n), "events")
	b.ReportMetric(float64(size)/1000, "kB")
	b.ReportMetric(0, "ns/op")
}

// stock has a published client join, and reports how long it took with the
// server, and what Node needed.
func stock(b *testing.B, url string, v agui.Version, open bool, last string) {
	clients := aguitest.Clients(b)
	var cpu, whole time.Duration
	runs, contents := 0, 0
	if open { // how many pieces of text a client is sent
		hear(b, url+"?threadId=t", func(f sse.Frame) bool {
			if strings.Contains(string(f.Data), string(agui.TypeTextMessageContent)) {
				contents++
			}
			return f.ID != last
		})
	}
	for b.Loop() {
		runs++
		call := aguitest.Call{Version: v, ThreadID: "t", URL: url + "?threadId=t", Method: http.MethodGet, Connect: true}
		if open {
			call.Agent = fmt.Sprintf("%s-%d-%d", v, runs, time.Now().UnixNano())
		}
		begin := time.Now()
		if !open {
			r := clients.MustRun(call)
			whole += time.Since(begin)
			check(b, r)
			cpu += time.Duration(r.CPUMillis * float64(time.Millisecond))
			continue
		}
		done := make(chan aguitest.Report, 1)
		go func() {
			r, _ := clients.Run(b.Context(), call)
			done <- r
		}()
		if err := clients.Wait(b.Context(), call.Agent, agui.TypeTextMessageContent, contents); err != nil {
			b.Fatal(err)
		}
		whole += time.Since(begin)
		if err := clients.Detach(b.Context(), call.Agent); err != nil {
			b.Fatal(err)
		}
		r := <-done
		check(b, r)
		cpu += time.Duration(r.CPUMillis * float64(time.Millisecond))
		if err := clients.Drop(b.Context(), call.Agent); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(b.N), "client-cpu-ms")
	b.ReportMetric(float64(whole.Microseconds())/1000/float64(b.N), "whole-ms")
	b.ReportMetric(0, "ns/op")
}

func check(b *testing.B, r aguitest.Report) {
	b.Helper()
	if !r.OK() || len(r.Messages) < long*len(chunkText) {
		b.Fatalf("%s, %q, %d bytes of messages", r.Error, r.Warnings, len(r.Messages))
	}
}
