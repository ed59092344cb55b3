package acpwire

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"
)

const chunkLine = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"5a3c2b1e-0f7d-4c55-9a51-2f6f0f3f7f10","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"token"}}}}` + "\n"

// flood sends n numbered updates as fast as the pipe takes them.
func flood(t testing.TB, n int, cfg Config) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	cfg.Lost = func(error) { close(done) }
	c := New(r, io.Discard, cfg)
	go func() {
		block := bytes.Repeat([]byte(chunkLine), 100)
		for left := n; left > 0; left -= 100 {
			if _, err := w.Write(block[:min(left, 100)*len(chunkLine)]); err != nil {
				t.Error(err)
			}
		}
		w.Close()
	}()
	<-done
	c.Close()
	r.Close()
	c.Wait()
}

// live gives the bytes that are in use.
func live() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestFastProducerLosesNothing(t *testing.T) {
	const n = 200_000
	for name, work := range map[string]int{"fast consumer": 0, "slow consumer": 200} {
		t.Run(name, func(t *testing.T) {
			var got, sum int
			var peak uint64
			before := live()
			flood(t, n, Config{Notify: func(_ string, params []byte) {
				got++
				for i := range work {
					sum += int(params[i%len(params)])
				}
				if got%50_000 == 0 {
					peak = max(peak, live())
				}
			}})
			if got != n {
				t.Errorf("%d of %d delivered", got, n)
			}
			t.Logf("%d kB in use before, at most %d kB meanwhile (%d)", before>>10, peak>>10, sum&1)
			if peak > before+8<<20 {
				t.Errorf("%d MB in use, %d before", peak>>20, before>>20)
			}
		})
	}
}

// The bar is 400,000 lines a second with an empty consumer.
func BenchmarkLines(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(chunkLine)))
	got := 0
	flood(b, b.N, Config{Notify: func(string, []byte) { got++ }})
	if got != b.N {
		b.Fatal(got)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "lines/s")
}

func BenchmarkParse(b *testing.B) {
	line := []byte(chunkLine)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := parse(line); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkHugeLine(b *testing.B) {
	line := fmt.Appendf(nil, `{"method":"m","params":"%s"}`+"\n", bytes.Repeat([]byte("x"), 16<<20))
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		l := lineReader{r: bytes.NewReader(line), max: 64 << 20}
		if _, _, err := l.next(nil); err != nil {
			b.Fatal(err)
		}
	}
}
