package torture_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/e2e/recordings/recorded"
)

// defaultSeed is that of every run that asks for no other.
const defaultSeed = 20261214

// number reads a variable of the environment.
func number(t testing.TB, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// plan is all that is done to a server.
type plan struct {
	seed    uint64
	threads []threadPlan
	ends    []end
}

// end is one of the server: after so many runs more have begun, and so many events
// more have reached somebody.
type end struct {
	runs, events int
	kill         bool          // -9, or else SIGTERM; of an engine inside: its leases are taken, or else expire
	jump         time.Duration // of the clock inside
}

// threadPlan is what is done to one thread.
type threadPlan struct {
	n       int
	agent   string
	session *recorded.Session // that the agent plays; nil: it is the demo
	readers []readerKind
	steps   []step
}

// step is one turn, or a few that are asked for at once.
type step struct {
	words    []string // a run for each
	how      how
	answer   answering
	yes      bool // what the first device answers
	cancelAt int  // cancel whenever so many events have come, or no more come; 0: never
	deathAt  int  // kill the agent then; 0: never
	refresh  bool // the tab is loaded anew before
}

// how a step's runs are asked for.
type how string

const (
	byREST  how = "REST"
	byQueue how = "queue"    // several at once, by REST
	byTab   how = "tab"      // as a stock client does
	byTabs  how = "two tabs" // at once
)

// answering is who answers what the agent asks.
type answering string

const (
	answerREST   answering = "REST"
	answerTab    answering = "tab"
	answerSame   answering = "both the same"
	answerOther  answering = "both otherwise"
	answerCancel answering = "cancel"
	answerSteer  answering = "go on with something else"
	answerUnsaid answering = "a message that knows nothing, then REST"
	answerNobody answering = "nobody" // until it expires
)

// readerKind is a way to follow a thread.
type readerKind string

const (
	rawReader    readerKind = "raw"
	stalled      readerKind = "stalled"   // raw, and does not read for a while
	polling      readerKind = "polling"   // raw, by long polling
	following    readerKind = "following" // AG-UI over all runs
	attaching    readerKind = "attaching" // AG-UI, run by run
	refreshing   readerKind = "refreshing"
	snapshotting readerKind = "snapshotting" // refreshing, with the other prelude
)

// words of the demo, and how often they are said. Those that would take long are
// said where something ends them.
var words = []string{
	"help", "think", "markdown", "list", "read notes.txt", "write out.txt a line", "write out.txt more", "plan", "diff", "parallel",
	"parallel", "fail", "long 30", "long 300", "slow 0.2", "wait 0.3", "silent 0.1", "late", "late", "emoji", "unsafe", "image", "exec",
	"ask me", "two questions", "two questions", "subagent", "notice", "usage", "title A name", "history", "echo something", "big",
	"after", "error", "refuse", "maxtokens", "maxrequests", "die",
}

var endless = []string{"wait 600", "slow 600", "silent 600", "long 5000"}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// newPlan draws a plan of so many runs; some of its threads play recorded sessions,
// if there are any.
func newPlan(seed uint64, runs int, sessions []*recorded.Session) *plan {
	p := &plan{seed: seed}
	for planned := 0; planned < runs; {
		th := newThread(seed, len(p.threads), sessions)
		for _, s := range th.steps {
			planned += len(s.words)
		}
		p.threads = append(p.threads, th)
	}
	r := rand.New(rand.NewPCG(seed, 1<<40))
	for range runs/8 + 1 {
		p.ends = append(p.ends, end{runs: 8 + r.IntN(24), events: r.IntN(400), kill: r.IntN(4) > 0, jump: time.Duration(r.IntN(24*3600)-12*3600) * time.Second})
	}
	return p
}

func newThread(seed uint64, n int, sessions []*recorded.Session) threadPlan {
	r := rand.New(rand.NewPCG(seed, uint64(n)))
	th := threadPlan{n: n, agent: pick(r, "demo", "demo", "steady")}
	if play, which := r.IntN(3) == 0, r.Int(); play && len(sessions) > 0 {
		th.agent, th.session = "player", sessions[which%len(sessions)]
	}
	for range 1 + r.IntN(3) {
		th.readers = append(th.readers, pick(r, rawReader, stalled, polling, following, attaching, refreshing, snapshotting))
	}
	for i := range 2 + r.IntN(6) {
		s := newStep(r)
		if th.session != nil {
			if i >= len(th.session.Prompts) {
				break
			}
			s.words, s.how = []string{th.session.Prompts[i]}, pick(r, byREST, byTab)
		}
		th.steps = append(th.steps, s)
	}
	return th
}

func newStep(r *rand.Rand) step {
	s := step{
		how: pick(r, byREST, byREST, byTab, byTab, byTab, byTabs, byQueue), yes: r.IntN(3) > 0, refresh: r.IntN(4) == 0,
		answer: pick(r, answerREST, answerTab, answerTab, answerSame, answerOther, answerCancel, answerSteer, answerUnsaid, answerNobody),
	}
	turns := 1
	switch s.how {
	case byQueue:
		turns = 2 + r.IntN(2)
	case byTabs:
		turns = 2
	}
	switch r.IntN(8) {
	case 0:
		s.cancelAt = 1 + r.IntN(60)
	case 1:
		s.deathAt = 1 + r.IntN(60)
	}
	for range turns {
		var said []string
		for range 1 + r.IntN(4) {
			said = append(said, pick(r, words...))
		}
		if s.cancelAt+s.deathAt > 0 {
			said = append(said, pick(r, endless...)) // so that it is met in the turn
		}
		s.words = append(s.words, strings.Join(said, ", then "))
	}
	return s
}

// String is the thread's plan as a failure shows it.
func (th threadPlan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "thread %d of agent %s, read by %v\n", th.n, th.agent, th.readers)
	if th.session != nil {
		fmt.Fprintf(&b, "  plays %s\n", th.session.Name)
	}
	for i, s := range th.steps {
		fmt.Fprintf(&b, "  %d: %.300q by %s; answered by %s: %v", i+1, s.words, s.how, s.answer, s.yes)
		if s.cancelAt > 0 {
			fmt.Fprintf(&b, "; cancelled at %d", s.cancelAt)
		}
		if s.deathAt > 0 {
			fmt.Fprintf(&b, "; the agent is killed at %d", s.deathAt)
		}
		if s.refresh {
			b.WriteString("; after a refresh")
		}
		b.WriteByte('\n')
	}
	return b.String()
}
