package agents_test

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/fakellm"
	"github.com/agentstream-go/agentstream/source"
)

// scenario is something that happens to agents.
type scenario struct {
	name string
	play func(*chat)
}

// talking is played with the agent as it is usually configured, in one thread, in
// this order: whatever went before, the conversation goes on.
var talking = []scenario{
	{"text", (*chat).plain},
	{"unicode", unicode},
	{"long", long},
	{"reasoning", reasoning},
	{"tool ok", toolOK},
	{"tool failed", toolFailed},
	{"parallel tools", parallel},
	{"cancel in a text", cancelText},
	{"after a cancel", (*chat).plain},
	{"cancel in a tool", cancelTool},
	{"after a cancelled tool", (*chat).plain},
	{"model error", modelError},
	{"after an error", (*chat).plain},
	{"dropped stream", dropped},
	{"something to remember", remember},
}

// asking is played with the agent in a configuration in which it asks.
var asking = []scenario{
	{"permission allowed", allowed},
	{"permission refused", refused},
	{"after a refusal", (*chat).plain},
}

// restarted is played in the thread of talking, with another process of the server.
var restarted = []scenario{{"goes on after a restart", recall}}

func (c *chat) plain() {
	t := c.say("Say hello. [[S:plain]]")
	c.finished(t)
	c.says(t, "Hello from the scripted model.")
}

// says: the answer has the words.
func (c *chat) says(t turn, words string) {
	if !strings.Contains(t.text(), words) {
		c.errorf("the answer has no %q: %q", words, t.text())
	}
}

func unicode(c *chat) {
	t := c.say("[[S:unicode]]")
	c.finished(t)
	c.says(t, "Grüße 🌍 👩‍👩‍👧‍👦 e\u0301 שלום 漢字 𝔘𝔫𝔦 a\u2028b tab\t\"quote\" \\ end")
}

func long(c *chat) {
	t := c.say("[[S:long n=300]]")
	stop := source.EndTurn
	if c.a.loops != "" {
		stop = c.a.loops
	}
	c.ended(t, engine.RunFinished, stop, "")
	if stop == source.EndTurn {
		for n := range 300 {
			c.says(t, fmt.Sprintf("%d. ", n+1))
		}
	}
}

func reasoning(c *chat) {
	t := c.say("[[S:reason]]")
	c.finished(t)
	c.says(t, "The answer is 42.")
	if thought := t.all(agui.RoleReasoning); strings.Contains(thought, "that is it.") == c.a.bare {
		c.errorf("reasoning %q", thought)
	}
}

func toolOK(c *chat) {
	path := c.write("a.txt", "quince and medlar\n")
	t := c.say("[[S:tool_ok path=" + path + "]]")
	c.finished(t)
	c.says(t, "quince and medlar") // what the model was told
	if r := t.results(); len(t.calls()) != 1 || len(r) != 1 || status(r[0]) != "completed" {
		c.errorf("calls %v, results %s", names(t.calls()), show(r))
	} else if strings.Contains(r[0].Text(), "quince and medlar") == c.a.mute {
		c.errorf("result %q", r[0].Text())
	}
}

func toolFailed(c *chat) {
	t := c.say("[[S:tool_fail path=" + c.file("a.txt") + "]]")
	c.finished(t)
	c.says(t, "That is all.")
	want := "failed"
	if c.a.lenient {
		want = "completed"
	}
	if r := t.results(); len(t.calls()) != 1 || len(r) != 1 || status(r[0]) != want {
		c.errorf("calls %v, results %s, want %s", names(t.calls()), show(r), want)
	}
}

func parallel(c *chat) {
	one, two := c.write("one.txt", "the first file\n"), c.write("two.txt", "the second file\n")
	t := c.say("[[S:parallel path=" + one + " path2=" + two + "]]")
	c.finished(t)
	c.says(t, "the first file")
	c.says(t, "the second file")
	if len(t.calls()) != 2 || len(t.results()) != 2 {
		c.errorf("calls %v, results %s", names(t.calls()), show(t.results()))
	}
}

func cancelText(c *chat) {
	call := c.prompt("[[S:slow]]")
	t := c.play(call, func() {
		c.await("the beginning of the answer", func() bool { return c.heard(call.RunID, "tick 1") })
		c.cancel()
	})
	c.ended(t, engine.RunCancelled, source.Cancelled, "")
	c.says(t, "Working.")
}

// cancelTool cancels while a command runs, and is sure that it does.
func cancelTool(c *chat) {
	mark := c.file("started")
	_ = os.Remove(mark)
	script := c.write("wait.sh", "touch "+mark+"\nsleep 60\n")
	before := c.calls()
	t := c.cancelling("[[S:shell command=sh "+script+"]]", func() bool {
		_, err := os.Stat(mark)
		return err == nil && c.calls() > before // some tell of a call after they have begun it
	})
	c.ended(t, engine.RunCancelled, source.Cancelled, "")
	if len(t.calls()) != 1 || len(t.results()) != 1 {
		c.errorf("calls %v, results %s", names(t.calls()), show(t.results()))
	}
}

// cancelling prompts, approves what is asked and cancels when the condition holds.
func (c *chat) cancelling(text string, when func() bool) turn {
	call := c.prompt(text)
	for {
		t := c.play(call, func() {
			c.await("the command, or the question for it", func() bool {
				run := c.lastRun()
				return when() || run.ID == call.RunID && !run.State.Open()
			})
			if when() {
				c.cancel()
			}
		})
		if len(t.PendingInterrupts) == 0 || len(c.problems) > 0 {
			return t
		}
		call = aguitest.Call{RunID: harness.ID(c.t, "run")}
		for _, i := range t.PendingInterrupts {
			call.Resume = append(call.Resume, c.resume(i, true))
		}
	}
}

func modelError(c *chat) {
	text := fmt.Sprintf("%s [[S:err%d]]", harness.ID(c.t, "fault"), c.a.fault)
	if c.a.hushes {
		t := c.play(c.prompt(text), func() {
			c.await("the model to be asked", func() bool {
				return slices.ContainsFunc(c.model.Requests(), func(r fakellm.Request) bool { return strings.Contains(r.Prompt, text) })
			})
			c.cancel()
		})
		c.ended(t, engine.RunCancelled, source.Cancelled, "")
		return
	}
	t := c.say(text)
	c.ended(t, engine.RunFinished, source.EndTurn, c.a.faultCode)
	if t.run.Error != nil && !strings.Contains(t.run.Error.Message, "scripted failure") {
		c.errorf("the failure does not say why: %s", t.run.Error.Message)
	}
	if c.a.faultCode == "" {
		c.says(t, "scripted failure")
	}
}

// dropped: the stream breaks once. Agents ask the model again, or give up.
func dropped(c *chat) {
	t := c.say("[[S:drop times=1]] " + harness.ID(c.t, "drop"))
	c.ended(t, engine.RunFinished, source.EndTurn, c.a.dropCode)
	if c.a.dropKeeps {
		c.says(t, "This answer will be ")
	} else if c.a.dropCode == "" {
		c.says(t, "Hello from the scripted model.")
	}
}

// secret is what the user says once and the model has to hear again.
func (c *chat) secret() string { return "marmalade-" + strings.ReplaceAll(string(c.version), ".", "-") }

func remember(c *chat) {
	t := c.say("Remember " + c.secret() + ". [[S:plain]]")
	c.finished(t)
}

func recall(c *chat) {
	text := "What was the word? [[S:plain]] " + harness.ID(c.t, "recall")
	t := c.say(text)
	c.finished(t)
	c.says(t, "Hello from the scripted model.")
	for _, r := range c.model.Requests() {
		body := string(r.Body)
		if strings.Contains(body, text) && strings.Contains(body, c.secret()) {
			return
		}
	}
	c.errorf("the model was not told what had been said before")
}

// touch makes the agent run a command that each of them asks for.
func (c *chat) touch(path string) string {
	return "[[S:shell command=touch " + path + " && rm -f " + path + ".none]]"
}

// allowed is answered as stock clients answer.
func allowed(c *chat) {
	path := c.file("allowed.txt")
	_ = os.Remove(path)
	t := c.say(c.touch(path))
	c.finished(t)
	if t.asked != 1 {
		c.errorf("it asked %d times", t.asked)
	}
	want := "completed"
	if c.a.sandboxed {
		want = "failed"
	}
	if _, err := os.Stat(path); (err == nil) == c.a.sandboxed {
		c.errorf("the file: %v", err)
	}
	if r := t.results(); len(r) != 1 || status(r[0]) != want {
		c.errorf("results %s", show(r))
	}
}

// refused is answered from elsewhere; the client repeats the answer and follows.
func refused(c *chat) {
	path := c.file("refused.txt")
	_ = os.Remove(path)
	t := c.send(c.touch(path))
	if len(t.PendingInterrupts) != 1 {
		c.errorf("it asks %d times", len(t.PendingInterrupts))
	}
	t = c.decide(t, func(i agui.Interrupt) agui.Resume {
		c.s.Post("/v1/requests/"+i.ID+"/resolve", map[string]bool{"approved": false}, nil)
		return c.resume(i, false)
	})
	if c.a.stubborn {
		c.ended(t, engine.RunCancelled, source.Cancelled, "")
	} else {
		c.finished(t)
	}
	if _, err := os.Stat(path); err == nil {
		c.errorf("it was done all the same")
	}
	if r := t.results(); len(t.calls()) != 1 || len(r) != 1 || status(r[0]) != "failed" {
		c.errorf("calls %v, results %s", names(t.calls()), show(r))
	}
}
