//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/internal/sse"
)

// BenchmarkViewers is one event of a run, at 25 a second, to each of 1,000
// clients, on the same machine, that follow the thread: the time from when the
// agent says it until a client has it, what a client costs the server in memory,
// and what a frame costs it in CPU time and allocations.
func BenchmarkViewers(b *testing.B) {
	const viewers, rate = 1000, 25
	base := startChild(b)
	turn(b, base+"/agui/bench", "1", nil)
	before := usageOf(b, base)
	var ready, done sync.WaitGroup
	late := make([][]time.Duration, viewers)
	for i := range viewers {
		ready.Add(1)
		late[i] = make([]time.Duration, 0, b.N)
		done.Go(func() { late[i] = view(b, base, late[i], &ready) })
	}
	ready.Wait()
	connected := usageOf(b, base)
	b.ResetTimer()
	turn(b, base+"/agui/bench", fmt.Sprintf("%d 0 %d", b.N, rate), nil)
	done.Wait()
	b.StopTimer()
	after := usageOf(b, base)
	all := slices.Concat(late...)
	if len(all) != b.N*viewers {
		b.Fatalf("%d frames, want %d", len(all), b.N*viewers)
	}
	percentiles(b, all)
	b.ReportMetric(float64(connected.Stack-before.Stack)/viewers, "stack-B/viewer")
	b.ReportMetric(float64(connected.Heap+connected.Stack-before.Heap-before.Stack)/viewers, "B/viewer")
	b.ReportMetric(float64((after.CPU-connected.CPU).Nanoseconds())/1000/float64(len(all)), "server-cpu-µs/frame")
	b.ReportMetric(float64(after.Allocs-connected.Allocs)/float64(len(all)), "server-allocs/frame")
	b.ReportMetric(0, "ns/op")
}

func percentiles(b *testing.B, late []time.Duration) {
	b.Helper()
	slices.Sort(late)
	ms := func(i int) float64 { return float64(late[i].Microseconds()) / 1000 }
	b.ReportMetric(ms(len(late)/2), "p50-ms")
	b.ReportMetric(ms(len(late)*99/100), "p99-ms")
}

// dialEvents asks for the thread's events on a connection of its own, without the
// memory that net/http would take for a thousand clients.
func dialEvents(base, query string) (net.Conn, error) {
	host := strings.TrimPrefix(base, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(conn, "GET /v1/threads/t/events%s HTTP/1.1\r\nHost: %s\r\n\r\n", query, host)
	return conn, err
}

// view reads the thread's events until the second run has ended, and how long each
// event of that took.
func view(b *testing.B, base string, late []time.Duration, ready *sync.WaitGroup) []time.Duration {
	conn, err := dialEvents(base, "")
	if err != nil {
		b.Error(err)
		ready.Done()
		return nil
	}
	defer conn.Close()
	r := sse.NewReader(conn)
	for ends := 0; ends < 2; {
		f, err := r.Next()
		if err != nil {
			b.Error(err)
			if ends == 0 {
				ready.Done()
			}
			return late
		}
		switch {
		case bytes.Contains(f.Data, []byte(`"RUN_FINISHED"`)):
			if ends++; ends == 1 {
				ready.Done()
			}
		case ends == 1:
			if text, ok := deltaOf(f.Data); ok {
				if ns, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
					late = append(late, time.Since(time.Unix(0, ns)))
				}
			}
		}
	}
	return late
}

// BenchmarkStalled is what 100 viewers that take no byte cost the server in
// memory, while a run of 40,000 events goes by.
func BenchmarkStalled(b *testing.B) {
	const viewers, chunks = 100, 40_000
	for b.Loop() {
		base := startChild(b)
		turn(b, base+"/agui/bench", "1", nil)
		var conns []net.Conn
		for range viewers {
			conn, err := dialEvents(base, "")
			if err != nil {
				b.Fatal(err)
			}
			_ = conn.(*net.TCPConn).SetReadBuffer(4096)
			conns = append(conns, conn)
			if _, err := conn.Read(make([]byte, 1)); err != nil {
				b.Fatal(err)
			}
		}
		before := usageOf(b, base)
		turn(b, base+"/agui/bench", strconv.Itoa(chunks), nil)
		after := usageOf(b, base)
		for _, conn := range conns {
			_ = conn.Close()
		}
		b.ReportMetric(float64(int64(after.Heap+after.Stack)-int64(before.Heap+before.Stack))/viewers, "B/stalled")
	}
	b.ReportMetric(0, "ns/op")
}

// BenchmarkIdleMemory is what the server keeps of 100 runs of 10,000 events, of
// agents inside of its process, when all have ended.
func BenchmarkIdleMemory(b *testing.B) {
	const runs, chunks = 100, 10_000
	for b.Loop() {
		base := startChild(b)
		before := usageOf(b, base)
		var wg sync.WaitGroup
		slots := make(chan struct{}, 16) // as many sessions there may be
		for i := range runs {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				url := fmt.Sprintf("%s/v1/threads/idle-%d/runs", base, i)
				req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, url, strings.NewReader(fmt.Sprintf(`{"agent":"inside","input":"%d"}`, chunks)))
				if err != nil {
					b.Error(err)
					return
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Accept", "text/event-stream")
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					b.Error(err)
					return
				}
				defer resp.Body.Close()
				last, r := "", sse.NewReader(resp.Body)
				for f, err := r.Next(); err == nil; f, err = r.Next() {
					last = string(f.Data)
				}
				if !strings.Contains(last, `"RUN_FINISHED"`) {
					b.Errorf("%s: the last event is %.200s", resp.Status, last)
				}
			})
		}
		wg.Wait()
		http.DefaultClient.CloseIdleConnections()
		_ = usageOf(b, base) // what finalizers free, the next collection gives back
		u := usageOf(b, base)
		b.ReportMetric(float64(before.InUse)/1e6, "heap-MB-before")
		b.ReportMetric(float64(u.InUse)/1e6, "heap-MB")
		b.ReportMetric(float64(u.RSS)/1e6, "RSS-MB")
	}
	b.ReportMetric(0, "ns/op")
}
