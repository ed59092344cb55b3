package torture_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/sse"
)

// desk is the page that hears of all threads' requests, by a stream that is cut
// again and again.
type desk struct {
	w    *world
	rand *rand.Rand

	mu     sync.Mutex
	last   string
	states map[string][]string // by request, in the order they were told
	faults []string
}

func newDesk(w *world, seed uint64) *desk {
	return &desk{w: w, rand: rand.New(rand.NewPCG(seed, 1<<41)), states: map[string][]string{}}
}

// listen reads until the context ends.
func (d *desk) listen(ctx context.Context) {
	for ctx.Err() == nil {
		if !d.read(ctx) && pause(ctx, 20*time.Millisecond) != nil {
			return
		}
	}
}

func (d *desk) read(ctx context.Context) (some bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	headers := []string{"Accept", "text/event-stream"}
	if d.last != "" {
		headers = append(headers, "Last-Event-ID", d.last)
	}
	resp, err := d.w.send(ctx, d.w.plain, "GET", "/v1/requests/events", nil, headers...)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode != http.StatusServiceUnavailable {
			d.fault("the feed of requests: %s", resp.Status)
		}
		return false
	}
	frames := sse.NewReader(&cutter{resp.Body, 1 + d.rand.IntN(20_000)})
	for f, err := frames.Next(); err == nil; f, err = frames.Next() {
		some = true
		d.take(f)
	}
	return some
}

func (d *desk) take(f sse.Frame) {
	var q engine.Request
	if err := json.Unmarshal(f.Data, &q); err != nil || f.ID <= d.last {
		d.fault("the feed said %s %.300s after %s: %v", f.ID, f.Data, d.last, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = f.ID
	d.states[q.ID] = append(d.states[q.ID], q.State)
}

func (d *desk) fault(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.faults) < 5 {
		d.faults = append(d.faults, fmt.Sprintf(format, args...))
	}
}

// check waits until every request has been told of, from its beginning to its end.
func (d *desk) check(ctx context.Context) ([]string, error) {
	var stored struct{ Requests []engine.Request }
	if err := d.w.get(ctx, "/v1/requests", &stored); err != nil {
		return nil, err
	}
	for end := time.Now().Add(patience); ; {
		missing := d.missing(stored.Requests)
		d.mu.Lock()
		faults := append(missing, d.faults...)
		d.mu.Unlock()
		if len(missing) == 0 || time.Now().After(end) {
			return faults, nil
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return faults, err
		}
	}
}

func (d *desk) missing(requests []engine.Request) (out []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range requests {
		if told := d.states[q.ID]; len(told) < 2 || told[0] != "pending" || told[len(told)-1] != q.State {
			out = append(out, fmt.Sprintf("request %s of %s is %s; the feed told of %v", q.ID, q.Thread, q.State, told))
		}
	}
	return out
}
