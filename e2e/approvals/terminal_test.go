package approvals

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
)

// terminal is a conversation on the command line that a test types into.
type terminal struct {
	io.WriteCloser
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}

	mu   sync.Mutex
	text strings.Builder
}

func (x *stage) chat(thread string) *terminal {
	x.t.Helper()
	term := &terminal{t: x.t, done: make(chan struct{})}
	term.cmd = exec.Command(harness.Binary(x.t), "chat", "scripted", "--thread", thread, "--data", x.Data)
	term.cmd.Dir, term.cmd.Env = x.Home, harness.Environment(x.Home)
	term.cmd.Stdout, term.cmd.Stderr = (*output)(term), (*output)(term)
	in, err := term.cmd.StdinPipe()
	if err == nil {
		err = term.cmd.Start()
	}
	if err != nil {
		x.t.Fatal(err)
	}
	term.WriteCloser = in
	go func() {
		_ = term.cmd.Wait()
		close(term.done)
	}()
	x.t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		<-term.done
	})
	return term
}

type output terminal

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (term *terminal) shown() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.text.String()
}

func (term *terminal) typed(line string) {
	if _, err := io.WriteString(term, line+"\n"); err != nil {
		term.t.Error(err)
	}
}

// leave ends the input and waits for the command's end.
func (term *terminal) leave() {
	term.t.Helper()
	_ = term.Close()
	select {
	case <-term.done:
	case <-time.After(harness.Patience):
		term.t.Fatalf("the command does not end; it shows:\n%s", term.shown())
	}
	if code := term.cmd.ProcessState.ExitCode(); code != 0 {
		term.t.Errorf("exit code %d; it shows:\n%s", code, term.shown())
	}
}

// What is asked at a terminal can be answered elsewhere, cancelled, or met by the
// next command.
func TestAtATerminal(t *testing.T) {
	x := start(t, "")
	x.v = agui.V1
	question := func(thread string) (q engine.Request) {
		t.Helper()
		x.WaitFor("a question", func() bool {
			if x.Do("GET", harness.ThreadPath(thread, ""), nil).Status != 200 {
				return false
			}
			pending := x.Messages(thread).Pending
			if len(pending) > 0 {
				q = pending[0]
			}
			return len(pending) > 0
		})
		return q
	}
	t.Run("answered elsewhere", func(t *testing.T) {
		c := x.client()
		c.Say(one)
		q := question(c.Thread)
		term := x.chat(c.Thread)
		term.typed("say next") // meets the question first
		x.WaitFor("the question at the terminal", func() bool { return strings.Contains(term.shown(), "Always reject") })
		x.Post("/v1/requests/"+q.ID+"/resolve", map[string]any{"approved": true}, nil)
		x.WaitFor("the answer", func() bool { return strings.Contains(term.shown(), "next") })
		term.leave()
		if text := term.shown(); !strings.Contains(text, "the thread waits for an answer first") || !strings.Contains(text, "answered elsewhere") || !strings.Contains(text, "after") {
			t.Errorf("it shows:\n%s", text)
		}
		x.sound(c.Thread)
	})
	t.Run("answered here", func(t *testing.T) {
		c := x.client()
		c.Say(one)
		question(c.Thread)
		term := x.chat(c.Thread)
		term.typed("say next")
		term.typed("n")
		term.leave()
		if text := term.shown(); !strings.Contains(text, "next") {
			t.Errorf("it shows:\n%s", text)
		}
		x.wantResults(c, "reject-1")
	})
	t.Run("cancelled by Ctrl-C", func(t *testing.T) {
		c := x.client()
		c.Say(one)
		q := question(c.Thread)
		term := x.chat(c.Thread)
		term.typed("say next")
		x.WaitFor("the question at the terminal", func() bool { return strings.Contains(term.shown(), "Always reject") })
		if err := term.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if q := x.settled(q.ID); q.State != "cancelled" {
			t.Errorf("the request: %+v", q)
		}
		term.leave()
		if th := x.idle(c.Thread); th.LastRun.State != engine.RunCancelled {
			t.Errorf("the thread: %+v; it shows:\n%s", th.LastRun, term.shown())
		}
		x.sound(c.Thread)
	})
}

// An agent that does not listen when it is told to end its turn is ended, and the
// thread goes on with another.
func TestDeafAgent(t *testing.T) {
	x := start(t, "", harness.Flags("--verify"))
	x.v = agui.V1
	c := x.client()
	gate := harness.ID(t, "gate")
	run := x.Run(c.Thread, "scripted", lines("say begun", "deaf", "gate "+gate))
	x.Events(c.Thread, "").Until(harness.Is(agui.TypeTextMessageContent))
	before := x.Agents()
	var got engine.Run
	x.Post("/v1/runs/"+run.ID+"/cancel?threadId="+c.Thread, nil, &got)
	if got = x.WaitRun(c.Thread, run.ID); got.State != engine.RunCancelled {
		t.Errorf("the run: %+v", got)
	}
	x.WaitFor("the agent's end", func() bool {
		for _, pid := range x.Agents() {
			for _, old := range before {
				if pid == old {
					return false
				}
			}
		}
		return true
	})
	x.sound(c.Thread)
	x.same(c, c.Attach("", ""))
	x.goesOn(c)
}
