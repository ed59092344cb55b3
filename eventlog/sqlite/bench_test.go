package sqlite_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
)

func openBench(b *testing.B) *sqlite.Log {
	b.Helper()
	l, err := sqlite.Open(filepath.Join(b.TempDir(), "bench.db"), sqlite.Options{Exclusive: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

// reportLatency adds the median, the 99th percentile and the worst of many times.
func reportLatency(b *testing.B, all ...[]time.Duration) {
	b.Helper()
	d := slices.Concat(all...)
	slices.Sort(d)
	if len(d) == 0 {
		return
	}
	ms := func(i int) float64 { return float64(d[i].Microseconds()) / 1000 }
	b.ReportMetric(ms(len(d)/2), "p50-ms")
	b.ReportMetric(ms(len(d)*99/100), "p99-ms")
	b.ReportMetric(ms(len(d)-1), "max-ms")
}

func oneEvent() []eventlog.Event {
	data := make([]byte, 200)
	for i := range data {
		data[i] = "abcdefghijklmnop"[i%16]
	}
	return []eventlog.Event{{Kind: eventlog.KindEvent, Run: "run-0123456789", Data: data}}
}

// BenchmarkAppend is one durable event after the other, for numbers of
// producers that wait.
func BenchmarkAppend(b *testing.B) {
	for _, writers := range []int{1, 64, 256} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			l := openBench(b)
			b.ReportAllocs()
			latencies := make([][]time.Duration, writers)
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			b.ResetTimer()
			for w := range writers {
				wg.Go(func() {
					batch := eventlog.Batch{Thread: fmt.Sprint("thread-", w), Events: oneEvent()}
					for left.Add(-1) >= 0 {
						start := time.Now()
						if _, err := l.Append(context.Background(), batch); err != nil {
							b.Error(err)
							return
						}
						latencies[w] = append(latencies[w], time.Since(start))
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
			reportLatency(b, latencies...)
		})
	}
}

// BenchmarkAppendPaced is 200 runs of 25 events a second each.
func BenchmarkAppendPaced(b *testing.B) {
	const producers, perSecond = 200, 5000
	l := openBench(b)
	b.ReportAllocs()
	latencies := make([][]time.Duration, producers)
	var wg sync.WaitGroup
	b.ResetTimer()
	begin := time.Now()
	for p := range producers {
		wg.Go(func() {
			batch := eventlog.Batch{Thread: fmt.Sprint("thread-", p), Events: oneEvent()}
			for i := p; i < b.N; i += producers {
				due := begin.Add(time.Duration(i) * time.Second / perSecond)
				<-time.After(time.Until(due))
				start := time.Now()
				if _, err := l.Append(context.Background(), batch); err != nil {
					b.Error(err)
					return
				}
				latencies[p] = append(latencies[p], time.Since(start))
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	reportLatency(b, latencies...)
}

// BenchmarkReadBack reads a thread from its start: with batches of one event
// every event is a row, which is what a lone producer leaves.
func BenchmarkReadBack(b *testing.B) {
	const events = 20_000
	for _, batch := range []int{1, 20} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			l := openBench(b)
			fill(b, l, events, batch)
			readBack(b, l, events)
		})
	}
}

// BenchmarkReadBackAged reads 100,000 chunks as agents make them, and the same
// after they were compacted.
func BenchmarkReadBackAged(b *testing.B) {
	const events = 100_000
	l := openBench(b)
	last := say(b, l, "thread", events)
	for _, compacted := range []bool{false, true} {
		b.Run(fmt.Sprintf("compacted=%v", compacted), func(b *testing.B) {
			if compacted {
				if err := l.Compact(b.Context(), "thread", last); err != nil {
					b.Fatal(err)
				}
			}
			readBack(b, l, events)
			size, err := l.Number("SELECT ifnull((SELECT sum(length(data)) FROM segments), 0) + " +
				"ifnull((SELECT sum(length(data)) FROM journal), 0) + ifnull((SELECT sum(length(data)) FROM packed), 0)")
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(size)/events, "stored-B/event")
		})
	}
}

func readBack(b *testing.B, l *sqlite.Log, events uint64) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		for r, err := range l.After(context.Background(), "thread", eventlog.Cursor{}) {
			if err != nil {
				b.Fatal(err)
			}
			if r.Cursor.Seq == events {
				break
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)*100_000/float64(events), "ms/100k-events")
}

// fill appends events to one thread, a batch after the other.
func fill(b *testing.B, l *sqlite.Log, events, batch int) {
	b.Helper()
	one := oneEvent()[0]
	for range events / batch {
		list := slices.Repeat([]eventlog.Event{one}, batch)
		if _, err := l.Append(context.Background(), eventlog.Batch{Thread: "thread", Events: list}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTail measures from before an append until a waiting reader has it.
func BenchmarkTail(b *testing.B) {
	l := openBench(b)
	b.ReportAllocs()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	got := make(chan uint64)
	go func() {
		for r := range l.After(ctx, "thread", eventlog.Cursor{}) {
			select {
			case got <- r.Cursor.Seq:
			case <-ctx.Done():
			}
		}
	}()
	batch := eventlog.Batch{Thread: "thread", Events: oneEvent()}
	var latencies []time.Duration
	for b.Loop() {
		start := time.Now()
		c, err := l.Append(ctx, batch)
		if err != nil {
			b.Fatal(err)
		}
		for seq := range got {
			if seq == c.Seq {
				break
			}
		}
		latencies = append(latencies, time.Since(start))
	}
	reportLatency(b, latencies)
}

// BenchmarkOpen opens a log that holds 200,000 events, until its first answer.
func BenchmarkOpen(b *testing.B) {
	path := filepath.Join(b.TempDir(), "bench.db")
	l, err := sqlite.Open(path, sqlite.Options{Exclusive: true})
	if err != nil {
		b.Fatal(err)
	}
	fill(b, l, 200_000, 200)
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		l, err := sqlite.Open(path, sqlite.Options{Exclusive: true})
		if err != nil {
			b.Fatal(err)
		}
		c, err := l.Append(context.Background(), eventlog.Batch{Thread: "thread"})
		if err != nil || c.Seq != 200_000 {
			b.Fatal(c, err)
		}
		b.StopTimer()
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// BenchmarkIdleReaders is the memory that a reader takes while it waits.
func BenchmarkIdleReaders(b *testing.B) {
	const readers = 5000
	l := openBench(b)
	batch := eventlog.Batch{Thread: "thread", Events: oneEvent()}
	if _, err := l.Append(context.Background(), batch); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		ctx, cancel := context.WithCancel(context.Background())
		var ready, wg sync.WaitGroup
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		ready.Add(readers)
		for range readers {
			wg.Go(func() {
				for range l.After(ctx, "thread", eventlog.Cursor{}) {
					ready.Done()
				}
			})
		}
		ready.Wait()
		runtime.GC()
		runtime.ReadMemStats(&after)
		used := int64(after.HeapAlloc+after.StackInuse) - int64(before.HeapAlloc+before.StackInuse)
		b.ReportMetric(float64(used)/readers, "B/reader")
		cancel()
		wg.Wait()
	}
}

// BenchmarkHead asks for a thread's last record while the journal is as long as
// it gets, of rows as small as they get.
func BenchmarkHead(b *testing.B) {
	l := openBench(b)
	for i := range 1023 {
		batch := eventlog.Batch{Thread: fmt.Sprint("thread-", i%8), Events: []eventlog.Event{{Kind: 1, Run: "run", Data: chunk(i)}}}
		if _, err := l.Append(b.Context(), batch); err != nil {
			b.Fatal(err)
		}
	}
	rows, err := l.Number("SELECT count(*) FROM journal")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		err := l.View(b.Context(), "thread-0", func(v eventlog.View) error {
			_, err := v.Head()
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows), "journal-rows")
}
