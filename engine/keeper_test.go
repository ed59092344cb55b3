package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// smalllog is a memlog that can compact, to a tenth, and knows its size.
type smalllog struct {
	*memlog
	compacted map[string][]uint64 // calls, by thread
	refuse    error
}

func newSmalllog() *smalllog {
	return &smalllog{memlog: newMemlog(), compacted: map[string][]uint64{}}
}

func (l *smalllog) Compact(_ context.Context, thread string, upTo eventlog.Cursor) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.refuse != nil {
		return l.refuse
	}
	l.compacted[thread] = append(l.compacted[thread], upTo.Seq)
	return nil
}

func (l *smalllog) Size(context.Context) (bytes int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, t := range l.threads {
		upTo := uint64(0)
		for _, seq := range l.compacted[id] {
			upTo = max(upTo, seq)
		}
		for _, r := range t.records {
			if n := int64(len(r.Data)); r.Cursor.Seq > upTo {
				bytes += n
			} else {
				bytes += n / 10
			}
		}
	}
	return bytes, nil
}

// calls gives the calls of Compact as text.
func (l *smalllog) calls(thread string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return fmt.Sprint(l.compacted[thread])
}

// waiting gives the keys of what waits to be made smaller.
func (w *world) waiting() (keys []string) {
	w.tb.Helper()
	if err := w.log.View(bg, "", func(v eventlog.View) error {
		for _, prefix := range []string{keyCompact, keyCollapse} {
			for entry, err := range v.GlobalKeys(prefix, "", 0) {
				if err != nil {
					return err
				}
				keys = append(keys, prefix+threadOfKey(entry.Key))
			}
		}
		return nil
	}); err != nil {
		w.tb.Fatal(err)
	}
	return keys
}

// record gives a thread as it is stored.
func (w *world) record(thread string) (rec *threadRecord) {
	w.tb.Helper()
	if err := w.log.View(bg, thread, func(v eventlog.View) (err error) {
		rec, err = getThread(v, thread)
		return err
	}); err != nil {
		w.tb.Fatal(err)
	}
	return rec
}

// logged gives the thread's log, as a raw reader without a cursor gets it.
func (w *world) logged(thread string) (lines []string) {
	w.tb.Helper()
	for f, err := range w.Events(bg, thread, eventlog.Cursor{}, EventOptions{NoWait: true}) {
		if err != nil {
			w.tb.Fatal(err)
		}
		lines = append(lines, w.line(f.Data))
	}
	return lines
}

func TestClosedRunsAreCompacted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSmalllog()
		w := newWorld(t, log, map[string]script{"wait": untilCancelled("x")})
		defer w.close()
		w.start("t", "r1", "hi")
		first := w.settled("t", "r1")
		w.pass(14 * time.Minute)
		if got := log.calls("t"); got != "[]" {
			t.Fatalf("compacted %s before its time", got)
		}
		w.start("t", "r2", "wait")
		w.pass(2 * time.Minute)
		end, err := eventlog.ParseCursor(first.To)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := log.calls("t"), fmt.Sprint([]uint64{end.Seq}); got != want {
			t.Errorf("compacted %s, want %s: while a run is open what is before it is done", got, want)
		}
		w.pass(time.Hour)
		run, err := w.Cancel(bg, "t", "r2")
		if err != nil {
			t.Fatal(err)
		}
		w.free("t")
		last, err := eventlog.ParseCursor(run.To)
		if err != nil {
			t.Fatal(err)
		}
		w.pass(16 * time.Minute)
		if got, want := log.calls("t"), fmt.Sprint([]uint64{end.Seq, last.Seq}); got != want {
			t.Errorf("compacted %s, want %s", got, want)
		}
		if diff := cmp.Diff([]string{keyCollapse + "t"}, w.waiting()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestCollapse: after a month the thread is its messages, for every reader.
func TestCollapse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSmalllog()
		w := newWorld(t, log, map[string]script{"call": callTools, "wait": untilCancelled("x")}, func(o *Options) { o.Record = true })
		defer w.close()
		for i := range 5 {
			r := w.request("t", fmt.Sprint("r", i), "call")
			if i == 1 {
				r.Input.State = []byte(`{"n":1}`)
			}
			if _, err := w.Start(bg, r); err != nil {
				t.Fatal(err)
			}
			w.settled("t", fmt.Sprint("r", i))
			w.free("t")
			w.pass(time.Hour)
		}
		before, rounds := w.held("t"), w.rounds("t")
		records := len(w.logged("t"))
		cursor := w.cursor("t")
		w.pass(29 * 24 * time.Hour)
		if n := len(w.logged("t")); n != records {
			t.Fatalf("%d records after 29 days, there were %d", n, records)
		}
		w.pass(3 * 24 * time.Hour)
		want := []string{"started", "state_snapshot", "messages_snapshot", `finished {"stopReason":"end_turn"}`}
		if diff := cmp.Diff(want, w.logged("t")); diff != "" {
			t.Errorf("the log after 32 days: %s", diff)
		}
		if keys := w.waiting(); len(keys) > 0 {
			t.Errorf("there is still something to do: %v", keys)
		}
		if rec := w.record("t"); rec.Bytes != 0 {
			t.Errorf("the thread has %d bytes of closed runs", rec.Bytes)
		}
		if diff := cmp.Diff(before, w.held("t")); diff != "" {
			t.Errorf("messages: %s", diff)
		}
		if diff := cmp.Diff(rounds, w.rounds("t")); diff != "" {
			t.Errorf("rounds: %s", diff)
		}
		w.verifyJoins("t", before)

		// The end is a place as good as ever, those before it are gone.
		if err := w.Seek(bg, "t", cursor); err != nil {
			t.Errorf("the end of the log: %v", err)
		}
		for seq := range cursor.Seq {
			at := eventlog.Cursor{Gen: cursor.Gen, Seq: seq}
			if err := w.Seek(bg, "t", at); code(err) != "cursor_gone" {
				t.Errorf("record %d: %v", seq, err)
			}
			for _, err := range w.Join(bg, JoinRequest{Thread: "t", After: at, Prelude: "replay"}) {
				if code(err) != "cursor_gone" {
					t.Errorf("a prelude as of record %d: %v", seq, err)
				}
			}
		}

		// The thread goes on, and another engine sees no difference.
		w.start("t", "r9", "wait")
		w.pass(time.Second)
		w.verifyJoins("t", nil)
		if _, err := w.Cancel(bg, "t", "r9"); err != nil {
			t.Fatal(err)
		}
		w.free("t")
		w.verifyThread("t")
		second := newWorld(t, log, nil, func(o *Options) { o.Shared = true })
		if diff := cmp.Diff(w.held("t"), second.held("t")); diff != "" {
			t.Errorf("another engine: %s", diff)
		}
		second.verifyJoins("t", second.held("t"))
		second.close()
		w.pass(40 * 24 * time.Hour)
		if n := len(w.logged("t")); n != 4 {
			t.Errorf("%d records after the second time", n)
		}
	})
}

// callTools says and does a little of everything.
func callTools(_ context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
	t.Handler.OnThoughtChunk("let me see")
	t.Handler.OnMessageChunk("I look. ")
	t.Handler.OnToolCall("c", "look")
	t.Handler.OnToolCallUpdate("c", "seen", 2)
	for range 20 {
		t.Handler.OnMessageChunk("word ")
	}
	return source.EndTurn, nil
}

// held gives the thread's messages and state as JSON values.
func (w *world) held(thread string) []any {
	w.tb.Helper()
	m, err := w.Messages(bg, thread, 0, "")
	if err != nil {
		w.tb.Fatal(err)
	}
	return append(plain(m.Messages), string(m.State))
}

func (w *world) rounds(thread string) string {
	w.tb.Helper()
	r, _, err := w.Rounds(bg, thread)
	if err != nil {
		w.tb.Fatal(err)
	}
	return string(encode(r))
}

func (w *world) cursor(thread string) eventlog.Cursor {
	w.tb.Helper()
	th, err := w.Thread(bg, thread)
	if err != nil {
		w.tb.Fatal(err)
	}
	c, err := eventlog.ParseCursor(th.Cursor)
	if err != nil {
		w.tb.Fatal(err)
	}
	return c
}

// verifyJoins has stock clients join in every way; unless nil, want is what each
// then holds.
func (w *world) verifyJoins(thread string, want []any) {
	w.tb.Helper()
	for _, prelude := range []string{"replay", "snapshot"} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		list, n := agui.NewList(), 0
		v := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
		for f, err := range w.Join(ctx, JoinRequest{Thread: thread, Prelude: prelude}) {
			if err != nil {
				w.tb.Fatal(err)
			}
			e, err := agui.Decode(f.Data)
			if err != nil {
				w.tb.Fatal(err)
			}
			for _, v := range v {
				if err := v.Check(e); err != nil {
					w.tb.Errorf("%s: %v", prelude, err)
				}
			}
			list.Apply(e)
			n++
		}
		cancel()
		got := append(plain(list.Messages()), string(list.State()))
		if diff := cmp.Diff(want, got); want != nil && diff != "" || n == 0 {
			w.tb.Errorf("%s, %d events: %s", prelude, n, diff)
		}
		if want == nil {
			if diff := cmp.Diff(w.held(thread), got); diff != "" {
				w.tb.Errorf("%s: %s", prelude, diff)
			}
		}
	}
}

// TestWhatIsDueSurvives: an engine that begins later does what is due.
func TestWhatIsDueSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSmalllog()
		w := newWorld(t, log, nil)
		for i := range 3 {
			id := fmt.Sprint("t", i)
			w.start(id, "r1", strings.Repeat("hi ", 20))
			w.settled(id, "r1")
		}
		if err := w.Close(bg); err != nil {
			t.Fatal(err)
		}
		<-time.After(40 * 24 * time.Hour)
		w = newWorld(t, log, nil)
		synctest.Wait()
		for i := range 3 {
			id := fmt.Sprint("t", i)
			if log.calls(id) == "[]" || w.record(id).Floor == 0 {
				t.Errorf("%s: compacted %s, collapsed up to %d", id, log.calls(id), w.record(id).Floor)
			}
		}
		w.close()
	})
}

// TestNeverCollapsed: negative ages are never reached.
func TestNeverCollapsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSmalllog()
		w := newWorld(t, log, nil, func(o *Options) { o.Retention = Retention{-1, -1} })
		w.start("t", "r1", "hi")
		w.settled("t", "r1")
		w.pass(400 * 24 * time.Hour)
		if log.calls("t") != "[]" || w.record("t").Floor > 0 {
			t.Errorf("compacted %s, collapsed up to %d", log.calls("t"), w.record("t").Floor)
		}
		w.close()
	})
}

// TestTroubleIsPostponed: a thread that cannot be made smaller holds up no other,
// and is tried again.
func TestTroubleIsPostponed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSmalllog()
		log.refuse = errDisk
		w := newWorld(t, log, nil)
		for _, id := range []string{"a", "b"} {
			w.start(id, "r1", "hi")
			w.settled(id, "r1")
		}
		w.pass(16 * time.Minute)
		log.mu.Lock()
		log.refuse = nil
		log.mu.Unlock()
		w.pass(2 * time.Minute)
		if log.calls("a") == "[]" || log.calls("b") == "[]" {
			t.Errorf("compacted %s and %s", log.calls("a"), log.calls("b"))
		}
		w.close()
	})
}

// TestADefectIsPostponed: what panics in the log or in a fold takes nobody along.
func TestADefectIsPostponed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &panicky{newSmalllog()}
		w := newWorld(t, log, nil)
		w.start("t", "r1", "hi")
		w.settled("t", "r1")
		w.pass(16 * time.Minute)
		w.start("t", "r2", "hi")
		if run := w.settled("t", "r2"); run.State != RunFinished {
			t.Errorf("%+v", run)
		}
		w.close()
	})
}

type panicky struct{ *smalllog }

func (l *panicky) Compact(context.Context, string, eventlog.Cursor) error { panic("a defect") }
