package join_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/join"
)

// calling is an assistant's message with calls.
func calling(id string, calls ...string) agui.Message {
	m := agui.Message{ID: id, Role: agui.RoleAssistant}
	for _, c := range calls {
		m.ToolCalls = append(m.ToolCalls, agui.ToolCall{ID: c, Name: "tool", Arguments: "{}"})
	}
	return m
}

func answered(callID string) agui.Message {
	return agui.Message{ID: "result-" + callID, Role: agui.RoleTool, ToolCallID: callID, Content: agui.StringContent("done")}
}

func ids(messages []agui.Message) (out string) {
	for _, m := range messages {
		out += " " + m.ID
	}
	return strings.TrimSpace(out)
}

// sent gives the messages of a stream's last snapshot, and from where to page back.
func sent(events []agui.Event) (messages []agui.Message, before string) {
	for _, e := range events {
		switch e := e.(type) {
		case *agui.MessagesSnapshot:
			messages = e.Messages
		case *agui.Custom:
			if e.Name == "agentstream.window" {
				before = string(e.Value)
			}
		}
	}
	return messages, before
}

func TestWindow(t *testing.T) {
	open := []agui.Event{&agui.RunStarted{ThreadID: "t", RunID: "r"}}
	for name, x := range map[string]struct {
		list   []agui.Message
		n      int
		events []agui.Event
		want   string
		before string
	}{
		"all":                    {[]agui.Message{user("a"), says("b", "x")}, 0, open, "a b", ""},
		"no more than there are": {[]agui.Message{user("a"), says("b", "x")}, 2, open, "a b", ""},
		"the last ones":          {[]agui.Message{user("a"), says("b", "x"), user("c")}, 2, open, "b c", `{"before":"b"}`},
		"a result has its owner": {[]agui.Message{user("a"), calling("b", "1", "2"), answered("1"), answered("2"), user("c")}, 2, open, "b result-1 result-2 c", `{"before":"b"}`},
		"a call that waits":      {[]agui.Message{calling("b", "1", "2"), answered("2"), says("x", "x"), user("c")}, 1, open, "b result-2 c", `{"before":"c"}`},
		"the turn's plan": {[]agui.Message{of(agui.RoleActivity, "old"), user("a"), of(agui.RoleActivity, "plan"), says("x", "x"), says("y", "y")}, 1, open,
			"plan y", `{"before":"y"}`},
		"nothing is left out": {[]agui.Message{calling("b", "1"), says("y", "y")}, 1, open, "b y", ""},
		"what is open": {[]agui.Message{user("a")}, 1, append(slices.Clone(open), &agui.TextMessageStart{MessageID: "m", Role: agui.RoleAssistant},
			&agui.ToolCallStart{ToolCallID: "1", ToolCallName: "tool", ParentMessageID: "p"}, &agui.ReasoningMessageStart{MessageID: "th"}, &agui.ActivitySnapshot{MessageID: "n", ActivityType: "notice", Content: []byte(`{}`)}),
			"m p th n", `{"before":"n"}`},
		"the text that calls may join": {[]agui.Message{user("a")}, 1, append(slices.Clone(open), &agui.TextMessageStart{MessageID: "m", Role: agui.RoleAssistant}, &agui.TextMessageContent{MessageID: "m", Delta: "x"},
			&agui.TextMessageEnd{MessageID: "m"}, &agui.ReasoningMessageStart{MessageID: "th"}, &agui.ReasoningMessageEnd{MessageID: "th"}),
			"m th", `{"before":"th"}`},
	} {
		list := agui.NewList()
		list.Add(x.list...)
		p := join.NewPoint(list)
		p.Apply(x.events...)
		got, before := sent(p.Prelude(nil, join.Reader{Form: join.Snapshot, Window: x.n}))
		if ids(got) != x.want || before != x.before {
			t.Errorf("%s: %s, before %s; want %s, before %s", name, ids(got), before, x.want, x.before)
		}
	}
}

// restricted is what a client has at last that holds only some of the messages of
// one that was there from the start.
func restricted(full, to *agui.List) (out []string) {
	has := map[string]bool{}
	for _, m := range to.Messages() {
		has[m.ID] = true
	}
	all := held(full)
	n := len(all) - full.Len()
	out = append(out, all[:n]...)
	for i, m := range full.Messages() {
		if has[m.ID] {
			out = append(out, all[n+i])
		}
	}
	return out
}

func has(l *agui.List, id string) bool {
	return slices.ContainsFunc(l.Messages(), func(m agui.Message) bool { return m.ID == id })
}

// lacks names a message of the last n at the join, or a later one, that the
// client does not have.
func lacks(atJoin, atEnd, got *agui.List, n int) string {
	has := map[string]bool{}
	for _, m := range got.Messages() {
		has[m.ID] = true
	}
	old := atJoin.Messages()
	before := map[string]bool{}
	for _, m := range old[:max(0, len(old)-n)] {
		before[m.ID] = true
	}
	for _, m := range atEnd.Messages() {
		if !before[m.ID] && !has[m.ID] {
			return m.ID
		}
	}
	return ""
}

// old reports whether events change an activity that the client was not told of;
// only made logs change one of an earlier turn.
func old(events []agui.Event, client *agui.List) bool {
	has := map[string]bool{}
	for _, m := range client.Messages() {
		has[m.ID] = true
	}
	made := map[string]bool{}
	for _, e := range events {
		switch e := e.(type) {
		case *agui.ActivityDelta:
			if !has[e.MessageID] && !made[e.MessageID] {
				return true
			}
		case *agui.ActivitySnapshot:
			made[e.MessageID] = true
		}
	}
	return false
}

// renewed reports whether events restate an activity that the client was not told
// of, which comes last there.
func renewed(events []agui.Event, before, client *agui.List) bool {
	had, has := map[string]bool{}, map[string]bool{}
	for _, m := range before.Messages() {
		had[m.ID] = true
	}
	for _, m := range client.Messages() {
		has[m.ID] = true
	}
	return slices.ContainsFunc(events, func(e agui.Event) bool {
		a, ok := e.(*agui.ActivitySnapshot)
		return ok && had[a.MessageID] && !has[a.MessageID]
	})
}

// A reader that wants the last messages alone joins at every event and ends with
// the end of the list.
func TestWindowAtEveryEvent(t *testing.T) {
	joins, left := 0, 0
	for n, log := range logs(t, 6) {
		for i := 1; i <= len(log); i++ {
			end := runEnd(log, i)
			full, want := fold(log[:i]), after(log, end)
			for _, f := range []join.Form{join.Replay, join.Snapshot} {
				for _, size := range []int{1, 5, 20} {
					where := fmt.Sprintf("log %d, form %d, the last %d, joined at %d", n, f, size, i)
					r := reader(f, log, i)
					r.Window = size
					start := prelude(log, 0, i, r, nil)
					messages, _ := sent(start)
					joined := agui.NewList()
					joined.Add(messages...)
					tail := slices.Concat(start, log[i:end])
					if old(tail, joined) || renewed(tail, full, joined) {
						continue
					}
					got := agui.NewList()
					if err := take(got, tail...); err != nil {
						t.Fatalf("%s: %v", where, err)
					}
					if d := cmp.Diff(restricted(want, got), held(got)); d != "" {
						t.Fatalf("%s (-there from the start +joined):\n%s", where, d)
					}
					if id := lacks(full, want, got, size); id != "" {
						t.Fatalf("%s: %s is missing", where, id)
					}
					joins++
					left += want.Len() - got.Len()
				}
			}
		}
	}
	if left == 0 {
		t.Error("nothing was ever left out")
	}
	t.Logf("%d joins, %d messages left out", joins, left)
}

// A client that always asks for the last ones holds what it was told when it
// joined, and what came since. It joins again by a post.
func TestWindowWithHistory(t *testing.T) {
	joins, r := 0, newRand(t)
	for n, log := range logs(t, 4) {
		for i := 1; i <= len(log); i++ {
			end := runEnd(log, i)
			j, size := 1+r.IntN(i), 1+r.IntN(12)
			left := j + r.IntN(i-j+1)
			where := fmt.Sprintf("log %d, the last %d, joined at %d, left at %d, joined again at %d", n, size, j, left, i)
			first := reader(join.Replay, log, j)
			first.Window = size
			client := agui.NewList()
			for _, e := range slices.Concat(prelude(log, 0, j, first, nil), log[j:left]) {
				client.Apply(e)
			}
			again := reader(join.Replay, log, i)
			again.Window = size
			start := prelude(log, 0, i, again, posts(client))
			messages, _ := sent(start)
			told, got := agui.NewList(), client.Clone()
			told.Add(messages...)
			tail := slices.Concat(start, log[i:end])
			if old(tail, told) || renewed(tail, fold(log[:i]), told) {
				continue
			}
			if err := take(got, tail...); err != nil {
				t.Fatalf("%s: %v", where, err)
			}
			want := after(log, end)
			if d := cmp.Diff(restricted(want, got), held(got)); d != "" {
				t.Fatalf("%s (-there from the start +joined):\n%s", where, d)
			}
			if id := lacks(fold(log[:i]), want, got, size); id != "" {
				t.Fatalf("%s: %s is missing", where, id)
			}
			joins++
		}
	}
	t.Logf("%d joins", joins)
}

// A poster that holds a window starts the next run: only what it lacks of the last
// messages makes it behind.
func TestWindowedPosterIsBehind(t *testing.T) {
	behind, current, r := 0, 0, newRand(t)
	for n, log := range logs(t, 8) {
		for start, e := range log {
			if e.Type() != agui.TypeRunStarted || start == 0 {
				continue
			}
			end := runEnd(log, start+1)
			for _, away := range []int{0, 1, 2 + r.IntN(start+1)} {
				left := max(1, start-away)
				j, size := 1+r.IntN(left), 1+r.IntN(8)
				where := fmt.Sprintf("log %d, run at %d, the last %d as of %d, away since %d", n, start, size, j, left)
				first := reader(join.Snapshot, log, j)
				first.Window = size
				client := agui.NewList()
				for _, e := range slices.Concat(prelude(log, 0, j, first, nil), log[j:left]) {
					client.Apply(e)
				}
				client.Add(e.(*agui.RunStarted).Input.Messages...)
				news := join.Reconcile(fold(log[:start+1]), posts(client), size)
				stream := slices.Concat([]agui.Event{e}, news, log[start+1:end])
				got, told := client.Clone(), client
				if len(news) > 0 {
					messages, _ := sent(news)
					told = agui.NewList()
					told.Add(messages...)
					behind++
				} else {
					current++
				}
				if old(stream, told) || renewed(stream, fold(log[:start+1]), told) {
					continue
				}
				if err := take(got, stream...); err != nil {
					t.Fatalf("%s: %v", where, err)
				}
				want := fold(log[:end])
				if log[end-1].Type() == agui.TypeRunError { // keeps what waited before it, for whoever knew
					want.Apply(&agui.RunFinished{})
					got.Apply(&agui.RunFinished{})
				}
				want.SetState(nil)
				got.SetState(nil)
				if len(news) == 0 { // it may lack what nobody has to post
					want, got = without(want, agui.RoleReasoning, agui.RoleActivity), without(got, agui.RoleReasoning, agui.RoleActivity)
				}
				if d := cmp.Diff(restricted(want, got), held(got)); d != "" {
					t.Fatalf("%s (-there from the start +poster):\n%s", where, d)
				}
				spoken := without(fold(log[:end]), agui.RoleReasoning, agui.RoleActivity)
				full := fold(log[:start+1]).Messages()
				for _, m := range full[max(0, len(full)-size):] {
					if !slices.Contains([]agui.Role{agui.RoleReasoning, agui.RoleActivity}, m.Role) && !has(got, m.ID) && has(spoken, m.ID) {
						t.Fatalf("%s: %s is missing", where, m.ID)
					}
				}
			}
		}
	}
	if behind == 0 || current == 0 {
		t.Errorf("%d behind, %d not", behind, current)
	}
}
