package engine

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

var bg = context.Background()

func yes() *bool { b := true; return &b }
func no() *bool  { b := false; return &b }

func (w *world) pending() []Request {
	w.tb.Helper()
	list, err := w.Requests(bg, "", "pending")
	if err != nil {
		w.tb.Fatal(err)
	}
	return list
}

func (w *world) answer(thread, run string, entries ...agui.Resume) StartRequest {
	r := w.request(thread, run)
	r.Input.Resume = entries
	return r
}

func approve(id, payload string) agui.Resume {
	return agui.Resume{InterruptID: id, Status: "resolved", Payload: json.RawMessage(payload)}
}

func TestInterruptAndResume(t *testing.T) {
	for _, x := range []struct{ payload, option, result string }{
		{`{"approved":true}`, "yes", `"written"`},
		{`{"approved":true,"optionId":"always"}`, "always", `"written"`},
		{`{"approved":true,"optionId":"no"}`, "no", `"denied"`},
		{`{"approved":true,"optionId":"made up"}`, "no", `"denied"`},
		{`{"approved":false}`, "no", `"denied"`},
		{`{"approved":"true"}`, "no", `"denied"`},
		{`{"approved":1}`, "no", `"denied"`},
		{`{}`, "no", `"denied"`},
		{`null`, "no", `"denied"`},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")})
			defer w.close()
			first := w.stream(w.start("t", "r1", "go"))
			if got := first[len(first)-1]; got != "finished interrupt" {
				t.Fatalf("the first run ends with %q", got)
			}
			th, _ := w.Thread(bg, "t")
			if run := w.settled("t", "r1"); run.State != RunInterrupted || th.State != "waiting" || th.Pending != 1 {
				t.Errorf("run %+v, thread %+v", run, th)
			}
			req := w.pending()[0]
			s, err := w.Start(bg, w.answer("t", "r2", approve(req.ID, x.payload)))
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"started", "tool_call_result", "text_message_start", "text Answered " + x.option + ".", "text_message_end", `finished {"stopReason":"end_turn"}`}
			want[1] = "result " + x.result[1:len(x.result)-1]
			got := w.stream(s)
			if diff := cmp.Diff(want, unquote(got)); diff != "" {
				t.Errorf("%s: %s", x.payload, diff)
			}
			if s.Run.Parent != "r1" || s.Run.ID != "r2" {
				t.Errorf("run %+v", s.Run)
			}
			settled, err := w.Request(bg, req.ID)
			if err != nil || settled.State != "resolved" || settled.Resolution.OptionID != x.option || settled.Resolution.By != "client" {
				t.Errorf("request %+v, %v", settled, err)
			}
			w.free("t")
			if rounds, _, _ := w.Rounds(bg, "t"); len(rounds) != 2 || !rounds[0].Complete {
				t.Errorf("rounds: %+v", rounds)
			}
		})
	}
}

func unquote(lines []string) []string {
	for i, l := range lines {
		var s string
		if len(l) > 7 && l[:7] == "result " && json.Unmarshal([]byte(l[7:]), &s) == nil {
			lines[i] = "result " + s
		}
	}
	return lines
}

func TestInterruptIsWhatStockClientsTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")}, func(o *Options) { o.OnInterrupt = true })
		defer w.close()
		var last agui.Event
		var custom int
		s := w.start("t", "r1", "go")
		for f, err := range w.Join(bg, JoinRequest{Thread: "t", Started: &s}) {
			if err != nil {
				t.Fatal(err)
			}
			last, _ = agui.Decode(f.Data)
			if c, ok := last.(*agui.Custom); ok && c.Name == "on_interrupt" {
				custom++
			}
		}
		i := last.(*agui.RunFinished).Outcome.Interrupts[0]
		if i.Reason != "tool_call" || i.ExpiresAt != "" || i.ToolCallID == "" || i.ToolCallID == "c1" || i.ID != w.pending()[0].ID || custom != 1 {
			t.Errorf("interrupt %+v, %d CUSTOM", i, custom)
		}
		var schema struct {
			Required   []string
			Properties map[string]struct{ Enum []string }
		}
		if err := json.Unmarshal(i.ResponseSchema, &schema); err != nil || len(schema.Required) != 1 || len(schema.Properties["optionId"].Enum) != 3 {
			t.Errorf("schema %s: %v", i.ResponseSchema, err)
		}
	})
}

func TestResolve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")})
		defer w.close()
		w.stream(w.start("t", "r1", "go"))
		id := w.pending()[0].ID
		if _, err := w.Resolve(bg, id, Answer{OptionID: "made up"}); code(err) != "bad_request" {
			t.Errorf("an option that was not offered: %v", err)
		}
		if _, err := w.Resolve(bg, "q1", Answer{Approved: yes()}); code(err) != "request_unknown" {
			t.Errorf("unknown: %v", err)
		}
		for range 2 {
			r, err := w.Resolve(bg, id, Answer{Approved: yes(), By: "ann"})
			if err != nil || r.State != "resolved" || r.Resolution.OptionID != "yes" || r.Resolution.By != "ann" {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if _, err := w.Resolve(bg, id, Answer{Approved: no()}); code(err) != "already_resolved" {
			t.Errorf("another answer: %v", err)
		}
		w.free("t")
		runs, err := w.Runs(bg, "t")
		if err != nil || len(runs) != 2 || runs[1].Parent != "r1" || runs[1].State != RunFinished {
			t.Errorf("runs %+v, %v", runs, err)
		}
	})
}

func TestAnsweredAtOnceIsNoInterrupt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")})
		defer w.close()
		s := w.start("t", "r1", "go")
		synctest.Wait()
		if _, err := w.Resolve(bg, w.pending()[0].ID, Answer{OptionID: "yes"}); err != nil {
			t.Fatal(err)
		}
		got := w.stream(s)
		if got[len(got)-1] != `finished {"stopReason":"end_turn"}` {
			t.Errorf("%q", got)
		}
	})
}

// two asks for two calls and goes on when both are answered.
func two(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
	var got []<-chan source.Answer
	for _, id := range []string{"a", "b"} {
		t.Handler.OnToolCall(id, "do "+id)
		got = append(got, put(ctx, t, source.Request{ToolCallID: id, Title: "do " + id, Kind: "execute", Options: yesNo}))
	}
	for i, id := range []string{"a", "b"} {
		a, err := await(ctx, got[i])
		if err != nil {
			return "", err
		}
		t.Handler.OnToolCallUpdate(id, a.OptionID, agentstream.ToolCallStatusCompleted)
	}
	return source.EndTurn, nil
}

func TestTwoRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": two})
		defer w.close()
		w.stream(w.start("t", "r1", "go"))
		p := w.pending()
		if len(p) != 2 {
			t.Fatalf("%d pending", len(p))
		}
		// One is answered elsewhere: a run goes by, and ends with the other.
		if _, err := w.Resolve(bg, p[0].ID, Answer{OptionID: "yes"}); err != nil {
			t.Fatal(err)
		}
		w.pass(time.Minute)
		runs, _ := w.Runs(bg, "t")
		if len(runs) != 2 || runs[1].State != RunInterrupted {
			t.Fatalf("runs %+v", runs)
		}
		// The client answers both, as it knows them, one of them differently.
		s, err := w.Start(bg, w.answer("t", "r1", approve(p[0].ID, `{"approved":false}`), approve(p[1].ID, `{"approved":false}`)))
		if err != nil || len(s.Conflicts) != 1 || s.Run.ID == "r1" {
			t.Fatalf("%+v, %v", s, err)
		}
		got := w.stream(s)
		if got[len(got)-2] != "custom agentstream.request_conflict" || got[len(got)-1] != `finished {"stopReason":"end_turn"}` {
			t.Errorf("%q", got)
		}
		// The same again attaches.
		again, err := w.Start(bg, w.answer("t", "r1", approve(p[0].ID, `{"approved":false}`), approve(p[1].ID, `{"approved":false}`)))
		if err != nil || !again.Attached || again.Run.ID != s.Run.ID {
			t.Errorf("%+v, %v", again, err)
		}
	})
}

func TestResumeIsChecked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")})
		defer w.close()
		w.stream(w.start("t", "r1", "go"))
		w.stream(w.start("elsewhere", "r1", "go"))
		p, err := w.Requests(bg, "t", "pending")
		if err != nil {
			t.Fatal(err)
		}
		far, _ := w.Requests(bg, "elsewhere", "")
		ok := approve(p[0].ID, `{"approved":true}`)
		for want, entries := range map[string][]agui.Resume{
			"unknown_interrupt": {ok, approve("nope", `{}`)},
			"resume_invalid":    {ok, ok},
		} {
			if _, err := w.Start(bg, w.answer("t", "r2", entries...)); code(err) != want {
				t.Errorf("want %s, got %v", want, err)
			}
		}
		if _, err := w.Start(bg, w.answer("t", "r2", approve(far[0].ID, `{}`))); code(err) != "unknown_interrupt" {
			t.Errorf("another thread's: %v", err)
		}
		if _, err := w.Start(bg, w.answer("t", "r2", agui.Resume{InterruptID: p[0].ID, Status: "maybe"})); code(err) != "resume_invalid" {
			t.Errorf("an unknown status: %v", err)
		}
		if len(w.pending()) != 2 {
			t.Error("something was done")
		}
	})
}

func TestNewMessageWhilePending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")})
		defer w.close()
		w.stream(w.start("t", "r1", "go"))
		r := w.request("t", "r2", "never mind")
		s, err := w.Start(bg, r)
		if err != nil || len(s.Pending) != 1 {
			t.Fatalf("%+v, %v", s, err)
		}
		if diff := cmp.Diff([]string{"started", "finished interrupt"}, w.stream(s)); diff != "" {
			t.Error(diff)
		}
		strict := r
		strict.Strict = true
		if _, err := w.Start(bg, strict); code(err) != "interrupted" {
			t.Errorf("REST: %v", err)
		}
		// Steered away: the old turn is closed in a run of its own.
		r.Input.Resume = []agui.Resume{{InterruptID: w.pending()[0].ID, Status: "cancelled"}}
		s, err = w.Start(bg, r)
		if err != nil || s.Run.ID != "r2" {
			t.Fatalf("%+v, %v", s, err)
		}
		if got := w.stream(s); !slices.Contains(got, "text you said never mind") {
			t.Errorf("%q", got)
		}
		w.free("t")
		runs, _ := w.Runs(bg, "t")
		if len(runs) != 3 || runs[1].State != RunCancelled || runs[2].ID != "r2" || runs[2].State != RunFinished {
			t.Errorf("runs %+v", runs)
		}
		rounds, _, _ := w.Rounds(bg, "t")
		if len(rounds) != 2 || len(rounds[0].Messages) != 2 || rounds[0].Complete {
			t.Errorf("rounds %+v", rounds)
		}
	})
}

func TestHeldWhileWaiting(t *testing.T) {
	talks := func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		t.Handler.OnMessageChunk("before ")
		t.Handler.OnToolCall("c1", "do")
		got := put(ctx, t, source.Request{ToolCallID: "c1", Title: "do", Kind: "execute", Options: yesNo})
		select {
		case <-time.After(10 * time.Second):
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
		t.Handler.OnMessageChunk("meanwhile ")
		t.Handler.OnToolCall("c2", "more")
		more := put(ctx, t, source.Request{ToolCallID: "c2", Title: "more", Kind: "execute", Options: yesNo})
		for _, ch := range []<-chan source.Answer{got, more} {
			if _, err := await(ctx, ch); err != nil {
				return "", err
			}
		}
		return source.EndTurn, nil
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": talks})
		defer w.close()
		w.stream(w.start("t", "r1", "go"))
		m, _ := w.Messages(bg, "t", 0, "")
		w.pass(time.Minute)
		after, _ := w.Messages(bg, "t", 0, "")
		if len(after.Messages) != len(m.Messages) || len(after.Pending) != 2 || after.OpenRun != nil {
			t.Errorf("while waiting: %+v", after)
		}
		notes := 0
		for f, err := range w.Events(bg, "t", eventlog.Cursor{}, EventOptions{Notes: true, NoWait: true}) {
			if err != nil {
				t.Fatal(err)
			}
			if f.Note {
				notes++
			}
		}
		if notes != 2 {
			t.Errorf("%d notes", notes)
		}
		s, err := w.Start(bg, w.answer("t", "r2", approve(w.pending()[0].ID, `{"approved":true}`)))
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"started", "text_message_start", "text meanwhile ", "text_message_end", "tool_call_start", "tool_call_end", "finished interrupt"}
		if diff := cmp.Diff(want, w.stream(s)); diff != "" {
			t.Error(diff)
		}
		p := w.pending()
		if len(p) != 1 || p[0].ToolCallID == "" {
			t.Fatalf("pending %+v", p)
		}
		s, err = w.Start(bg, w.answer("t", "r3", approve(p[0].ID, `{"approved":true}`)))
		if err != nil {
			t.Fatal(err)
		}
		w.stream(s)
		w.free("t")
	})
}

func TestRequestEnds(t *testing.T) {
	withdrawn := func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		done := make(chan struct{})
		put(ctx, t, source.Request{Title: "do", Kind: "execute", Options: yesNo, Done: done})
		time.AfterFunc(time.Minute, func() { close(done) })
		<-time.After(2 * time.Minute)
		return source.EndTurn, nil
	}
	dies := func(ctx context.Context, _ *fakeSession, t source.Turn) (source.StopReason, error) {
		put(ctx, t, source.Request{Title: "do", Kind: "execute", Options: yesNo})
		<-time.After(time.Minute)
		return "", &source.Error{Code: source.CodeAgentExited, Message: "it died"}
	}
	for _, x := range []struct {
		name, state, end string
		f                script
	}{
		{"expired", "expired", `finished {"stopReason":"end_turn"}`, asks("c1")},
		{"withdrawn", "cancelled", `finished {"stopReason":"end_turn"}`, withdrawn},
		{"agent died", "cancelled", "error agent_exited", dies},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, newMemlog(), map[string]script{"go": x.f})
			defer w.close()
			w.stream(w.start("t", "r1", "go"))
			id := w.pending()[0].ID
			w.pass(25 * time.Hour)
			r, _ := w.Request(bg, id)
			if r.State != x.state || r.Resolution == nil || r.Resolution.Reason == "" || len(w.pending()) != 0 {
				t.Errorf("%s: %+v", x.name, r)
			}
			runs, _ := w.Runs(bg, "t")
			if len(runs) != 2 {
				t.Fatalf("%s: runs %+v", x.name, runs)
			}
			s := Started{Run: runs[1], Resumed: true}
			got := w.stream(s)
			if x.name == "agent died" {
				if diff := cmp.Diff([]string{"started", "error agent_exited", "started", "finished "}, got); diff != "" {
					t.Error(diff)
				}
			} else if got[len(got)-1] != x.end {
				t.Errorf("%s: %q", x.name, got)
			}
		})
	}
}

func TestCancelWhileWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1")})
		defer w.close()
		w.stream(w.start("t", "r1", "go"))
		run, err := w.Cancel(bg, "t", "r1")
		if err != nil || run.State != RunInterrupted {
			t.Errorf("%+v, %v", run, err)
		}
		th, _ := w.Thread(bg, "t")
		if th.State != "idle" || th.LastRun.State != RunCancelled || th.Pending != 0 {
			t.Errorf("%+v", th)
		}
	})
}

// A resume that comes while another device's answer is on its way to the disk
// attaches, once that is there.
func TestResumeMeetsAnAnswerThatIsNotDurableYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		w := newWorld(t, log, map[string]script{"go": asks("c1")})
		defer w.close()
		w.stream(w.start("t", "r1", "go"))
		id := w.pending()[0].ID
		resume := w.answer("t", "r2", approve(id, `{"approved":true}`))
		release := log.hold()
		resolved, resumed := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := w.Resolve(bg, id, Answer{OptionID: "yes"})
			resolved <- err
		}()
		synctest.Wait()
		go func() {
			s, err := w.Start(bg, resume)
			if err == nil && (!s.Attached || len(s.Conflicts) > 0) {
				t.Errorf("%+v", s)
			}
			resumed <- err
		}()
		synctest.Wait()
		release()
		for _, err := range []error{<-resolved, <-resumed} {
			if err != nil {
				t.Error(err)
			}
		}
		w.free("t")
	})
}
