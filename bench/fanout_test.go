//go:build unix

package bench

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream/internal/sse"
)

// BenchmarkFanOut is one chunk of a run, at 100 chunks a second, to each of 100
// clients that follow the thread. The clients' own work is counted too.
func BenchmarkFanOut(b *testing.B) {
	const clients = 100
	url := startServer(b)
	turn(b, url, "1", nil)
	base := strings.TrimSuffix(url, "/agui/bench")
	var ready, done sync.WaitGroup
	counts := make([]int, clients)
	for i := range clients {
		ready.Add(1)
		done.Go(func() { counts[i] = follow(b, base, &ready) })
	}
	ready.Wait()
	cpu := cpuTime()
	b.ResetTimer()
	turn(b, url, fmt.Sprintf("%d 0 100", b.N), nil)
	done.Wait()
	b.StopTimer()
	b.ReportMetric(float64((cpuTime()-cpu).Microseconds())/float64(b.N*clients), "cpu-µs/frame")
	for i, n := range counts {
		// Events may be merged on the way, never lost: the run's end came.
		if n == 0 {
			b.Errorf("client %d has seen nothing", i)
		}
	}
}

// follow reads the thread's events until the second run has ended.
func follow(b *testing.B, base string, ready *sync.WaitGroup) (frames int) {
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, base+"/v1/threads/t/events", nil)
	if err != nil {
		b.Error(err)
		return 0
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Error(err)
		return 0
	}
	defer resp.Body.Close()
	for r, ends := sse.NewReader(resp.Body), 0; ends < 2; {
		f, err := r.Next()
		if err != nil {
			b.Error(err)
			return frames
		}
		if ends == 1 {
			frames++
		}
		if strings.Contains(string(f.Data), `"RUN_FINISHED"`) {
			if ends++; ends == 1 {
				ready.Done()
			}
		}
	}
	return frames
}
