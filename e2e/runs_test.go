package e2e_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
)

// waits starts a run that goes on until it is cancelled.
func waits(s *harness.Server, thread string) engine.Run {
	run := s.Run(thread, "demo", "wait 600")
	st := s.Events(thread, "")
	st.Until(waiting)
	st.Close()
	return run
}

func cancel(s *harness.Server, run engine.Run) harness.Reply {
	return s.Do("POST", "/v1/runs/"+url.PathEscape(run.ID)+"/cancel?threadId="+url.QueryEscape(run.Thread), nil)
}

// A reader that goes away takes nothing with it.
func TestDisconnectIsNotCancel(t *testing.T) {
	s := harness.Start(t, harness.Env("AGENTSTREAM_DEMO_PACE=500"))
	thread := harness.ID(t, "thread")
	st := s.Stream("POST", "/agui/demo", harness.Input(thread, "run-1", harness.User("u1", "long 100")))
	st.Until(harness.Is(agui.TypeTextMessageContent))
	st.Close()
	if run := s.WaitRun(thread, "run-1"); run.State != engine.RunFinished || run.StopReason != "end_turn" {
		t.Errorf("%+v", run)
	}
	if m := s.Messages(thread); !strings.Contains(m.Messages[1].Text(), "Line 100 of 100") {
		t.Errorf("the answer is cut: %q", m.Messages[1].Text())
	}
}

// The same run again attaches, whatever has become of it; with another body it is
// refused.
func TestStartIsIdempotent(t *testing.T) {
	s := harness.Start(t)
	thread := harness.ID(t, "thread")
	in := harness.Input(thread, "run-1", harness.User("u1", "think"))
	first := s.Stream("POST", "/agui/demo", in).All()
	again := s.Stream("POST", "/agui/demo", in).All()
	for _, events := range [][]harness.Event{first, again} {
		var list agui.List
		for _, e := range events {
			list.Apply(e.Event)
		}
		if d := cmp.Diff(s.Messages(thread).Messages, list.Messages()); d != "" || !harness.Ended(events[len(events)-1]) {
			t.Errorf("-server +reader:\n%s", d)
		}
	}
	if a, b := first[len(first)-1], again[len(again)-1]; a.ID != b.ID {
		t.Errorf("the stream ends at %s, again at %s", a.ID, b.ID)
	}
	if n := len(s.Runs(thread)); n != 1 {
		t.Errorf("%d runs", n)
	}
	r := s.Do("POST", "/agui/demo", harness.Input(thread, "run-1", harness.User("u1", "list")))
	if r.Status != 409 || r.Code != "run_conflict" {
		t.Errorf("%d %s", r.Status, r.Code)
	}
	body := map[string]any{"agent": "demo", "input": "echo x", "runId": "run-2"}
	for range 2 {
		if r := s.Do("POST", harness.ThreadPath(thread, "/runs"), body); r.Status != 202 || !strings.Contains(r.Header.Get("Location"), "run-2") {
			t.Errorf("%d %v %s", r.Status, r.Header, r.Body)
		}
		s.WaitRun(thread, "run-2")
	}
	if n := len(s.Runs(thread)); n != 2 {
		t.Errorf("%d runs", n)
	}
}

func TestOneRunAtATime(t *testing.T) {
	s := harness.Start(t)
	thread := harness.ID(t, "thread")
	run := waits(s, thread)
	r := s.Do("POST", harness.ThreadPath(thread, "/runs"), map[string]any{"agent": "demo", "input": "help"})
	var p struct{ Run string }
	if err := json.Unmarshal(r.Body, &p); err != nil || r.Status != 409 || r.Code != "run_active" || p.Run != run.ID {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	r = s.Do("POST", "/agui/demo", harness.Input(thread, "other", harness.User("u9", "help")))
	if r.Status != 409 || r.Code != "run_active" {
		t.Errorf("AG-UI: %d %s", r.Status, r.Body)
	}
	if r := s.Do("DELETE", harness.ThreadPath(thread, ""), nil); r.Code != "run_active" {
		t.Errorf("DELETE: %d %s", r.Status, r.Body)
	}
	var queued engine.Run
	s.Post(harness.ThreadPath(thread, "/runs"), map[string]any{"agent": "demo", "input": "echo next", "onConflict": "enqueue"}, &queued)
	if queued.State != engine.RunQueued {
		t.Errorf("%+v", queued)
	}
	for range 2 { // the second time changes nothing
		if r := cancel(s, run); r.Status != 200 {
			t.Errorf("cancel: %d %s", r.Status, r.Body)
		}
	}
	if got := s.WaitRun(thread, run.ID); got.State != engine.RunCancelled {
		t.Errorf("%+v", got)
	}
	if got := s.WaitRun(thread, queued.ID, engine.RunFinished); got.StopReason != "end_turn" {
		t.Errorf("%+v", got)
	}
	checkThread(t, s, thread)
}

// Cancelled, as the clients of both versions hear of it.
func TestCancelledRun(t *testing.T) {
	s := harness.Start(t, harness.Flags("--verify"))
	for version, outcome := range map[string]string{"": "", "1.0.0": "cancelled"} {
		thread := harness.ID(t, "thread")
		in := harness.Input(thread, "run-1", harness.User("u1", "think, then wait 600"))
		if version != "" {
			in["protocolVersion"] = version
		}
		st := s.Stream("POST", "/agui/demo", in)
		st.Until(waiting)
		cancel(s, engine.Run{ID: "run-1", Thread: thread})
		events := st.All()
		end, ok := events[len(events)-1].Event.(*agui.RunFinished)
		if !ok || !strings.Contains(string(end.Result), `"cancelled"`) {
			t.Fatalf("%s", events[len(events)-1].Data)
		}
		got := ""
		if end.Outcome != nil {
			got = string(end.Outcome.Type)
		}
		if got != outcome {
			t.Errorf("version %q: outcome %q, want %q", version, got, outcome)
		}
		checkThread(t, s, thread)
		checkList(t, s, thread)
	}
}

func TestDelete(t *testing.T) {
	s := harness.Start(t)
	thread := harness.ID(t, "thread")
	waits(s, thread)
	if r := s.Do("DELETE", harness.ThreadPath(thread, "?force=true"), nil); r.Status != 204 {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	for _, below := range []string{"", "/messages", "/runs", "/rounds"} {
		if r := s.Do("GET", harness.ThreadPath(thread, below), nil); r.Status != 404 || r.Code != "thread_unknown" {
			t.Errorf("%s: %d %s", below, r.Status, r.Body)
		}
	}
	s.NothingLeft()
	if again := s.Run(thread, "demo", "echo anew"); s.WaitRun(thread, again.ID).State != engine.RunFinished {
		t.Error("the id cannot be used again")
	}
}
