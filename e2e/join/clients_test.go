// Package join_test has both published clients join threads at every event: logs
// that are hard on purpose, fixtures, and what a real server says of the demo's
// turns.
package join_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
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

func fold(events []agui.Event) *agui.List {
	l := agui.NewList()
	for _, e := range events {
		l.Apply(e)
	}
	return l
}

// runEnd is where the run ends that is open at i, or ended last.
func runEnd(log []agui.Event, i int) int {
	if i > 0 && log[i-1].Type().Terminal() {
		return i
	}
	for !log[i].Type().Terminal() {
		i++
	}
	return i + 1
}

// crowd lets many clients run at once and counts them.
type crowd struct {
	t      *testing.T
	driver *aguitest.Driver
	group  sync.WaitGroup
	places chan struct{}
	joins  atomic.Int64
}

func newCrowd(t *testing.T) *crowd {
	return &crowd{t: t, driver: aguitest.Clients(t), places: make(chan struct{}, 8)}
}

func (c *crowd) wait() {
	c.group.Wait()
	c.t.Logf("%d joins with both clients, all equal: %v", c.joins.Load(), !c.t.Failed())
}

// expect has a client of each version make a call, and holds what it has then
// against want.
func (c *crowd) expect(want *agui.List, call aguitest.Call, format string, args ...any) {
	where := fmt.Sprintf(format, args...)
	messages, state, pending := want.AppendJSON(nil), want.State(), want.Interrupts()
	c.joins.Add(1)
	for _, v := range aguitest.Versions {
		if c.t.Failed() {
			return
		}
		c.places <- struct{}{}
		c.group.Go(func() {
			defer func() { <-c.places }()
			call := call
			call.Version, call.ThreadID = v, cmp.Or(call.ThreadID, jointest.Thread)
			ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
			defer cancel()
			r, err := c.driver.Run(ctx, call)
			if err != nil {
				c.t.Errorf("%s, client %s: %v", where, v, err)
				return
			}
			if len(r.Warnings) > 0 || r.Error != "" && r.RunError == nil {
				c.t.Errorf("%s, client %s: %s %q", where, v, r.Error, r.Warnings)
			}
			if d := gocmp.Diff(parsed(c.t, messages), parsed(c.t, r.Messages)); d != "" {
				c.t.Errorf("%s, client %s, messages (-there from the start +joined):\n%s", where, v, d)
			}
			if d := gocmp.Diff(parsed(c.t, state), parsed(c.t, r.State)); state != nil && d != "" {
				c.t.Errorf("%s, client %s, state (-there from the start +joined):\n%s", where, v, d)
			}
			if d := gocmp.Diff(interrupts(c.t, pending), interrupts(c.t, r.PendingInterrupts)); d != "" && r.RunError == nil {
				c.t.Errorf("%s, client %s, interrupts (-there from the start +joined):\n%s", where, v, d)
			}
		})
	}
}

func parsed(t *testing.T, data []byte) (v any) {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Errorf("%s: %v", data, err)
	}
	return v
}

func interrupts(t *testing.T, list []agui.Interrupt) any {
	data := agui.Append(nil, &agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: list}})
	return parsed(t, data)
}

func frames(events []agui.Event) *string {
	var b bytes.Buffer
	for _, e := range events {
		b.WriteString("data: ")
		b.Write(agui.Append(nil, e))
		b.WriteString("\n\n")
	}
	s := b.String()
	return &s
}

// at gives the stream of a reader that joins at i.
func at(log []agui.Event, i int, r join.Reader, posted []agui.Message) []agui.Event {
	p := join.NewPoint(agui.NewList())
	rest := p.Advance(log[:i])
	r.Pending = fold(log[:i]).Interrupts()
	if posted != nil {
		r = p.Suit(rest, posted, r)
	}
	return append(p.Prelude(rest, r), join.Merge(log[i:runEnd(log, i)])...)
}

// everywhere has fresh clients join a log at every event, by both forms.
func (c *crowd) everywhere(name string, log []agui.Event) {
	for i := 1; i <= len(log); i++ {
		want := fold(log[:runEnd(log, i)])
		for _, f := range []join.Form{join.Replay, join.Snapshot} {
			c.expect(want, aguitest.Call{Frames: frames(at(log, i, join.Reader{Form: f}, nil))}, "%s, form %d, joined at %d", name, f, i)
		}
	}
}

func TestHardLogs(t *testing.T) {
	c := newCrowd(t)
	r := newRand(t)
	for n := range 4 {
		c.everywhere(fmt.Sprint("log ", n), jointest.Log(r, 1+n%3))
	}
	c.wait()
}

// Clients that hold what they saw up to some event join at a later one.
func TestHardLogsWithHistory(t *testing.T) {
	c := newCrowd(t)
	r := newRand(t)
	for n := range 4 {
		log := jointest.Log(r, 1+n%3)
		for i := 1; i <= len(log); i++ {
			for _, j := range []int{i, r.IntN(i + 1)} {
				had := fold(log[:j])
				held := had.Messages()
				posted := []agui.Message{}
				for _, m := range held {
					if m.Role != agui.RoleActivity {
						posted = append(posted, m)
					}
				}
				c.expect(fold(log[:runEnd(log, i)]), aguitest.Call{Messages: held, State: had.State(), Frames: frames(at(log, i, join.Reader{}, posted))},
					"log %d, joined at %d with what was at %d", n, i, j)
			}
		}
	}
	c.wait()
}

// Every AG-UI stream that a scenario of round gives is joined at every event.
func TestScenarios(t *testing.T) {
	c := newCrowd(t)
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
		c.everywhere(f.Name, log)
	})
	c.wait()
	if n < 10 {
		t.Errorf("%d scenarios are too few", n)
	}
}
