package approvals

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

func TestHowQuestionsEnd(t *testing.T) {
	x := start(t, "", harness.Flags("--verify"))
	x.both(t, "new message", newMessage)
	x.both(t, "steered away", steeredAway)
	x.both(t, "cancelled", cancelled)
	x.both(t, "the agent dies", theAgentDies)
	x.both(t, "the continuing run fails", theContinuingRunFails)
	x.both(t, "the agent ends the turn", theAgentEndsTheTurn)
}

// Somebody who does not know of the question says something else.
func newMessage(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(one), 1)
	r := x.Do("POST", harness.ThreadPath(c.Thread, "/runs"), map[string]any{"agent": "scripted", "input": "say hello"})
	if r.Status != 409 || r.Code != "interrupted" {
		t.Errorf("by REST: %d %s", r.Status, r.Code)
	}
	runs := len(x.Runs(c.Thread))
	fresh := x.reloaded(c)
	told := fresh.Say("say hello")
	if told.Outcome != "interrupt" || len(told.PendingInterrupts) != 1 || told.PendingInterrupts[0].ID != asks[0].ID || len(told.Warnings) > 0 {
		t.Errorf("by AG-UI: %+v", told)
	}
	if n := len(x.Runs(c.Thread)); n != runs {
		t.Errorf("%d runs, %d before", n, runs)
	}
	after := fresh.Run(resume(yes, told.PendingInterrupts...))
	if after.Outcome != "success" || len(after.Warnings) > 0 {
		t.Errorf("answered: %+v", after)
	}
	x.sound(c.Thread)
	x.wantResults(c, "allow-1")
	x.done(c, c.Run(resume(yes, asks...)))
	x.goesOn(c)
	x.goesOn(fresh)
}

// assistant-ui's way: all is cancelled, and the user goes on with something else.
func steeredAway(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(one), 1)
	call := resume("", asks...)
	call.RunID = harness.ID(t, "run")
	call.Add = []agui.Message{harness.User(harness.ID(t, "user"), "say something else")}
	r := c.Run(call)
	x.done(c, r)
	if r.RunID != call.RunID {
		t.Errorf("the stream carries run %s", r.RunID)
	}
	if q := x.request(asks[0].ID); q.State != "cancelled" || q.Resolution == nil || q.Resolution.Reason == "" {
		t.Errorf("the request: %+v", q)
	}
	runs := x.Runs(c.Thread)
	if len(runs) != 3 || runs[1].State != engine.RunCancelled || runs[2].State != engine.RunFinished {
		t.Errorf("runs: %+v", runs)
	}
	if text := string(r.Messages); !strings.Contains(text, `"something else"`) {
		t.Errorf("the new message was not answered: %s", text)
	}
	x.goesOn(c)
}

func cancelled(t *testing.T, x *stage) {
	c := x.client()
	first := c.Say(one)
	asks := x.asked(c, first, 1)
	var run engine.Run
	x.Post("/v1/runs/"+first.RunID+"/cancel?threadId="+c.Thread, nil, &run)
	q := x.settled(asks[0].ID)
	if q.State != "cancelled" || q.Resolution == nil || q.Resolution.By != "engine" || q.Resolution.Reason == "" {
		t.Errorf("the request: %+v", q)
	}
	if th := x.idle(c.Thread); th.LastRun.State != engine.RunCancelled || th.Pending != 0 {
		t.Errorf("the thread: %+v", th)
	}
	x.late(c, asks, "")
}

// late: a client that still holds the questions is brought up to date, and can go
// on. code is that of a failure it is told of.
func (x *stage) late(c *harness.Client, asks []agui.Interrupt, code string) {
	x.t.Helper()
	r := c.Run(resume(yes, asks...))
	x.same(c, r)
	x.sound(c.Thread)
	if len(r.PendingInterrupts) > 0 || (r.RunError == nil) != (code == "") || code != "" && r.RunError.Code != code {
		x.t.Errorf("want %q, the client got %+v", code, r)
	}
	x.goesOn(c)
}

func theAgentDies(t *testing.T, x *stage) {
	c := x.client()
	gate := harness.ID(t, "gate")
	asks := x.asked(c, c.Say(lines("call a edit A", "ask a", "gate "+gate, "say last words", "die")), 1)
	x.open(gate)
	if q := x.settled(asks[0].ID); q.State != "cancelled" || q.Resolution == nil || q.Resolution.Reason == "" {
		t.Errorf("the request: %+v", q)
	}
	th := x.idle(c.Thread)
	if th.LastRun.State != engine.RunFailed || th.LastRun.Error == nil || th.LastRun.Error.Code != "agent_exited" {
		t.Errorf("the thread: %+v", th.LastRun)
	}
	if text := string(c.Run(aguitest.Call{Resume: answers(yes, asks...)}).Messages); !strings.Contains(text, "last words") {
		t.Errorf("what it said last is not there: %s", text)
	}
	x.goesOn(c)
}

// A resumed run that fails leaves no client locked.
func theContinuingRunFails(t *testing.T, x *stage) {
	c := x.client()
	asks := x.asked(c, c.Say(lines("call a edit A", "ask a", "answer a", "fail")), 1)
	r := c.Run(resume(yes, asks...))
	x.same(c, r)
	if r.RunError == nil || r.RunError.Code != "agent_error" || len(r.PendingInterrupts) > 0 {
		t.Errorf("the client got %+v", r)
	}
	x.goesOn(c)
}

// An agent that does not wait for the answer.
func theAgentEndsTheTurn(t *testing.T, x *stage) {
	c := x.client()
	gate := harness.ID(t, "gate")
	asks := x.asked(c, c.Say(lines("call a edit A", "ask a", "gate "+gate, "say never mind")), 1)
	x.open(gate)
	if q := x.settled(asks[0].ID); q.State != "cancelled" {
		t.Errorf("the request: %+v", q)
	}
	if th := x.idle(c.Thread); th.LastRun.State != engine.RunFinished {
		t.Errorf("the thread: %+v", th.LastRun)
	}
	x.late(c, asks, "")
}

// Nobody answers in time: the agent is told, and the turn goes on.
func TestExpiry(t *testing.T) {
	x := start(t, "request_ttl: 500ms", harness.Flags("--verify"))
	x.both(t, "expired", func(t *testing.T, x *stage) {
		c := x.client()
		r := c.Say(one)
		asks := r.PendingInterrupts // none, if the machine is so slow that the time was up before
		th := x.idle(c.Thread)
		if th.LastRun.State != engine.RunFinished {
			t.Errorf("the last run: %+v", th.LastRun)
		}
		x.wantResults(c, "cancelled")
		var all struct{ Requests []engine.Request }
		x.Get("/v1/requests?threadId="+c.Thread, &all)
		if len(all.Requests) != 1 || all.Requests[0].State != "expired" || all.Requests[0].ExpiresAt == nil || all.Requests[0].Resolution.Reason == "" {
			t.Errorf("the requests: %+v", all.Requests)
		}
		if len(asks) > 0 {
			if asks[0].ExpiresAt != "" {
				t.Error("the interrupt has an expiresAt, with which a client of 0.0.59 is locked for ever")
			}
			x.late(c, asks, "")
		}
	})
}

// A server that is stopped or killed while a question waits: it ends with a
// reason, and the clients go on.
func TestServerEndsWhileAQuestionWaits(t *testing.T) {
	for _, end := range []struct {
		name, code string
		state      engine.RunState
		end        func(x *stage)
	}{
		{"stopped", "server_stopping", engine.RunFailed, func(x *stage) {
			if code := x.Stop(); code != 0 {
				x.t.Errorf("exit code %d", code)
			}
		}},
		{"killed", "run_lost", engine.RunLost, func(x *stage) { x.Kill() }},
	} {
		t.Run(end.name, func(t *testing.T) {
			x := start(t, "shutdown_timeout: 100ms", harness.Flags("--verify"))
			clients, asks := map[agui.Version]*harness.Client{}, map[agui.Version][]agui.Interrupt{}
			for _, v := range aguitest.Versions {
				x.v = v
				clients[v] = x.client()
				asks[v] = x.asked(clients[v], clients[v].Say(one), 1)
			}
			end.end(x)
			x.Restart()
			for _, v := range aguitest.Versions {
				x.v = v
				c := clients[v]
				q := x.request(asks[v][0].ID)
				if q.State != "cancelled" || q.Resolution == nil || q.Resolution.Reason == "" {
					t.Errorf("the request: %+v", q)
				}
				th := x.idle(c.Thread)
				if th.LastRun.State != end.state || th.LastRun.Error == nil || th.LastRun.Error.Code != end.code {
					t.Errorf("the thread: %+v", th.LastRun)
				}
				x.late(c, asks[v], end.code)
			}
		})
	}
}

// While a server stops it takes no new runs, and says when to come again.
func TestDraining(t *testing.T) {
	x := start(t, "shutdown_timeout: 10m")
	x.v = agui.V1
	gate := harness.ID(t, "gate")
	busy, other := harness.ID(t, "busy"), harness.ID(t, "other")
	run := x.Run(busy, "scripted", lines("gate "+gate, "say done"))
	done := make(chan int, 1)
	go func() { done <- x.Stop() }()
	x.WaitFor("the server to stop taking runs", func() bool {
		r := x.Do("GET", "/readyz", nil)
		return r.Status == 503
	})
	for _, path := range []string{harness.ThreadPath(other, "/runs"), "/agui/scripted"} {
		var body any = map[string]any{"agent": "scripted", "input": "say hello"}
		if !strings.HasPrefix(path, "/v1") {
			body = harness.Input(other, "r", harness.User("u", "say hello"))
		}
		if r := x.Do("POST", path, body); r.Status != 503 || r.Code != "draining" || r.Header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s %v", path, r.Status, r.Code, r.Header)
		}
	}
	if runs := x.Runs(busy); !slices.ContainsFunc(runs, func(r engine.Run) bool { return r.ID == run.ID && r.State == engine.RunRunning }) {
		t.Errorf("what ran does not: %+v", runs)
	}
	x.open(gate)
	if code := <-done; code != 0 {
		t.Errorf("exit code %d", code)
	}
	x.Restart()
	if r := x.WaitRun(busy, run.ID); r.State != engine.RunFinished {
		t.Errorf("what ran ended so: %+v", r)
	}
}
