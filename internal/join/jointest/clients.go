package jointest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/join"
)

// patience is how long a client may take on a loaded machine.
const patience = 2 * time.Minute

// Fold is what a client holds after events that has nothing before.
func Fold(events []agui.Event) *agui.List {
	l := agui.NewList()
	for _, e := range events {
		l.Apply(e)
	}
	return l
}

// RunEnd is where the run ends that is open at i, or ended last.
func RunEnd(log []agui.Event, i int) int {
	if i > 0 && log[i-1].Type().Terminal() {
		return i
	}
	for !log[i].Type().Terminal() {
		i++
	}
	return i + 1
}

// Crowd lets many clients run at once and counts them.
type Crowd struct {
	t      testing.TB
	driver *aguitest.Driver
	group  sync.WaitGroup
	places chan struct{}
	joins  atomic.Int64
}

// NewCrowd skips the test where the clients are not wanted.
func NewCrowd(t testing.TB) *Crowd {
	return &Crowd{t: t, driver: aguitest.Clients(t), places: make(chan struct{}, 8)}
}

// Wait returns when all have joined, and says how many.
func (c *Crowd) Wait() {
	c.group.Wait()
	c.t.Logf("%d joins with both clients, all equal: %v", c.joins.Load(), !c.t.Failed())
}

// Expect has a client of each version make a call, and holds what it has then
// against want.
func (c *Crowd) Expect(want *agui.List, call aguitest.Call, format string, args ...any) {
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
			call.Version, call.ThreadID = v, cmp.Or(call.ThreadID, Thread)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			r, err := c.driver.Run(ctx, call)
			if err != nil {
				c.t.Errorf("%s, client %s: %v", where, v, err)
				return
			}
			if len(r.Warnings) > 0 || r.Error != "" && r.RunError == nil {
				c.t.Errorf("%s, client %s: %s %q", where, v, r.Error, r.Warnings)
			}
			if d := gocmp.Diff(Read(c.t, messages), Read(c.t, r.Messages)); d != "" {
				c.t.Errorf("%s, client %s, messages (-there from the start +joined):\n%s", where, v, d)
			}
			if d := gocmp.Diff(Read(c.t, state), Read(c.t, r.State)); state != nil && d != "" {
				c.t.Errorf("%s, client %s, state (-there from the start +joined):\n%s", where, v, d)
			}
			if d := gocmp.Diff(Interrupts(c.t, pending), Interrupts(c.t, r.PendingInterrupts)); d != "" && r.RunError == nil {
				c.t.Errorf("%s, client %s, interrupts (-there from the start +joined):\n%s", where, v, d)
			}
		})
	}
}

// Read is JSON as values, nil if there is none.
func Read(t testing.TB, data []byte) (v any) {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Errorf("%s: %v", data, err)
	}
	return v
}

// Interrupts are interrupts as values.
func Interrupts(t testing.TB, list []agui.Interrupt) any {
	data := agui.Append(nil, &agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: list}})
	return Read(t, data)
}

// Frames is a response body of events.
func Frames(events []agui.Event) *string {
	var b bytes.Buffer
	for _, e := range events {
		b.WriteString("data: ")
		b.Write(agui.Append(nil, e))
		b.WriteString("\n\n")
	}
	s := b.String()
	return &s
}

// At gives the stream of a reader that joins at i.
func At(log []agui.Event, i int, r join.Reader, posted []agui.Message) []agui.Event {
	p := join.NewPoint(agui.NewList())
	rest := p.Advance(log[:i])
	r.Pending = Fold(log[:i]).Interrupts()
	if posted != nil {
		r = p.Suit(rest, posted, r)
	}
	return append(p.Prelude(rest, r), join.Merge(log[i:RunEnd(log, i)])...)
}

// Everywhere has fresh clients join a log at every event, by both forms.
func (c *Crowd) Everywhere(name string, log []agui.Event) {
	for i := 1; i <= len(log); i++ {
		want := Fold(log[:RunEnd(log, i)])
		for _, f := range []join.Form{join.Replay, join.Snapshot} {
			c.Expect(want, aguitest.Call{Frames: Frames(At(log, i, join.Reader{Form: f}, nil))}, "%s, form %d, joined at %d", name, f, i)
		}
	}
}
