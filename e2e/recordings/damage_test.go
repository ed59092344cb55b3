package recordings_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/e2e/recordings/player"
	"github.com/agentstream-go/agentstream/engine"
)

// damagedSessions is how many AGENTSTREAM_DAMAGED changes.
const damagedSessions = 400

// Recorded sessions that were damaged on their way: lines are dropped, repeated,
// swapped, moved and cut, answers come early, agents die. Whatever comes of it, no
// reader gets anything invalid, unpaired or other than what is stored, and the
// thread goes on.
func TestDamaged(t *testing.T) {
	begun := group(t).begun
	count := damagedSessions
	if text := os.Getenv("AGENTSTREAM_DAMAGED"); text != "" {
		var err error
		if count, err = strconv.Atoi(text); err != nil {
			t.Fatalf("AGENTSTREAM_DAMAGED: %v", err)
		}
	}
	r := harness.Rand(t)
	sessions := make([]*session, count)
	for i := range sessions {
		rec := begun[r.IntN(len(begun))]
		sessions[i] = rec.damage(rand.New(rand.NewPCG(r.Uint64(), uint64(i))))
		sessions[i].Name, sessions[i].number = fmt.Sprintf("%d-%s", i, rec.Name), i
	}
	s := serve(t, "ask")
	var ends tally
	each(t, sessions, func(t *testing.T, rec *session) {
		d := newDriver(t, s, rec)
		d.answer = func(n int, r engine.Request) string { return d.anyhow(rec.number+7*n, r) }
		for _, prompt := range rec.Prompts {
			ends.add(class(d.say(prompt)))
		}
		d.check()
		if t.Failed() {
			rec.show(t)
		}
	})
	ends.log(t)
}

// anyhow answers a request with one of its options, or cancels the turn, as it
// comes by a number.
func (d *driver) anyhow(n int, r engine.Request) string {
	if i := n % (len(r.Options) + 1); i < len(r.Options) {
		return r.Options[i].OptionID
	}
	var now engine.Thread
	d.s.Get(harness.ThreadPath(d.thread, ""), &now)
	d.cancel(now.LastRun.ID)
	return ""
}

// show prints the script of a session that failed.
func (s *session) show(t testing.TB) {
	t.Helper()
	for _, st := range s.Steps {
		t.Logf("%s %s %.300s", st.Do, st.Method, st.Line)
	}
}

// damage gives the session with some of what is said in its turns changed.
func (s *session) damage(r *rand.Rand) *session {
	out := *s
	out.Steps = slices.Clone(s.Steps)
	for range 1 + r.IntN(4) {
		hurt(r, &out.Steps)
	}
	return &out
}

// hurt does one thing to the steps after the first prompt. Prompts stay where they
// are, and so does what waits for the client, unless nothing is there to wait for.
func hurt(r *rand.Rand, steps *[]player.Step) {
	all := *steps
	first := slices.IndexFunc(all, func(s player.Step) bool { return s.Method == player.Prompt }) + 1
	if first >= len(all) {
		return
	}
	pick := func() int { return first + r.IntN(len(all)-first) }
	i, j := pick(), pick()
	free := func(i int) bool { return all[i].Do == player.Say || all[i].Do == player.Answer }
	switch what := r.IntN(12); {
	case what < 2: // drop
		*steps = drop(all, i)
	case what < 4 && all[i].Do == player.Say: // repeat
		*steps = slices.Insert(all, j, all[i])
	case what < 6 && free(i) && free(j): // swap
		all[i], all[j] = all[j], all[i]
	case what < 8 && free(i): // move
		moved := all[i]
		all = slices.Delete(all, i, i+1)
		*steps = slices.Insert(all, min(j, len(all)), moved)
	case what < 10: // cut
		line := all[i].Line
		if all[i].Do == player.Ask {
			*steps = drop(all, i)
		} else {
			all[i].Line = line[:r.IntN(len(line)+1)]
		}
	case what < 11 && all[i].Do == player.Ask: // ask again
		again := all[i]
		again.Line = player.Renumber(again.Line, fmt.Sprintf(`"again-%d"`, r.Uint32()))
		*steps = slices.Insert(all, j, again)
	case what == 11 && r.IntN(3) == 0: // die
		*steps = slices.Insert(all, i, player.Step{Do: player.Exit})
	}
}

// drop takes a step out, and with a question the wait for its answer. Prompts are
// the client's and stay.
func drop(steps []player.Step, i int) []player.Step {
	gone := steps[i]
	if gone.Do == player.Await || gone.Do == player.Reply {
		return steps
	}
	return slices.DeleteFunc(steps, func(s player.Step) bool {
		return s == gone || gone.Do == player.Ask && s.Do == player.Reply && s.ID == gone.ID
	})
}
