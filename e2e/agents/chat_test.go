package agents_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/fakellm"
)

// patience is how long an agent may take: some need ten seconds of a processor to
// start, and others may want it too.
const patience = 4 * time.Minute

// chat is one client's conversation with an agent. What is wrong is collected, so
// that a scenario can be tried again.
type chat struct {
	t     *testing.T
	s     *harness.Server
	a     agent
	model *fakellm.Model

	version  agui.Version
	as       string // the agent's name at the server
	client   *harness.Client
	problems []string
}

// restart begins a new conversation, with a new process of the agent.
func (c *chat) restart() {
	c.client = c.s.Client(c.version, c.as, harness.ID(c.t, "thread"))
}

func (c *chat) errorf(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

// file is a path that no other conversation of the agent uses.
func (c *chat) file(name string) string {
	return filepath.Join(c.s.Cwd, string(c.version)+"-"+name)
}

func (c *chat) write(name, text string) string {
	path := c.file(name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
	return path
}

// turn is what a prompt came to, over all its runs.
type turn struct {
	aguitest.Report
	run   engine.Run     // the last
	fresh []agui.Message // since the user's message
	asked int            // requests for approval
}

// say prompts and approves whatever is asked.
func (c *chat) say(text string) turn {
	return c.decide(c.send(text), func(i agui.Interrupt) agui.Resume { return c.resume(i, true) })
}

// send prompts, and returns when the run has ended or waits for an answer.
func (c *chat) send(text string) turn {
	return c.play(c.prompt(text), nil)
}

func (c *chat) prompt(text string) aguitest.Call {
	return aguitest.Call{RunID: harness.ID(c.t, "run"), Add: []agui.Message{harness.User(harness.ID(c.t, "user"), text)}}
}

// decide answers requests until none is left.
func (c *chat) decide(t turn, answer func(agui.Interrupt) agui.Resume) turn {
	for asked := 0; len(t.PendingInterrupts) > 0 && asked < 10; {
		asked += len(t.PendingInterrupts)
		call := aguitest.Call{RunID: harness.ID(c.t, "run")}
		for _, i := range t.PendingInterrupts {
			call.Resume = append(call.Resume, answer(i))
		}
		t = c.play(call, nil)
		t.asked = asked
	}
	return t
}

func (c *chat) resume(i agui.Interrupt, approved bool) agui.Resume {
	payload, _ := json.Marshal(map[string]bool{"approved": approved})
	return agui.Resume{InterruptID: i.ID, Status: "resolved", Payload: payload}
}

// play makes one run. While it goes on, meanwhile is called, if there is one. Then
// it looks whether the client and the log are as they must be.
func (c *chat) play(call aguitest.Call, meanwhile func()) (t turn) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	type answer struct {
		report aguitest.Report
		err    error
	}
	answers := make(chan answer, 1)
	call = c.client.Call(call)
	go func() {
		r, err := c.client.Driver().Run(ctx, call)
		answers <- answer{r, err}
	}()
	if meanwhile != nil {
		meanwhile()
	}
	got := <-answers
	t.Report = got.report
	if got.err != nil {
		c.errorf("the run does not end: %v", got.err)
		c.cancel()
		return t
	}
	t.run = c.lastRun()
	var all []agui.Message
	if err := json.Unmarshal(t.Messages, &all); err != nil {
		c.errorf("messages of the client: %v", err)
	}
	for i, m := range all {
		if m.Role == agui.RoleUser {
			t.fresh = all[i+1:]
		}
	}
	c.check(t)
	return t
}

// lastRun is the thread's last run; one without an id, if there is none yet.
func (c *chat) lastRun() engine.Run {
	c.t.Helper()
	r := c.s.Do("GET", harness.ThreadPath(c.client.Thread, "/runs"), nil)
	var out struct{ Runs []engine.Run }
	if r.Status == 404 {
		return engine.Run{}
	}
	if err := json.Unmarshal(r.Body, &out); err != nil || len(out.Runs) == 0 {
		c.errorf("the thread's runs: %d %s", r.Status, r.Body)
		return engine.Run{}
	}
	return out.Runs[len(out.Runs)-1]
}

// cancel cancels what runs and waits for its end.
func (c *chat) cancel() {
	c.t.Helper()
	run := c.lastRun()
	if run.ID == "" {
		return
	}
	c.s.Post("/v1/runs/"+url.PathEscape(run.ID)+"/cancel?threadId="+url.QueryEscape(c.client.Thread), nil, nil)
	c.s.WaitRun(c.client.Thread, run.ID)
}

// await waits for something outside of the stream.
func (c *chat) await(what string, holds func() bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			c.errorf("waited in vain for %s", what)
			return
		}
	}
}

// heard reports whether the run is open and has said the words.
func (c *chat) heard(run, words string) bool {
	c.t.Helper()
	last := c.lastRun()
	return last.ID == run && last.State.Open() && strings.Contains(string(c.s.Do("GET", harness.ThreadPath(c.client.Thread, "/messages"), nil).Body), words)
}

// calls is how many calls the thread has by now.
func (c *chat) calls() (n int) {
	c.t.Helper()
	var there engine.Messages
	_ = json.Unmarshal(c.s.Do("GET", harness.ThreadPath(c.client.Thread, "/messages"), nil).Body, &there)
	for _, m := range there.Messages {
		n += len(m.ToolCalls)
	}
	return n
}

// text is the assistant's words.
func (t turn) text() string { return t.all(agui.RoleAssistant) }

func (t turn) all(role agui.Role) string {
	var texts []string
	for _, m := range t.fresh {
		if m.Role == role {
			texts = append(texts, m.Text())
		}
	}
	return strings.Join(texts, "\n")
}

func (t turn) calls() (calls []agui.ToolCall) {
	for _, m := range t.fresh {
		calls = append(calls, m.ToolCalls...)
	}
	return calls
}

// results are the tool messages of the calls, in the calls' order; a call has one.
func (t turn) results() (results []agui.Message) {
	for _, call := range t.calls() {
		if i := slices.IndexFunc(t.fresh, func(m agui.Message) bool { return m.ToolCallID == call.ID }); i >= 0 {
			results = append(results, t.fresh[i])
		}
	}
	return results
}

// status is that of a result: completed or failed.
func status(m agui.Message) string {
	var meta struct{ Agentstream struct{ Status string } }
	_ = json.Unmarshal(m.Metadata, &meta)
	return meta.Agentstream.Status
}

// show is results for people.
func show(results []agui.Message) (out []string) {
	for _, m := range results {
		out = append(out, fmt.Sprintf("%s %.300q", status(m), m.Text()))
	}
	return out
}

func names(calls []agui.ToolCall) (out []string) {
	for _, call := range calls {
		out = append(out, call.Name)
	}
	return out
}
