package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

func TestHowTurnsEnd(t *testing.T) {
	ends := func(stop source.StopReason, err error) script {
		return func(_ context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
			t.Handler.OnThoughtChunk("hm")
			t.Handler.OnToolCall("c", "do")
			return stop, err
		}
	}
	for _, x := range []struct {
		name  string
		f     script
		state RunState
		stop  source.StopReason
		code  string
		last  string
	}{
		{"end", ends(source.EndTurn, nil), RunFinished, source.EndTurn, "", `finished {"stopReason":"end_turn"}`},
		{"tokens", ends(source.MaxTokens, nil), RunFinished, source.MaxTokens, "", `finished {"stopReason":"max_tokens"}`},
		{"refusal", ends(source.Refusal, nil), RunFinished, source.Refusal, "", `finished {"stopReason":"refusal"}`},
		{"agent cancels", ends(source.Cancelled, nil), RunCancelled, source.Cancelled, "", `finished {"stopReason":"cancelled"}`},
		{"agent fails", ends("", &source.Error{Code: "auth_required", Message: "log in"}), RunFailed, "", "auth_required", "error auth_required"},
		{"other error", ends("", errors.New("odd")), RunFailed, "", "internal", "error internal"},
		{"panic", func(context.Context, *fakeSession, source.Turn) (source.StopReason, error) { panic("oh") }, RunFailed, "", "internal", "error internal"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, newMemlog(), map[string]script{"go": x.f})
			defer w.close()
			got := w.stream(w.start("t", "r1", "go"))
			run := w.settled("t", "r1")
			gotCode := ""
			if run.Error != nil {
				gotCode = run.Error.Code
			}
			if run.State != x.state || run.StopReason != x.stop || gotCode != x.code || got[len(got)-1] != x.last {
				t.Errorf("%s: %+v, %q", x.name, run, got)
			}
			terminals := 0
			for _, l := range got {
				if strings.HasPrefix(l, "finished") || strings.HasPrefix(l, "error") {
					terminals++
				}
			}
			if terminals != 1 {
				t.Errorf("%s: %d terminals", x.name, terminals)
			}
			// The next turn is not disturbed by it.
			w.free("t")
			if got := w.stream(w.start("t", "r2", "hi")); got[len(got)-1] != `finished {"stopReason":"end_turn"}` {
				t.Errorf("%s: then %q", x.name, got)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	stubborn := func(ctx context.Context, s *fakeSession, t source.Turn) (source.StopReason, error) {
		t.Handler.OnMessageChunk("I go on ")
		<-ctx.Done()
		for !s.isClosed() {
			<-time.After(time.Second)
			t.Handler.OnMessageChunk("and on ")
		}
		return "", errors.New("closed")
	}
	forever := func(context.Context, *fakeSession, source.Turn) (source.StopReason, error) {
		<-time.After(24 * time.Hour)
		return source.EndTurn, nil
	}
	for name, f := range map[string]script{"well behaved": untilCancelled("working"), "stubborn": stubborn, "for ever": forever} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, newMemlog(), map[string]script{"go": f})
			s := w.start("t", "r1", "go")
			synctest.Wait()
			for range 2 {
				run, err := w.Cancel(bg, "", "r1")
				if err != nil || run.State != RunCancelled {
					t.Errorf("%s: %+v, %v", name, run, err)
				}
			}
			got := w.stream(s)
			if got[len(got)-1] != `finished {"stopReason":"cancelled"}` {
				t.Errorf("%s: %q", name, got)
			}
			if m, err := w.Messages(bg, "t", 0, ""); err != nil || m.OpenRun != nil {
				t.Errorf("%s: %+v, %v", name, m, err)
			}
			got = w.stream(w.start("t", "r2", "hi"))
			if !slices.Contains(got, "text you said hi") {
				t.Errorf("%s: the next run: %q", name, got)
			}
			w.close()
			w.pass(25 * time.Hour)
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": forever})
		w.start("t", "r1", "go")
		synctest.Wait()
		ctx, cancel := context.WithTimeout(bg, time.Second)
		defer cancel()
		if run, err := w.Cancel(ctx, "t", "r1"); err != nil || run.State != RunRunning {
			t.Errorf("a caller that does not wait: %+v, %v", run, err)
		}
		if _, err := w.Cancel(bg, "t", "r9"); code(err) != "run_unknown" {
			t.Errorf("%v", err)
		}
		w.free("t")
		w.close()
		w.pass(25 * time.Hour)
	})
}

func TestDrainAndClose(t *testing.T) {
	quick := func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		select {
		case <-time.After(3 * time.Second):
			return source.EndTurn, nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		w := newWorld(t, log, map[string]script{"slow": untilCancelled("slow"), "quick": quick, "ask": asks("c")})
		r := w.request("slow", "r", "slow")
		if _, err := w.Start(bg, r); err != nil {
			t.Fatal(err)
		}
		w.start("quick", "r", "quick")
		w.stream(w.start("ask", "r", "ask"))
		w.Drain()
		if _, err := w.Start(bg, w.request("new", "r", "hi")); code(err) != "draining" || !w.Draining() {
			t.Errorf("draining: %v", err)
		}
		if s, err := w.Start(bg, r); err != nil || !s.Attached {
			t.Errorf("attaching while draining: %+v, %v", s, err)
		}
		began := time.Now()
		w.close()
		if d := time.Since(began); d != 5*time.Second {
			t.Errorf("closing took %s", d)
		}
		for thread, want := range map[string]string{"slow": "server_stopping", "quick": "", "ask": "server_stopping"} {
			th, err := w.Thread(bg, thread)
			if err != nil || th.State != "idle" || (th.LastRun.Error == nil) != (want == "") || want != "" && th.LastRun.Error.Code != want {
				t.Errorf("%s: %+v, %v", thread, th.LastRun, err)
			}
		}
		for _, s := range w.agent.sessions {
			if !s.isClosed() {
				t.Error("a session is open after Close")
			}
		}
		if p, _ := w.Requests(bg, "", "pending"); len(p) != 0 {
			t.Error("a request is pending after Close")
		}
	})
}

func TestBackpressure(t *testing.T) {
	said := make(chan int, 1)
	floods := func(_ context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		n := 0
		for range 1000 {
			select {
			case <-said:
			default:
			}
			said <- n
			t.Handler.OnMessageChunk(strings.Repeat("x", 1000))
			n++
		}
		return source.EndTurn, nil
	}
	synctest.Test(t, func(t *testing.T) {
		said = make(chan int, 1)
		log := newMemlog()
		w := newWorld(t, log, map[string]script{"go": floods}, func(o *Options) { o.Limits.JournalBytes = 64 << 10 })
		defer w.close()
		s := w.start("t", "r1", "go")
		synctest.Wait()
		w.settled("t", "r1")
		// Now with a log that stands still.
		w.free("t")
		s = w.start("t", "r2", "hi")
		w.stream(s)
		w.free("t")
		release := func() {}
		hold := func(ctx context.Context, fs *fakeSession, tn source.Turn) (source.StopReason, error) {
			release = log.hold()
			return floods(ctx, fs, tn)
		}
		w.agent.scripts["hold"] = hold
		s = w.start("t", "r3", "hold")
		synctest.Wait()
		if n := <-said; n > 130 {
			t.Errorf("%d chunks of 1000 bytes went into 64 kB", n)
		}
		release()
		w.stream(s)
		if m, _ := w.Messages(bg, "t", 1, ""); len(m.Messages) != 1 || len(m.Messages[0].Text()) != 1_000_000 || !m.More {
			t.Errorf("the message is not whole: %d", len(m.Messages))
		}
	})
}

func TestBurstIsOneAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		release := func() {}
		w := newWorld(t, log, map[string]script{"go": func(ctx context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
			release = log.hold()
			for range 500 {
				tn.Handler.OnMessageChunk("x")
			}
			return source.EndTurn, nil
		}})
		defer w.close()
		s := w.start("t", "r1", "go")
		synctest.Wait()
		log.mu.Lock()
		before := log.appends
		log.mu.Unlock()
		release()
		w.stream(s)
		log.mu.Lock()
		defer log.mu.Unlock()
		if n := log.appends - before; n > 3 {
			t.Errorf("500 chunks took %d appends", n)
		}
	})
}

func TestStorageFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		w := newWorld(t, log, map[string]script{"go": func(ctx context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
			tn.Handler.OnMessageChunk("kept ")
			<-time.After(time.Second)
			log.fail(errDisk)
			tn.Handler.OnMessageChunk("lost ")
			<-ctx.Done()
			log.fail(nil)
			return "", context.Cause(ctx)
		}})
		defer w.close()
		s := w.start("t", "r1", "go")
		got := w.stream(s)
		want := []string{"started", "text_message_start", "text kept ", "text_message_end", "error storage"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if run := w.settled("t", "r1"); run.State != RunFailed || run.Error.Code != "storage" {
			t.Errorf("%+v", run)
		}
		log.fail(errDisk)
		if _, err := w.Start(bg, w.request("t", "r2", "hi")); code(err) != "storage" {
			t.Errorf("%v", err)
		}
		log.fail(nil)
		if got := w.stream(w.start("t", "r3", "hi")); !slices.Contains(got, "text you said hi") {
			t.Errorf("%q", got)
		}
	})
}

func TestLostLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		shared := func(o *Options) { o.Shared = true }
		a := newWorld(t, log, map[string]script{"go": untilCancelled("working")}, shared)
		b := newWorld(t, log, nil, shared)
		s := a.start("t", "r1", "go")
		synctest.Wait()
		a.pass(10 * time.Minute) // renewed all the while
		r := b.request("t", "r2", "hi")
		if _, err := b.Start(bg, r); code(err) != "run_active" {
			t.Errorf("while a has the lease: %v", err)
		}
		if at, err := b.Start(bg, a.requestOf("t", "r1", "u1", "go")); err != nil || !at.Attached {
			t.Errorf("attaching elsewhere: %+v, %v", at, err)
		}
		// The lease is taken from a, as after a pause longer than its time.
		log.mu.Lock()
		log.threads["t"].owner, log.threads["t"].until = "b", time.Time{}
		log.epoch++
		log.threads["t"].epoch = log.epoch
		log.mu.Unlock()
		b.pass(time.Hour)
		if th, _ := b.Thread(bg, "t"); th.LastRun.State != RunLost {
			t.Errorf("%+v", th.LastRun)
		}
		if !a.agent.session(0).isClosed() {
			t.Error("the session of who lost the lease is open")
		}
		got := slices.DeleteFunc(b.stream(s), func(l string) bool { return l == "custom agentstream.silence" })
		want := []string{"started", "text_message_start", "text working", "text_message_end", "tool_call_start", "args {}", "tool_call_end", "result [no result: unfinished]", "error run_lost"}
		if diff := cmp.Diff(want, unquote(got)); diff != "" {
			t.Error(diff)
		}
		a.close()
		b.close()
	})
}

// requestOf asks for a run by one message alone.
func (w *world) requestOf(thread, run, id, text string) StartRequest {
	return StartRequest{Agent: "fake", Input: agui.Input{ThreadID: thread, RunID: run, Messages: []agui.Message{user(id, text)}}}
}

func TestCrashAndRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		scripts := map[string]script{"go": untilCancelled("working"), "ask": asks("c")}
		a := newWorld(t, log, scripts)
		s := a.start("t", "r1", "go")
		waiting := a.start("w", "r1", "ask")
		a.stream(waiting)
		id := a.pending()[0].ID
		q := a.request("t", "r2", "queued")
		q.Enqueue = true
		if _, err := a.Start(bg, q); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()

		b := newWorld(t, log, nil) // a is not closed: it died
		got := unquote(b.stream(s))
		want := []string{"started", "text_message_start", "text working", "text_message_end", "tool_call_start", "args {}", "tool_call_end", "result [no result: unfinished]", "error run_lost"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if run := b.settled("t", "r1"); run.State != RunLost || run.Error.Code != "run_lost" || run.To == "" {
			t.Errorf("%+v", run)
		}
		if rounds, _, err := b.Rounds(bg, "t"); err != nil || len(rounds) == 0 || len(rounds[0].Messages) != 2 || rounds[0].Complete || len(rounds[0].Input) != 1 {
			t.Errorf("%+v, %v", rounds, err)
		}
		if r, err := b.Request(bg, id); err != nil || r.State != "cancelled" || r.Resolution.Reason == "" || len(b.pending()) != 0 {
			t.Errorf("%+v, %v", r, err)
		}
		if _, err := b.Resolve(bg, id, Answer{Approved: yes()}); code(err) != "already_resolved" {
			t.Errorf("%v", err)
		}
		runs, _ := b.Runs(bg, "w")
		if len(runs) != 2 || runs[0].State != RunInterrupted || runs[1].State != RunLost {
			t.Errorf("%+v", runs)
		}
		if run := b.settled("t", "r2"); run.State != RunFinished {
			t.Errorf("what was queued: %+v", run)
		}
		b.free("t")
		live, _ := b.Messages(bg, "t", 0, "")
		b.use("t").keep(nil, eventlog.Cursor{})
		folded, _ := b.Messages(bg, "t", 0, "")
		if diff := cmp.Diff(live.Messages, folded.Messages); diff != "" {
			t.Errorf("the list and the log differ: %s", diff)
		}
		b.close()
		a.close()
	})
}

func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": untilCancelled("working")}, func(o *Options) {
			o.Agents[0].SilenceTimeout = 100 * time.Second
		})
		defer w.close()
		s := w.start("t", "r1", "go")
		w.pass(61 * time.Second)
		if run, _ := w.Run(bg, "t", "r1"); run.SilentSeconds != 60 {
			t.Errorf("%+v", run)
		}
		got := w.stream(s)
		told := 0
		for _, l := range got {
			if l == "custom agentstream.silence" {
				told++
			}
		}
		if told != 3 || got[len(got)-1] != "error timeout" {
			t.Errorf("told %d times: %q", told, got)
		}
	})
}

func TestMessagesAreAtomic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": func(ctx context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
			for i := range 200 {
				tn.Handler.OnMessageChunk(fmt.Sprint(i, " "))
				tn.Handler.OnToolCall(fmt.Sprint("c", i), "do")
				tn.Handler.OnToolCallUpdate(fmt.Sprint("c", i), "done", agentstream.ToolCallStatusCompleted)
				select {
				case <-time.After(time.Millisecond):
				case <-ctx.Done():
				}
			}
			return source.EndTurn, nil
		}})
		defer w.close()
		s := w.start("t", "r1", "go")
		var all []agui.Event
		seqs := []string{}
		done := make(chan struct{})
		go func() {
			defer close(done)
			for f, err := range w.Join(bg, JoinRequest{Thread: "t", Started: &s}) {
				if err != nil {
					t.Error(err)
				}
				e, _ := agui.Decode(f.Data)
				all, seqs = append(all, e), append(seqs, f.ID)
			}
		}()
		var seen []Messages
		for range 50 {
			m, err := w.Messages(bg, "t", 0, "")
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, m)
			<-time.After(3 * time.Millisecond)
		}
		<-done
		for _, m := range seen {
			list := agui.NewList()
			list.Add(user("u1", "go"))
			for i, e := range all {
				if seqs[i] <= m.Cursor {
					list.Apply(e)
				}
			}
			if diff := cmp.Diff(list.Messages(), m.Messages); diff != "" {
				t.Fatalf("as of %s: %s", m.Cursor, diff)
			}
		}
	})
}
