package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"syscall"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
)

// quickly is a server that gives running turns no time to finish.
const quickly = "shutdown_timeout: 100ms\n"

func TestStopInMidTurn(t *testing.T) {
	s := harness.Start(t, harness.Flags("--verify"), harness.Config(quickly))
	thread := harness.ID(t, "thread")
	run := s.Run(thread, "demo", "list, then wait 600")
	reader := s.Events(thread, "")
	reader.Until(waiting)
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.NothingLeft()
	s.Restart()
	got := s.WaitRun(thread, run.ID)
	if got.State != engine.RunFailed || got.Error == nil || got.Error.Code != "server_stopping" {
		t.Errorf("%+v", got)
	}
	checkThread(t, s, thread)
}

// Who signals twice waits for no running turn, and nothing is left all the same.
func TestStopTwice(t *testing.T) {
	s := harness.Start(t, harness.Config("shutdown_timeout: 1h\n"))
	thread := harness.ID(t, "thread")
	run := s.Run(thread, "demo", "wait 600")
	s.Events(thread, "").Until(waiting)
	s.Signal(syscall.SIGTERM)
	s.WaitFor("readyz to say that the server stops", func() bool {
		return s.Do("GET", "/readyz", nil).Status == 503
	})
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.NothingLeft()
	s.Restart()
	if got := s.WaitRun(thread, run.ID); got.Error == nil || got.Error.Code != "server_stopping" {
		t.Errorf("%+v", got)
	}
}

// waiting: the demo's call that takes its time has begun.
func waiting(e harness.Event) bool {
	start, ok := e.Event.(*agui.ToolCallStart)
	return ok && start.ToolCallName == "wait"
}

// While it stops, a server takes nothing new and its readers see the end.
func TestReadersSeeTheServerStop(t *testing.T) {
	s := harness.Start(t, harness.Config("shutdown_timeout: 2s\n"))
	thread := harness.ID(t, "thread")
	s.Run(thread, "demo", "wait 600")
	reader := s.Events(thread, "")
	reader.Until(waiting)
	s.Signal(syscall.SIGTERM)
	s.WaitFor("readyz to say that the server stops", func() bool {
		return s.Do("GET", "/readyz", nil).Status == 503
	})
	r := s.Do("POST", harness.ThreadPath(harness.ID(t, "thread"), "/runs"), map[string]any{"agent": "demo", "input": "help"})
	if r.Status != 503 || r.Code != "draining" || r.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s %v", r.Status, r.Code, r.Header)
	}
	events := reader.Until(harness.Ended)
	last := events[len(events)-1]
	if e, ok := last.Event.(*agui.RunError); !ok || e.Code != "server_stopping" {
		t.Errorf("last event: %s", last.Data)
	}
	if code := s.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// killed is a turn that passes through everything that can be open.
const killed = "think, list, diff, parallel, exec, plan, late, long 40, subagent"

// A server that is killed at the nth event of a turn has, when it is there
// again and before it answers the first request, the run as lost, with its
// terminal and its rounds in pairs, and nothing that a reader has seen is gone.
func TestKill(t *testing.T) {
	harness.Require(t)
	random := harness.Rand(t)
	places := []int{1, 2, 3, 9, 20, 33, 47, 60}
	for range 8 {
		places = append(places, 1+random.IntN(110))
	}
	for _, n := range places {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s := harness.Start(t, harness.Env("AGENTSTREAM_DEMO_PACE=400"))
			thread := harness.ID(t, "thread")
			s.Run(thread, "demo", "echo a turn that has ended")
			s.Events(thread, "").Until(harness.Ended)
			reader := s.Events(thread, s.LastEvent(thread).ID)
			run := s.Run(thread, "demo", killed)
			var seen []harness.Event
			reader.Until(func(e harness.Event) bool {
				seen = append(seen, e)
				return len(seen) >= n || harness.Ended(e)
			})
			s.Kill()
			for e, err := reader.Next(); err == nil; e, err = reader.Next() {
				seen = append(seen, e) // what was on its way
			}
			s.Restart(harness.Flags("--verify"))
			checkLost(t, s, thread, run.ID, seen)
			s.NothingLeft()
			s.Run(thread, "demo", "echo it goes on")
			s.Events(thread, s.LastEvent(thread).ID).Close()
			s.WaitFor("the thread to be idle", func() bool { return s.Messages(thread).OpenRun == nil })
			checkThread(t, s, thread)
		})
	}
}

// All that ran is settled before anything is answered.
func TestKillWithManyRuns(t *testing.T) {
	s := harness.Start(t)
	runs := map[string]string{} // by thread
	for range 8 {
		thread := harness.ID(t, "thread")
		runs[thread] = waits(s, thread).ID
	}
	s.Kill()
	s.Restart()
	var list struct{ Threads []engine.Thread }
	s.Get("/v1/threads", &list)
	if len(list.Threads) != len(runs) {
		t.Errorf("%d threads, want %d", len(list.Threads), len(runs))
	}
	for _, th := range list.Threads {
		if th.State != "idle" || th.LastRun == nil || th.LastRun.State != engine.RunLost {
			t.Errorf("%+v", th)
		}
	}
	for thread, run := range runs {
		checkLost(t, s, thread, run, nil)
	}
	s.NothingLeft()
}

func checkLost(t *testing.T, s *harness.Server, thread, run string, seen []harness.Event) {
	t.Helper()
	log := s.Log(thread) // the first request
	last := log[len(log)-1]
	if e, ok := last.Event.(*agui.RunError); ok && e.Code != "run_lost" || !ok && last.Type() != agui.TypeRunFinished {
		t.Errorf("the log ends with %s", last.Data)
	}
	stored := map[string][]byte{}
	for _, e := range log {
		stored[e.ID] = e.Data
	}
	for _, e := range seen {
		if !bytes.Equal(compact(t, stored[e.ID]), compact(t, e.Data)) {
			t.Errorf("a reader has seen %s %s, the log has %s", e.ID, e.Data, stored[e.ID])
		}
	}
	m := s.Messages(thread)
	if m.OpenRun != nil || m.Cursor != last.ID {
		t.Errorf("open run %v, cursor %s; the log ends at %s", m.OpenRun, m.Cursor, last.ID)
	}
	r := s.WaitRun(thread, run)
	if want := map[bool]engine.RunState{true: engine.RunFinished, false: engine.RunLost}[last.Type() == agui.TypeRunFinished]; r.State != want || r.To != last.ID {
		t.Errorf("%+v", r)
	}
	checkThread(t, s, thread)
	checkList(t, s, thread)
}

// checkList: a client that reads the whole log holds the server's list.
func checkList(t *testing.T, s *harness.Server, thread string) {
	t.Helper()
	var list agui.List
	for _, e := range s.Log(thread) {
		list.Apply(e.Event)
	}
	there, err := json.Marshal(s.Messages(thread).Messages)
	if err != nil {
		t.Fatal(err)
	}
	here, err := json.Marshal(list.Messages())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(there, here) {
		t.Errorf("the server's list\n%s\nis not what its log makes\n%s", there, here)
	}
}

func compact(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if len(data) > 0 {
		if err := json.Compact(&b, data); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// A question that waits when the server ends, by signal or by accident, ends with
// its agent, with a reason, and the thread goes on.
func TestQuestionsEndWithTheServer(t *testing.T) {
	harness.Require(t)
	for name, end := range map[string]func(*harness.Server){
		"killed":  (*harness.Server).Kill,
		"stopped": func(s *harness.Server) { s.Stop() },
	} {
		t.Run(name, func(t *testing.T) {
			s := harness.Start(t, harness.Flags("--verify"), harness.Config(quickly))
			for _, word := range []string{"write out.txt hello", "two questions", "ask me"} {
				thread := harness.ID(t, "thread")
				run := s.Run(thread, "demo", word)
				if got := s.WaitRun(thread, run.ID); got.State != engine.RunInterrupted {
					t.Fatalf("%s: %+v", word, got)
				}
				end(s)
				s.NothingLeft()
				s.Restart()
				checkEndedQuestions(t, s, thread)
				again := s.Run(thread, "demo", "echo it goes on")
				if got := s.WaitRun(thread, again.ID); got.State != engine.RunFinished {
					t.Errorf("%s: the next turn: %+v", word, got)
				}
				checkThread(t, s, thread)
				checkList(t, s, thread)
			}
		})
	}
}

func checkEndedQuestions(t *testing.T, s *harness.Server, thread string) {
	t.Helper()
	checkThread(t, s, thread)
	var asked struct{ Requests []engine.Request }
	s.Get("/v1/requests?threadId="+thread, &asked)
	if len(asked.Requests) == 0 {
		t.Error("the questions are gone")
	}
	for _, q := range asked.Requests {
		if q.State != "cancelled" || q.Resolution == nil || q.Resolution.Reason == "" {
			t.Errorf("the dead agent's question: %+v", q)
		}
	}
	if m := s.Messages(thread); len(m.Pending) > 0 || m.OpenRun != nil {
		t.Errorf("%+v", m)
	}
}
