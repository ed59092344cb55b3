package engine

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/internal/join"
	"github.com/agentstream-go/agentstream/source"
)

// stepwise is a turn that does a step for each value of the channel, after which
// it sends one back.
func stepwise(steps []func(agentstream.StreamHandler), next chan int) script {
	return func(_ context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		for i, step := range steps {
			<-next
			step(t.Handler)
			next <- i
		}
		<-next
		return source.EndTurn, nil
	}
}

// TestReadersShareBytes: an event is encoded once. Whoever waits for it gets the
// same bytes in the same place.
func TestReadersShareBytes(t *testing.T) {
	const readers = 3
	next := make(chan int)
	chunk := func(text string) func(agentstream.StreamHandler) {
		return func(h agentstream.StreamHandler) { h.OnMessageChunk(text) }
	}
	w := newWorld(t, openSQLite(t), map[string]script{
		"go": stepwise([]func(agentstream.StreamHandler){chunk("first"), chunk("second")}, next),
	})
	defer w.close()
	w.start("t", "r1", "go")
	next <- 0
	<-next
	seen := make(chan *byte)
	for range readers {
		go func() {
			texts := 0
			for f, err := range w.Events(t.Context(), "t", eventlog.Cursor{}, EventOptions{Run: "r1"}) {
				if err != nil {
					t.Error(err)
					return
				}
				e, err := agui.Decode(f.Data)
				if err != nil {
					t.Error(err)
				}
				if _, ok := e.(*agui.TextMessageContent); ok {
					texts++
					seen <- unsafe.SliceData(f.Data)
				}
			}
			if texts != 2 {
				t.Errorf("a reader has seen %d deltas", texts)
			}
		}()
	}
	for range readers {
		<-seen
	}
	next <- 1
	<-next
	at := <-seen
	for range readers - 1 {
		if other := <-seen; other != at {
			t.Error("two readers that waited have the event in two places")
		}
	}
	close(next)
}

// TestJoinedAgain has somebody join after each thing that the agent says. What is
// remembered of the one before must not show: whoever remembers nothing gets the
// same.
func TestJoinedAgain(t *testing.T) {
	var steps []func(agentstream.StreamHandler)
	for i := range 4 {
		id := fmt.Sprint("call", i)
		for k := range 3 {
			steps = append(steps, func(h agentstream.StreamHandler) { h.OnMessageChunk(fmt.Sprintf("text %d.%d ", i, k)) })
		}
		steps = append(steps,
			func(h agentstream.StreamHandler) { h.OnThoughtChunk("so ") },
			func(h agentstream.StreamHandler) { h.OnThoughtChunk("then ") },
			func(h agentstream.StreamHandler) { h.OnToolCall(id, "title") },
			func(h agentstream.StreamHandler) {
				h.OnToolCallUpdate(id, `{"a":`, agentstream.ToolCallStatusPending)
			},
			func(h agentstream.StreamHandler) {
				h.OnToolCallUpdate(id, `1}`, agentstream.ToolCallStatusPending)
			},
			func(h agentstream.StreamHandler) {
				h.OnToolCallUpdate(id, "result", agentstream.ToolCallStatusCompleted)
			},
		)
	}
	next := make(chan int)
	w := newWorld(t, newMemlog(), map[string]script{"go": stepwise(steps, next)})
	defer w.close()
	w.start("t", "r1", "go")
	c := w.use("t")
	defer c.release()
	swap := func(m mark) (was mark) {
		c.mu.Lock()
		defer c.mu.Unlock()
		was, c.joined = c.joined, m
		return was
	}
	prelude := func(at eventlog.Cursor, form join.Form) (lines []string) {
		t.Helper()
		p, err := c.locate(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range p.point.Prelude(p.rest, join.Reader{Form: form}) {
			lines = append(lines, string(agui.Append(nil, e)))
		}
		return lines
	}
	var cursors []eventlog.Cursor
	for i := range steps {
		next <- i
		<-next
		now, err := c.locate(t.Context(), eventlog.Cursor{})
		if err != nil {
			t.Fatal(err)
		}
		cursors = append(cursors, now.cursor)
		places := []eventlog.Cursor{now.cursor, cursors[i/2], now.cursor} // back and forth
		for _, at := range places {
			for _, form := range []join.Form{join.Replay, join.Snapshot} {
				known := swap(mark{})
				want := prelude(at, form)
				swap(known)
				if diff := cmp.Diff(want, prelude(at, form)); diff != "" {
					t.Fatalf("step %d, at %v, form %d (-without memory +with):\n%s", i, at, form, diff)
				}
			}
		}
	}
	if n := len(swap(mark{}).rest); n == 0 || n > 12 {
		t.Errorf("%d events are remembered of the last reader", n)
	}
	if !slices.IsSortedFunc(cursors, eventlog.Cursor.Compare) {
		t.Error("the places do not follow each other")
	}
	close(next)
}
