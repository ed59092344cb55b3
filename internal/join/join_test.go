package join_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/join"
	"github.com/agentstream-go/agentstream/internal/join/jointest"
)

func newRand(t testing.TB) *rand.Rand {
	seed := uint64(20261201)
	if s := os.Getenv("AGENTSTREAM_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 2))
}

// logs gives the same random logs each time.
func logs(t testing.TB, n int) (out [][]agui.Event) {
	r := newRand(t)
	for i := range n {
		out = append(out, jointest.Log(r, 1+i%4))
	}
	return out
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

// after is what somebody holds at the end of a run who was there from the start.
// A failed run leaves such a client with the interrupts before it, which nobody
// needs who comes later.
func after(log []agui.Event, end int) *agui.List {
	l := fold(log[:end])
	if log[end-1].Type() == agui.TypeRunError {
		l.Apply(&agui.RunFinished{})
	}
	return l
}

// take gives a stream to a client that holds list, and says what is wrong with it.
func take(list *agui.List, stream ...agui.Event) error {
	verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
	for i, e := range stream {
		data := agui.Append(nil, e)
		for _, v := range verifiers {
			if err := v.CheckJSON(data); err != nil {
				return fmt.Errorf("event %d, %s: %w", i, data, err)
			}
		}
		list.Apply(e)
	}
	for _, v := range verifiers {
		if err := v.End(); err != nil {
			return err
		}
	}
	return nil
}

// held is all that a client has.
func held(l *agui.List) []string {
	out := []string{"state " + string(l.State())}
	for _, i := range l.Interrupts() {
		out = append(out, "interrupt "+i.ID)
	}
	for _, m := range l.Messages() {
		data, err := m.MarshalJSON()
		if err != nil {
			panic(err)
		}
		out = append(out, string(data))
	}
	return out
}

func equal(t *testing.T, want, got *agui.List, format string, args ...any) {
	t.Helper()
	if bytes.Equal(want.AppendJSON(nil), got.AppendJSON(nil)) && bytes.Equal(want.State(), got.State()) &&
		slices.EqualFunc(want.Interrupts(), got.Interrupts(), func(a, b agui.Interrupt) bool { return a.ID == b.ID }) {
		return
	}
	if d := cmp.Diff(held(want), held(got)); d != "" {
		t.Fatalf(format+" (-there from the start +joined):\n%s", append(args, d)...)
	}
}

// prelude joins at i, from a point that somebody left at from.
func prelude(log []agui.Event, from, i int, r join.Reader, posted []agui.Message) []agui.Event {
	p := join.NewPoint(agui.NewList())
	p.Advance(log[:from])
	var rest []agui.Event
	if from > 0 {
		// What Advance left is read again, as it would be from the log.
		q := join.NewPoint(agui.NewList())
		rest = q.Advance(log[:from])
	}
	rest = p.Advance(append(slices.Clone(rest), log[from:i]...))
	if posted != nil {
		r = p.Suit(rest, posted, r)
	}
	return p.Prelude(rest, r)
}

func reader(f join.Form, log []agui.Event, i int) join.Reader {
	return join.Reader{Form: f, Pending: fold(log[:i]).Interrupts()}
}

func TestFreshReaderAtEveryEvent(t *testing.T) {
	joins := 0
	for n, log := range logs(t, 8) {
		for i := 1; i <= len(log); i++ {
			end := runEnd(log, i)
			want := after(log, end)
			for _, f := range []join.Form{join.Replay, join.Snapshot} {
				for _, from := range []int{0, i * 2 / 3} {
					got := agui.NewList()
					stream := append(prelude(log, from, i, reader(f, log, i), nil), log[i:end]...)
					if err := take(got, stream...); err != nil {
						t.Fatalf("log %d, form %d, joined at %d from %d: %v", n, f, i, from, err)
					}
					equal(t, want, got, "log %d, form %d, joined at %d from %d", n, f, i, from)
					joins++
				}
			}
		}
	}
	t.Logf("%d joins", joins)
}

// A reader that follows sees the later runs in the same stream.
func TestFollowerAtEveryEvent(t *testing.T) {
	for n, log := range logs(t, 4) {
		want := after(log, len(log))
		for i := 1; i < len(log); i++ {
			got := agui.NewList()
			stream := append(prelude(log, 0, i, reader(join.Replay, log, i), nil), log[i:]...)
			if err := take(got, stream...); err != nil {
				t.Fatalf("log %d, joined at %d: %v", n, i, err)
			}
			equal(t, want, got, "log %d, joined at %d", n, i)
		}
	}
}

// without is what a client has that keeps no messages of some roles.
func without(l *agui.List, roles ...agui.Role) *agui.List {
	kept := agui.NewList()
	kept.SetState(l.State())
	for _, m := range l.Messages() {
		if !slices.Contains(roles, m.Role) {
			kept.Add(m)
		}
	}
	return kept
}

// posts is what a client posts of what it has.
func posts(l *agui.List, unsaid ...agui.Role) []agui.Message {
	return without(l, append(unsaid, agui.RoleActivity)...).Messages()
}

// A client that holds what it saw up to any earlier event, whatever it keeps of
// that and says of it, joins by a post at any later one.
func TestReaderWithHistory(t *testing.T) {
	joins, r := 0, newRand(t)
	for n, log := range logs(t, 4) {
		for i := 1; i <= len(log); i++ {
			end := runEnd(log, i)
			for _, j := range []int{i, max(0, i-1-r.IntN(4)), r.IntN(i + 1)} {
				want, all := fold(log[:end]), fold(log[:j])
				for which, client := range []*agui.List{all, without(all, agui.RoleActivity), all} {
					posted := posts(client)
					if which == 2 {
						posted = posts(client, agui.RoleReasoning)
						if hasOnly(client, posted, log, i) {
							continue
						}
					}
					got := client.Clone()
					got.SetState(client.State())
					stream := append(prelude(log, 0, i, reader(join.Replay, log, i), posted), log[i:end]...)
					if err := take(got, stream...); err != nil {
						t.Fatalf("log %d, joined at %d with what was at %d (%d): %v", n, i, j, which, err)
					}
					equal(t, want, got, "log %d, joined at %d with what was at %d (%d)", n, i, j, which)
					joins++
				}
			}
		}
	}
	t.Logf("%d joins", joins)
}

// hasOnly reports whether a client holds of the run that is open at i nothing but
// what it does not post: nobody can know that.
func hasOnly(client *agui.List, posted []agui.Message, log []agui.Event, i int) bool {
	start := i - 1
	for log[start].Type() != agui.TypeRunStarted {
		start--
	}
	before := map[string]bool{}
	for _, m := range fold(log[:start+1]).Messages() {
		before[m.ID] = true
	}
	for _, m := range posted {
		if !before[m.ID] {
			return false
		}
	}
	return slices.ContainsFunc(client.Messages(), func(m agui.Message) bool { return !before[m.ID] })
}

// A reader with a cursor gets what came after it, merged: decoded or encoded.
func TestReaderWithCursor(t *testing.T) {
	for n, log := range logs(t, 8) {
		for i := range log {
			end := runEnd(log, i)
			want := fold(log[:end])
			got := fold(log[:i])
			for _, e := range join.Merge(log[i:end]) {
				got.Apply(e)
			}
			equal(t, want, got, "log %d, merged from %d", n, i)
		}
		encoded := [][]byte{}
		var d join.Deltas
		taken := false
		for _, e := range log {
			data := agui.Append(nil, e)
			if taken && d.Add(data) {
				encoded[len(encoded)-1] = d.Event()
				continue
			}
			taken = d.Begin(data)
			encoded = append(encoded, data)
		}
		var want []string
		for _, e := range join.Merge(log) {
			want = append(want, string(agui.Append(nil, e)))
		}
		var got []string
		for _, data := range encoded {
			got = append(got, string(data))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("log %d (-decoded +encoded):\n%s", n, d)
		}
	}
}

// A poster that was away since any earlier event starts the next run.
func TestPosterIsBehind(t *testing.T) {
	behind, current := 0, 0
	for n, log := range logs(t, 6) {
		for start, e := range log {
			if e.Type() != agui.TypeRunStarted || start == 0 {
				continue
			}
			end := runEnd(log, start+1)
			for j := start % 2; j <= start; j += 2 {
				client := fold(log[:j])
				client.Add(e.(*agui.RunStarted).Input.Messages...)
				news := join.Reconcile(fold(log[:start+1]), posts(client), 0)
				stream := append(append([]agui.Event{e}, news...), log[start+1:end]...)
				got := client.Clone()
				if err := take(got, stream...); err != nil {
					t.Fatalf("log %d, run at %d, away since %d: %v", n, start, j, err)
				}
				want := fold(log[:end])
				if len(news) == 0 {
					current++
					// It may lack what nobody has to post.
					want, got = without(want, agui.RoleReasoning, agui.RoleActivity), without(got, agui.RoleReasoning, agui.RoleActivity)
				} else {
					behind++
				}
				want.SetState(nil)
				got.SetState(nil)
				if d := cmp.Diff(held(want), held(got)); d != "" {
					t.Fatalf("log %d, run at %d, away since %d:\n%s", n, start, j, d)
				}
				if j == start && len(news) > 0 {
					t.Fatalf("log %d, run at %d: a poster that was there is behind", n, start)
				}
			}
		}
	}
	t.Logf("%d behind, %d not", behind, current)
}
