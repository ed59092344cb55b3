// Package join_test has both published clients join threads at every event: logs
// that are hard on purpose, fixtures, and what a real server says of the demo's
// turns.
package join_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/fixture"
	"github.com/agentstream-go/agentstream/internal/join"
	"github.com/agentstream-go/agentstream/internal/join/jointest"
)

func newRand(t testing.TB) *rand.Rand {
	seed := uint64(20261202)
	if s := os.Getenv("AGENTSTREAM_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 3))
}

func TestHardLogs(t *testing.T) {
	c := jointest.NewCrowd(t)
	r := newRand(t)
	for n := range 4 {
		c.Everywhere(fmt.Sprint("log ", n), jointest.Log(r, 1+n%3))
	}
	c.Wait()
}

// Clients that hold what they saw up to some event join at a later one.
func TestHardLogsWithHistory(t *testing.T) {
	c := jointest.NewCrowd(t)
	r := newRand(t)
	for n := range 4 {
		log := jointest.Log(r, 1+n%3)
		for i := 1; i <= len(log); i++ {
			for _, j := range []int{i, r.IntN(i + 1)} {
				had := jointest.Fold(log[:j])
				held := had.Messages()
				posted := []agui.Message{}
				for _, m := range held {
					if m.Role != agui.RoleActivity {
						posted = append(posted, m)
					}
				}
				c.Expect(jointest.Fold(log[:jointest.RunEnd(log, i)]), aguitest.Call{Messages: held, State: had.State(), Frames: jointest.Frames(jointest.At(log, i, join.Reader{}, posted))},
					"log %d, joined at %d with what was at %d", n, i, j)
			}
		}
	}
	c.Wait()
}

// Every AG-UI stream that a scenario of round gives is joined at every event.
func TestScenarios(t *testing.T) {
	c := jointest.NewCrowd(t)
	n := 0
	fixture.Each(t, "../../round/testdata", "agui", func(t *testing.T, f *fixture.File) {
		var log []agui.Event
		for _, line := range f.Lines("agui") {
			e, err := agui.Decode([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, e)
		}
		if len(log) == 0 || log[0].Type() != agui.TypeRunStarted || !log[len(log)-1].Type().Terminal() {
			t.Skip("no complete runs")
		}
		n++
		c.Everywhere(f.Name, log)
	})
	c.Wait()
	if n < 10 {
		t.Errorf("%d scenarios are too few", n)
	}
}
