package engine

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// readings counts the records that are read through views.
type readings struct {
	*memlog
	n atomic.Int64
}

func (l *readings) View(ctx context.Context, thread string, fn func(eventlog.View) error) error {
	return l.memlog.View(ctx, thread, func(v eventlog.View) error { return fn(countingView{v, &l.n}) })
}

type countingView struct {
	eventlog.View
	n *atomic.Int64
}

func (v countingView) Records(after uint64, limit int) iter.Seq2[eventlog.Record, error] {
	return func(yield func(eventlog.Record, error) bool) {
		for r, err := range v.View.Records(after, limit) {
			v.n.Add(1)
			if !yield(r, err) {
				return
			}
		}
	}
}

// joined is what a client has that joins and reads to the end, what it held
// before included; both published clients would take the stream.
func (w *world) joined(r JoinRequest, has ...agui.Message) []any {
	w.tb.Helper()
	list := agui.NewList()
	list.Add(has...)
	verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
	for f, err := range w.Join(w.tb.Context(), r) {
		if err != nil {
			w.tb.Fatalf("join: %v", err)
		}
		e, err := agui.Decode(f.Data)
		if err != nil {
			w.tb.Fatal(err)
		}
		for _, v := range verifiers {
			if err := v.CheckJSON(f.Data); err != nil {
				w.tb.Errorf("%v in %s", err, f.Data)
			}
		}
		list.Apply(e)
	}
	for _, v := range verifiers {
		if err := v.End(); err != nil {
			w.tb.Error(err)
		}
	}
	return plain(list.Messages())
}

// gated says and does a lot and waits at each gate.
func gated(gate <-chan struct{}) script {
	return func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		h := t.Handler
		wait := func() {
			select {
			case <-gate:
			case <-ctx.Done():
			}
		}
		h.OnThoughtChunk("let me think")
		wait()
		h.OnMessageChunk("I shall ")
		h.OnMessageChunk("look. ")
		wait()
		h.OnToolCall("a", "read a")
		h.OnToolCallUpdate("a", `{"path":`, agentstream.ToolCallStatusPending)
		wait()
		h.OnToolCall("b", "read b")
		h.OnToolCallArgsSnapshot("a", `{"path":"a"}`)
		h.OnToolCallUpdate("b", "of b", agentstream.ToolCallStatusCompleted)
		wait()
		h.OnMessageChunk("Now more")
		h.OnToolCallUpdate("a", "of a, late", agentstream.ToolCallStatusCompleted)
		wait()
		for range 20 {
			h.OnMessageChunk(" and more")
		}
		wait()
		return source.EndTurn, nil
	}
}

// Readers of all kinds join at each stop of a run, in a thread that has a history,
// and hold at its end what the thread has.
func TestJoinWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		w := newWorld(t, newMemlog(), map[string]script{"go": gated(gate)})
		defer w.close()
		w.stream(w.start("t", "r0", "hello"))
		w.free("t")
		before, err := w.Messages(bg, "t", 0, "")
		if err != nil {
			t.Fatal(err)
		}
		r := w.request("t", "r1", "go")
		first, err := w.Start(bg, r)
		if err != nil {
			t.Fatal(err)
		}
		results := make(chan func())
		readers := 0
		read := func(where string, r JoinRequest, has []agui.Message) {
			readers++
			r.Thread = "t"
			go func() {
				got := w.joined(r, has...)
				results <- func() {
					m, err := w.Messages(bg, "t", 0, "")
					if diff := cmp.Diff(plain(m.Messages), got); diff != "" || err != nil {
						t.Errorf("%s: %v (-list +joined):\n%s", where, err, diff)
					}
				}
			}()
		}
		read("the first", JoinRequest{Started: &first}, r.Input.Messages)
		for stop := range 6 {
			synctest.Wait()
			now, err := w.Messages(bg, "t", 0, "")
			if err != nil {
				t.Fatal(err)
			}
			for range 2 { // the second finds what the first has folded
				read(fmt.Sprint("replay at ", stop), JoinRequest{}, nil)
				read(fmt.Sprint("snapshot at ", stop), JoinRequest{Prelude: "snapshot"}, now.Messages)
				read(fmt.Sprint("snapshot, fresh, at ", stop), JoinRequest{Prelude: "snapshot", Version: "1.0.0"}, nil)
			}
			read(fmt.Sprint("who says what it holds at ", stop), JoinRequest{Held: now.Messages}, now.Messages)
			for name, has := range map[string][]agui.Message{"that holds all": now.Messages, "that holds the history": r.Input.Messages, "that lost some": slices.Delete(slices.Clone(now.Messages), 1, 2)} {
				again := r
				again.Input.Messages = has
				s, err := w.Start(bg, again)
				if err != nil || !s.Attached {
					t.Fatalf("%s: %+v, %v", name, s, err)
				}
				read(fmt.Sprint("a post ", name, " at ", stop), JoinRequest{Started: &s}, has)
			}
			gate <- struct{}{}
		}
		for range readers {
			(<-results)()
		}
		if before.More {
			t.Error("it is a short thread")
		}
	})
}

// Who joins next reads only what has come since the last text began, and a thread
// at rest is not read at all.
func TestJoinReadsLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &readings{memlog: newMemlog()}
		gate := make(chan struct{})
		chatty := func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
			for i := range 500 {
				t.Handler.OnMessageChunk("words ")
				t.Handler.OnToolCall(fmt.Sprint("c", i), "tool")
				t.Handler.OnToolCallUpdate(fmt.Sprint("c", i), "done", agentstream.ToolCallStatusCompleted)
			}
			t.Handler.OnMessageChunk("the last")
			<-gate
			return source.EndTurn, nil
		}
		w := newWorld(t, log, map[string]script{"go": chatty})
		defer w.close()
		w.start("t", "r1", "go")
		synctest.Wait()
		look := func() (records int64) {
			before := log.n.Load()
			for f, err := range w.Join(t.Context(), JoinRequest{Thread: "t"}) {
				if err != nil {
					t.Fatal(err)
				}
				if f.ID != "" {
					break
				}
			}
			return log.n.Load() - before
		}
		if n := look(); n < 2500 {
			t.Errorf("the first reader read %d records", n)
		}
		if n := look(); n > 8 {
			t.Errorf("the second reader read %d records", n)
		}
		close(gate)
		w.free("t")
		if n := look(); n > 8 {
			t.Errorf("a thread at rest: read %d records", n)
		}
	})
}

// A record that a reader does not want keeps nothing from it: the last event
// before notes says that nothing follows.
func TestNotesKeepNothingBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newMemlog()
		w := newWorld(t, l, nil)
		defer w.close()
		w.stream(w.start("t", "r1", "hi"))
		w.free("t")
		var notes []eventlog.Event
		for range 3 {
			notes = append(notes, eventlog.Event{Kind: eventlog.KindNote, Data: []byte(`{}`)})
		}
		if _, err := l.Append(bg, eventlog.Batch{Thread: "t", Events: notes}); err != nil {
			t.Fatal(err)
		}
		var more []bool
		for f, err := range w.Events(t.Context(), "t", eventlog.Cursor{}, EventOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if more = append(more, f.More); !f.More {
				break
			}
		}
		if len(more) != 5 {
			t.Errorf("%v", more)
		}
		if got := w.joined(JoinRequest{Thread: "t"}); len(got) != 2 {
			t.Errorf("%v", got)
		}
	})
}

// A failed run is told again, and after a resume the empty run that frees the
// client.
func TestJoinAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dies := func(ctx context.Context, s *fakeSession, tn source.Turn) (source.StopReason, error) {
			_, _ = asks("c")(ctx, s, tn)
			return "", &source.Error{Code: source.CodeAgentError, Message: "no"}
		}
		w := newWorld(t, newMemlog(), map[string]script{"go": dies})
		defer w.close()
		first := w.stream(w.start("t", "r1", "go"))
		if first[len(first)-1] != "finished interrupt" {
			t.Fatalf("%q", first)
		}
		id := w.pending()[0].ID
		for _, run := range []string{"r2", "r3"} { // r3 comes too late and attaches
			s, err := w.Start(bg, w.answer("t", run, approve(id, `{"approved":true}`)))
			if err != nil {
				t.Fatal(err)
			}
			got := w.stream(s)
			if n := len(got); n < 4 || strings.Join(got[n-3:], " ") != "error agent_error started finished " {
				t.Errorf("%s: %q", run, got)
			}
			w.free("t")
		}
		var lines []string
		for f, err := range w.Join(bg, JoinRequest{Thread: "t"}) {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, w.line(f.Data))
		}
		if want := []string{"started", "messages_snapshot", "error agent_error"}; cmp.Diff(want, lines) != "" {
			t.Errorf("%q", lines)
		}
	})
}
