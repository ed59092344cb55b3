package approvals

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/round"
)

// stage is a server with the scripted agent, and a client's version.
type stage struct {
	*harness.Server
	t     *testing.T
	v     agui.Version
	gates string
}

// start starts a server whose configuration also has the given lines.
func start(t *testing.T, lines string, options ...harness.Option) *stage {
	t.Helper()
	harness.Require(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	gates := t.TempDir()
	config := fmt.Sprintf("%s\nagents:\n  scripted:\n    command: [%q]\n    env: { %s: \"1\", %s: %q }\n", lines, self, agentVariable, gatesVariable, gates)
	return &stage{Server: harness.Start(t, append(options, harness.Config(config))...), t: t, gates: gates}
}

// both plays a scene with both clients.
func (x *stage) both(t *testing.T, name string, scene func(t *testing.T, x *stage)) {
	for _, v := range aguitest.Versions {
		t.Run(name+"/"+string(v), func(t *testing.T) {
			y := *x
			y.t, y.v = t, v
			scene(t, &y)
		})
	}
}

// client is a new client with a new thread.
func (x *stage) client() *harness.Client { return x.of("scripted") }

func (x *stage) of(agent string) *harness.Client {
	return x.Client(x.v, agent, harness.ID(x.t, "thread"))
}

// reloaded is a client of the same thread that holds nothing, as after a refresh.
func (x *stage) reloaded(c *harness.Client) *harness.Client {
	return x.Client(x.v, "scripted", c.Thread)
}

// open lets the agent through a gate.
func (x *stage) open(gate string) {
	x.t.Helper()
	if err := os.WriteFile(filepath.Join(x.gates, gate), nil, 0o600); err != nil {
		x.t.Fatal(err)
	}
}

func lines(s ...string) string { return strings.Join(s, "\n") }

// asked checks that the run ended with so many questions, and the client's view.
func (x *stage) asked(c *harness.Client, r aguitest.Report, n int) []agui.Interrupt {
	x.t.Helper()
	if r.Outcome != "interrupt" || len(r.PendingInterrupts) != n {
		x.t.Fatalf("outcome %s with %d interrupts, want %d: %+v", r.Outcome, len(r.PendingInterrupts), n, r)
	}
	x.same(c, r)
	return r.PendingInterrupts
}

// done checks that the run succeeded, and the client's view and the thread.
func (x *stage) done(c *harness.Client, r aguitest.Report) {
	x.t.Helper()
	if r.Outcome != "success" || len(r.PendingInterrupts) != 0 || r.Error != "" {
		x.t.Errorf("the run ended so: %+v", r)
	}
	x.same(c, r)
	x.sound(c.Thread)
}

// goesOn checks that the thread takes a next message.
func (x *stage) goesOn(c *harness.Client) {
	x.t.Helper()
	x.done(c, c.Say("say on it goes"))
}

// same: no warning, and the client's messages are the server's.
func (x *stage) same(c *harness.Client, r aguitest.Report) {
	x.t.Helper()
	if len(r.Warnings) > 0 {
		x.t.Errorf("the client says: %s", strings.Join(r.Warnings, "\n"))
	}
	var there struct{ Messages []any }
	x.Get(harness.ThreadPath(c.Thread, "/messages"), &there)
	var here []any
	if err := json.Unmarshal(r.Messages, &here); err != nil {
		x.t.Fatal(err)
	}
	if d := cmp.Diff(there.Messages, here); d != "" {
		x.t.Errorf("messages (-server +client):\n%s", d)
	}
}

// sound: each run has one terminal, both clients' rules hold for the whole log, and
// the rounds are what providers take.
func (x *stage) sound(thread string) {
	x.t.Helper()
	open := ""
	verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
	for _, e := range x.Log(thread) {
		for _, v := range verifiers {
			if err := v.Check(e.Event); err != nil {
				x.t.Errorf("%s: %v", e.ID, err)
			}
		}
		start, starts := e.Event.(*agui.RunStarted)
		switch {
		case starts && open == "":
			open = start.RunID
		case starts || open == "":
			x.t.Errorf("%s: %s out of place", e.ID, e.Type())
		case harness.Ended(e):
			open = ""
		}
	}
	if open != "" {
		x.t.Errorf("run %s has no terminal", open)
	}
	var history []*schema.Message
	for _, r := range x.Rounds(thread) {
		for _, m := range r.Input {
			history = append(history, schema.UserMessage(m.Text()))
		}
		history = append(history, r.Messages...)
	}
	for _, provider := range []string{"openai", "anthropic", "gemini", "eino"} {
		if err := round.Validate(provider, history); err != nil {
			x.t.Errorf("%s: %v", provider, err)
		}
	}
}

// results are the tool messages' texts, by order, as the thread has them.
func (x *stage) results(thread string) (out []string) {
	for _, m := range x.Messages(thread).Messages {
		if m.Role == agui.RoleTool {
			out = append(out, m.Text())
		}
	}
	return out
}

func (x *stage) wantResults(c *harness.Client, want ...string) {
	x.t.Helper()
	if d := cmp.Diff(want, x.results(c.Thread)); d != "" {
		x.t.Errorf("results (-want +got):\n%s", d)
	}
}

// request reads one request.
func (x *stage) request(id string) (q engine.Request) {
	x.t.Helper()
	x.Get("/v1/requests/"+id, &q)
	return q
}

// settled waits until a request waits no more.
func (x *stage) settled(id string) (q engine.Request) {
	x.t.Helper()
	x.WaitFor("the end of request "+id, func() bool {
		q = x.request(id)
		return q.State != "pending"
	})
	return q
}

// idle waits until nothing runs in the thread and nothing waits.
func (x *stage) idle(thread string) engine.Thread {
	x.t.Helper()
	var th engine.Thread
	x.WaitFor("the end of the turn", func() bool {
		x.Get(harness.ThreadPath(thread, ""), &th)
		return th.State == "idle"
	})
	return th
}

// answers makes a resume with the same payload for each interrupt; "" is cancelled.
func answers(payload string, interrupts ...agui.Interrupt) (out []agui.Resume) {
	for _, i := range interrupts {
		r := agui.Resume{InterruptID: i.ID, Status: "cancelled"}
		if payload != "" {
			r.Status, r.Payload = "resolved", json.RawMessage(payload)
		}
		out = append(out, r)
	}
	return out
}

func resume(payload string, interrupts ...agui.Interrupt) aguitest.Call {
	return aguitest.Call{Resume: answers(payload, interrupts...)}
}

const (
	yes = `{"approved":true}`
	no  = `{"approved":false}`
)
