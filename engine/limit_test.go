package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// babble says things without end; it hears of its cancellation only after it has
// said deaf more.
func babble(text string, deaf int) script {
	return func(ctx context.Context, s *fakeSession, t source.Turn) (source.StopReason, error) {
		t.Handler.OnToolCall("c", "endless")
		t.Handler.OnMessageChunk("now ")
		t.Handler.OnToolCall("d", "without a result")
		for ctx.Err() == nil {
			t.Handler.OnMessageChunk(text)
			s.o.Observe(source.Fact{Line: &source.Line{FromAgent: true, Text: []byte(text)}})
		}
		for range deaf {
			t.Handler.OnMessageChunk(text)
			s.o.Observe(source.Fact{Line: &source.Line{FromAgent: true, Text: []byte(text)}})
		}
		got := put(ctx, t, source.Request{ToolCallID: "d", Title: "x", Kind: "edit", Options: yesNo})
		if a := <-got; a.OptionID != "" {
			return "", fmt.Errorf("a turn that was over got the answer %q", a.OptionID)
		}
		return "", context.Cause(ctx)
	}
}

func TestRunLimits(t *testing.T) {
	bigResult := func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		t.Handler.OnToolCall("c", "big")
		for i := range 10 {
			id := fmt.Sprint("c", i)
			t.Handler.OnToolCall(id, "big")
			t.Handler.OnToolCallUpdate(id, strings.Repeat(id, 100<<10), agentstream.ToolCallStatusCompleted)
		}
		<-ctx.Done()
		return "", context.Cause(ctx)
	}
	for name, c := range map[string]struct {
		limits Limits
		text   string
		says   string
	}{
		"events":   {Limits{RunEvents: 100}, "babble", "limits.run_events"},
		"bytes":    {Limits{RunBytes: 20000}, "babble", "limits.run_bytes"},
		"payloads": {Limits{RunBytes: 900_000}, "big", "limits.run_bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, newMemlog(), map[string]script{"babble": babble("la la ", 1000), "big": bigResult}, func(o *Options) {
					o.Limits, o.Record = c.limits, true
				})
				defer w.close()
				w.start("t", "r1", c.text)
				run := w.settled("t", "r1")
				if run.State != RunFailed || run.Error == nil || run.Error.Code != "limited" || !strings.Contains(run.Error.Message, c.says) {
					t.Errorf("%+v, %+v", run, run.Error)
				}
				w.free("t")
				rec := w.record("t")
				if n := rec.Last.ToSeq - rec.Last.FromSeq; c.limits.RunEvents > 0 && n > uint64(c.limits.RunEvents)+10 {
					t.Errorf("the run has %d events", n)
				}
				if c.text == "babble" && c.limits.RunBytes > 0 && rec.Bytes > c.limits.RunBytes+2000 {
					t.Errorf("the run has %d bytes", rec.Bytes)
				}
				w.start("t", "r2", "hi")
				if run := w.settled("t", "r2"); run.State != RunFinished {
					t.Errorf("the thread does not go on: %+v", run)
				}
			})
		})
	}
}

// TestCancelledAtTheLimit: who cancelled first counts.
func TestCancelledAtTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"deaf": func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
			<-ctx.Done()
			for range 1000 {
				t.Handler.OnMessageChunk("la ")
			}
			return "", context.Cause(ctx)
		}}, func(o *Options) { o.Limits.RunEvents = 100 })
		defer w.close()
		w.start("t", "r1", "deaf")
		run, err := w.Cancel(bg, "t", "r1")
		if err != nil || run.State != RunCancelled {
			t.Errorf("%+v, %v", run, err)
		}
		if rec := w.record("t"); rec.Last.ToSeq > 110 {
			t.Errorf("%d events", rec.Last.ToSeq)
		}
	})
}

// TestThreadLimit: the oldest runs of a thread that is too long are collapsed.
func TestThreadLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newSmalllog(), nil, func(o *Options) { o.Limits.ThreadBytes = 6000 })
		defer w.close()
		for i := range 30 {
			id := fmt.Sprint("r", i)
			w.start("t", id, "hi")
			w.settled("t", id)
			w.free("t")
			synctest.Wait()
			rec := w.record("t")
			if rec.Bytes > 6000 {
				t.Fatalf("%d bytes after %d runs", rec.Bytes, i)
			}
			if i == 2 && rec.Floor > 0 {
				t.Errorf("collapsed up to %d when there were %d bytes", rec.Floor, rec.Bytes)
			}
		}
		lines := w.logged("t")
		if n := strings.Count(strings.Join(lines, "\n"), "started"); n < 4 || n > 20 {
			t.Errorf("%d runs are left: %v", n, lines)
		}
		if lines[1] != "messages_snapshot" {
			t.Errorf("the log begins %v", lines[:3])
		}
		if n := len(w.held("t")); n != 61 {
			t.Errorf("%d messages and the state", n)
		}
		w.verifyJoins("t", w.held("t"))
	})
}

// TestTotalLimit: what is oldest is made smaller, then new runs are refused until
// there is room.
func TestTotalLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSmalllog()
		long := strings.Repeat("word ", 400)
		w := newWorld(t, log, map[string]script{"wait": untilCancelled("x")}, func(o *Options) { o.Limits.TotalBytes = 20000 })
		defer w.close()
		started, refused := 0, ""
		compacted := false
		for i := range 100 {
			id := fmt.Sprint("t", i)
			if _, err := w.Start(bg, w.request(id, "r", long)); err != nil {
				if refused = code(err); refused != "limited" || !strings.Contains(err.Error(), "limits.total_bytes") {
					t.Fatal(err)
				}
				break
			}
			started++
			w.settled(id, "r")
			w.pass(time.Second)
			compacted = compacted || log.calls("t0") != "[]" && w.record("t0").Floor == 0
		}
		if refused == "" || started < 6 || !compacted {
			t.Fatalf("%d runs, then %q; compacted first: %v", started, refused, compacted)
		}
		if w.record("t0").Floor == 0 {
			t.Error("runs are refused and the oldest is not collapsed")
		}
		if err := w.Delete(bg, "t0", false); err != nil {
			t.Fatal(err)
		}
		if err := w.Delete(bg, "t1", false); err != nil {
			t.Fatal(err)
		}
		w.start("new", "r", "wait")
		w.keeper.full.Store(true)
		if _, err := w.Start(bg, w.request("new", "r2", "hi")); code(err) != "run_active" {
			t.Errorf("a second run: %v", err)
		}
		if _, err := w.Cancel(bg, "new", "r"); err != nil {
			t.Error(err)
		}
	})
}

// TestTotalNeedsASize: a limit that cannot be kept is refused at once.
func TestTotalNeedsASize(t *testing.T) {
	_, err := New(bg, Options{Log: newMemlog(), Limits: Limits{TotalBytes: 1}})
	if err == nil || !strings.Contains(err.Error(), "TotalBytes") {
		t.Error(err)
	}
}

// TestTwoKeepers: two engines on one log make the same threads smaller, and
// neither minds.
func TestTwoKeepers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newSmalllog()
		shared := func(o *Options) { o.Shared, o.Retention.CollapseAfter = true, time.Hour }
		a := newWorld(t, log, map[string]script{"wait": untilCancelled("x")}, shared)
		b := newWorld(t, log, nil, shared)
		for i := range 8 {
			id := fmt.Sprint("t", i)
			w := a
			if i%2 > 0 {
				w = b
			}
			w.start(id, "r1", "hi")
			w.settled(id, "r1")
		}
		before := a.held("t0")
		a.start("t1", "r2", "wait") // only a may touch this one
		a.pass(2 * time.Hour)
		for i := range 8 {
			id := fmt.Sprint("t", i)
			rec := b.record(id)
			if rec.Floor == 0 || rec.Collapse.Seq == 0 {
				t.Errorf("%s: %+v", id, rec)
			}
			if n := len(b.logged(id)); id != "t1" && n != 3 {
				t.Errorf("%s: %d records", id, n)
			}
		}
		b.verifyJoins("t0", before)
		if _, err := a.Cancel(bg, "t1", "r2"); err != nil {
			t.Error(err)
		}
		a.free("t1")
		a.pass(2 * time.Hour)
		if keys := a.waiting(); len(keys) > 0 {
			t.Errorf("left to do: %v", keys)
		}
		for i := range 8 {
			b.verifyJoins(fmt.Sprint("t", i), a.held(fmt.Sprint("t", i)))
		}
		b.close()
		a.close()
	})
}

// TestCrashBetweenFloorAndTrim: whoever looks next does the rest.
func TestCrashBetweenFloorAndTrim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &untrimmed{smalllog: newSmalllog()}
		log.broken = true
		w := newWorld(t, log, nil)
		for i := range 3 {
			id := fmt.Sprint("r", i)
			w.start("t", id, "hi")
			w.settled("t", id)
			w.free("t")
		}
		before := w.held("t")
		w.pass(31 * 24 * time.Hour)
		if rec := w.record("t"); rec.Floor == 0 || rec.Collapse.Seq > 0 {
			t.Fatalf("%+v", rec)
		}
		if err := w.Close(bg); err != nil {
			t.Fatal(err)
		}
		w = newWorld(t, log, nil)
		w.verifyJoins("t", before)
		w.start("t", "r3", "hi")
		w.settled("t", "r3")
		w.free("t")
		before = w.held("t")
		log.mu.Lock()
		log.broken = false
		log.mu.Unlock()
		w.pass(2 * time.Minute)
		if n := len(w.logged("t")); w.record("t").Collapse.Seq == 0 || n > 10 {
			t.Errorf("%d records, %+v", n, w.record("t"))
		}
		w.verifyJoins("t", before)
		w.close()
	})
}

// untrimmed is a log that dies when it is to trim.
type untrimmed struct {
	*smalllog
	broken bool
}

func (l *untrimmed) Trim(ctx context.Context, thread string, upTo eventlog.Cursor, replacement []eventlog.Event) error {
	l.mu.Lock()
	broken := l.broken
	l.mu.Unlock()
	if broken {
		return errDisk
	}
	return l.smalllog.Trim(ctx, thread, upTo, replacement)
}
