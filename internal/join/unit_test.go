package join_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/join"
)

func user(id string) agui.Message {
	return agui.Message{ID: id, Role: agui.RoleUser, Content: agui.StringContent("hi")}
}

func says(id, text string, calls ...agui.ToolCall) agui.Message {
	m := agui.Message{ID: id, Role: agui.RoleAssistant, ToolCalls: calls}
	if text != "" {
		m.Content = agui.StringContent(text)
	}
	return m
}

func result(id, call, text string) agui.Message {
	return agui.Message{ID: id, Role: agui.RoleTool, ToolCallID: call, Content: agui.StringContent(text)}
}

func of(role agui.Role, id string) agui.Message {
	m := agui.Message{ID: id, Role: role, Content: agui.StringContent("x")}
	if role == agui.RoleActivity {
		m.ActivityType, m.Content = "plan", []byte(`{}`)
	}
	return m
}

var call = agui.ToolCall{ID: "c", Name: "f", Arguments: `{"a":1}`}

func TestBehind(t *testing.T) {
	stored := []agui.Message{user("u"), of(agui.RoleReasoning, "r"), says("m", "text", call), result("t", "c", "done"), of(agui.RoleActivity, "a")}
	whole := []agui.Message{user("u"), says("m", "text", call), result("t", "c", "done")}
	for name, x := range map[string]struct {
		stored, held []agui.Message
		want         bool
	}{
		"all that is posted":           {stored, whole, false},
		"and one that is not stored":   {stored, append(whole, user("typed")), false},
		"without the user's":           {stored, whole[1:], true},
		"without the text":             {stored, []agui.Message{whole[0], whole[2]}, true},
		"without the call":             {stored, []agui.Message{whole[0], says("m", "text"), whole[2]}, true},
		"without the result":           {stored, whole[:2], true},
		"with the text in part":        {stored, []agui.Message{whole[0], says("m", "te", call), whole[2]}, true},
		"with the arguments in part":   {stored, []agui.Message{whole[0], says("m", "text", agui.ToolCall{ID: "c", Arguments: `{"a`}), whole[2]}, true},
		"with arguments written anew":  {stored, []agui.Message{whole[0], says("m", "text", agui.ToolCall{ID: "c", Arguments: `{ "a": 1 }`}), whole[2]}, false},
		"with the result under its id": {stored, []agui.Message{whole[0], whole[1], result("own", "c", "done")}, false},
		"with a result of its own":     {stored, []agui.Message{whole[0], whole[1], result("own", "c", `{"approved":true}`)}, true},
		"with a result that lacks":     {stored[:3], []agui.Message{whole[0], whole[1], result("own", "c", `{"approved":true}`)}, true},
		"a call that has no result":    {stored[:3], whole[:2], false},
		"a message of calls alone":     {[]agui.Message{says("p", "", call)}, []agui.Message{says("other", "", call)}, false},
	} {
		if got := join.Behind(x.stored, x.held); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestReorders(t *testing.T) {
	r, a := of(agui.RoleReasoning, "r"), of(agui.RoleActivity, "a")
	for name, x := range map[string]struct {
		stored, held []agui.Message
		want         bool
	}{
		"all in order":                             {[]agui.Message{user("u"), says("m", "x")}, []agui.Message{user("u"), says("m", "x")}, false},
		"nothing":                                  {[]agui.Message{user("u"), a, says("m", "x")}, nil, false},
		"nothing that is stored":                   {[]agui.Message{user("u"), a}, []agui.Message{user("v")}, false},
		"the end lacks":                            {[]agui.Message{user("u"), says("m", "x"), user("v")}, []agui.Message{user("u")}, false},
		"the middle lacks":                         {[]agui.Message{user("u"), says("m", "x"), user("v")}, []agui.Message{user("u"), user("v")}, true},
		"another order":                            {[]agui.Message{user("u"), user("v")}, []agui.Message{user("v"), user("u")}, true},
		"an activity at the end":                   {[]agui.Message{user("u"), a}, []agui.Message{user("u")}, false},
		"an activity, if it is not held":           {[]agui.Message{user("u"), a, says("m", "x")}, []agui.Message{user("u"), says("m", "x")}, true},
		"something lacks, if the activity is held": {[]agui.Message{user("u"), says("m", "x"), a}, []agui.Message{user("u")}, true},
		"reasoning is posted":                      {[]agui.Message{user("u"), r, says("m", "x")}, []agui.Message{user("u"), r, says("m", "x")}, false},
		"reasoning is never posted":                {[]agui.Message{user("u"), r, says("m", "x")}, []agui.Message{user("u"), says("m", "x")}, true},
		"either of both may be held":               {[]agui.Message{user("u"), r, a}, []agui.Message{user("u")}, true},
	} {
		if got := join.Reorders(x.stored, x.held); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSnapshotsThatReorder(t *testing.T) {
	list := agui.NewList()
	list.Add(user("u"), of(agui.RoleReasoning, "r"), says("m", "x"), of(agui.RoleActivity, "a"), user("v"))
	news := join.Reconcile(list, []agui.Message{user("u"), user("v")}, 0)
	if len(news) != 2 || len(news[0].(*agui.MessagesSnapshot).Messages) != 2 || len(news[1].(*agui.MessagesSnapshot).Messages) != 5 {
		t.Fatalf("%+v", news)
	}
	client := agui.NewList()
	client.Add(of(agui.RoleActivity, "a"), user("v"), of(agui.RoleReasoning, "old"), user("u"))
	for _, e := range news {
		client.Apply(e)
	}
	if got, want := client.AppendJSON(nil), list.AppendJSON(nil); !bytes.Equal(got, want) {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestNothingToJoin(t *testing.T) {
	p := join.NewPoint(agui.NewList())
	if rest := p.Advance(nil); len(rest) != 0 || len(p.Prelude(rest, join.Reader{})) != 0 {
		t.Error("a thread without a run has a prelude")
	}
	if p.Holds(nil, []agui.Message{user("u"), {}}) {
		t.Error("somebody holds something of no run")
	}
}

// A version is only told to a reader that named one, and an interrupt says what
// waits now.
func TestPreludeIsForTheReader(t *testing.T) {
	list := agui.NewList()
	end := &agui.RunFinished{ThreadID: "t", RunID: "r", Outcome: &agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: []agui.Interrupt{{ID: "old"}}}}
	p := join.Ended(list, &agui.RunStarted{ThreadID: "t", RunID: "r"}, end)
	none := p.Prelude(nil, join.Reader{})
	if none[0].(*agui.RunStarted).ProtocolVersion != "" || none[len(none)-1].(*agui.RunFinished).Outcome != nil {
		t.Errorf("%+v", none)
	}
	one := p.Prelude(nil, join.Reader{Version: "1.0.0", Pending: []agui.Interrupt{{ID: "new"}}})
	if one[0].(*agui.RunStarted).ProtocolVersion != agui.ProtocolVersion || one[len(one)-1].(*agui.RunFinished).Outcome.Interrupts[0].ID != "new" {
		t.Errorf("%+v", one)
	}
	if end.Outcome.Interrupts[0].ID != "old" {
		t.Error("the log's event was changed")
	}
}

func TestDeltasThatDoNotMerge(t *testing.T) {
	text := func(id, more string) []byte {
		return []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"` + id + `","delta":"x"` + more + `}`)
	}
	var d join.Deltas
	if d.Add(text("m", "")) {
		t.Error("nothing was there to go on with")
	}
	for name, e := range map[string][]byte{
		"a start":        []byte(`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`),
		"metadata":       text("m", `,"metadata":{"a":1}`),
		"a time":         text("m", `,"timestamp":1`),
		"a tag and more": text("m", `,"subagentRunId":"s","metadata":{}`),
		"cut":            []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x\`),
		"none":           []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m"}`),
	} {
		if d.Begin(e) {
			t.Errorf("%s: taken", name)
		}
	}
	if !d.Begin(text("m", "")) || d.Add(text("n", "")) || d.Add(text("m", `,"subagentRunId":"s"`)) || !d.Add(text("m", "")) {
		t.Error("not as it should be")
	}
	if got, want := string(d.Event()), `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"xx"}`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	n := 0
	for d.Begin(text("m", "")); d.Add(text("m", "")); n++ {
	}
	if n < 1000 || n > 64<<10 {
		t.Errorf("%d merged", n)
	}
}

func FuzzDeltas(f *testing.F) {
	f.Add(`a"\`, "b\u2028", "m", "s")
	f.Add(`","delta":"`, `"}`, `m","delta":"`, "")
	f.Fuzz(func(t *testing.T, a, b, id, owner string) {
		event := func(text string) []byte {
			return agui.Append(nil, &agui.ToolCallArgs{Base: agui.Base{SubagentRunID: owner}, ToolCallID: id, Delta: text})
		}
		var d join.Deltas
		if !d.Begin(event(a)) || !d.Add(event(b)) {
			if strings.Trim(id+owner, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" {
				return // what bears an id that no server makes may go unmerged
			}
			t.Fatalf("%s and %s do not merge", event(a), event(b))
		}
		got, err := agui.Decode(d.Event())
		if err != nil {
			t.Fatalf("%s: %v", d.Event(), err)
		}
		one, _ := agui.Decode(event(a))
		two, _ := agui.Decode(event(b))
		if want := one.(*agui.ToolCallArgs).Delta + two.(*agui.ToolCallArgs).Delta; got.(*agui.ToolCallArgs).Delta != want {
			t.Errorf("%+v, want %q", got, want)
		}
		d.Begin([]byte(a)) // what is no event at all must not harm
		d.Add([]byte(b))
	})
}

// long is a thread of finished runs and one that has said a lot.
func long(runs, deltas int) (log []agui.Event) {
	for n := range runs {
		id := fmt.Sprint("r", n)
		log = append(log, &agui.RunStarted{ThreadID: "t", RunID: id, Input: &agui.Input{ThreadID: "t", RunID: id, Messages: []agui.Message{user("u" + id)}}},
			&agui.TextMessageStart{MessageID: "m" + id})
		for range deltas {
			log = append(log, &agui.TextMessageContent{MessageID: "m" + id, Delta: "some words "})
		}
		if n < runs-1 {
			log = append(log, &agui.TextMessageEnd{MessageID: "m" + id}, &agui.RunFinished{ThreadID: "t", RunID: id})
		}
	}
	return log
}

func BenchmarkPrelude(b *testing.B) {
	p := join.NewPoint(agui.NewList())
	rest := p.Advance(long(300, 30))
	for _, f := range []join.Form{join.Replay, join.Snapshot} {
		b.Run([]string{"replay", "snapshot"}[f], func(b *testing.B) {
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf = buf[:0]
				for _, e := range p.Prelude(rest, join.Reader{Form: f}) {
					buf = agui.Append(buf, e)
				}
			}
			b.SetBytes(int64(len(buf)))
		})
	}
}

func BenchmarkDeltas(b *testing.B) {
	event := agui.Append(nil, &agui.TextMessageContent{MessageID: "m", Delta: "some words "})
	var d join.Deltas
	b.ReportAllocs()
	for b.Loop() {
		if !d.Add(event) {
			d.Begin(event)
		}
	}
}

func ExamplePoint_Prelude() {
	p := join.NewPoint(agui.NewList())
	rest := p.Advance(long(2, 3))
	for _, e := range p.Prelude(rest, join.Reader{Form: join.Replay}) {
		fmt.Println(e.Type())
	}
	// Output:
	// RUN_STARTED
	// MESSAGES_SNAPSHOT
	// TEXT_MESSAGE_START
	// TEXT_MESSAGE_CONTENT
}

func ExampleNewPoint() {
	p := join.NewPoint(agui.NewList())
	p.Apply(&agui.RunStarted{ThreadID: "t", RunID: "r"}, &agui.ToolCallStart{ToolCallID: "c", ToolCallName: "read"}, &agui.ToolCallArgs{ToolCallID: "c", Delta: `{"pa`})
	for _, e := range p.Prelude(nil, join.Reader{Form: join.Snapshot}) {
		fmt.Printf("%s\n", agui.Append(nil, e))
	}
	// Output:
	// {"type":"RUN_STARTED","threadId":"t","runId":"r"}
	// {"type":"MESSAGES_SNAPSHOT","messages":[{"id":"c","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"read","arguments":""}}]}]}
	// {"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"read"}
	// {"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"pa"}
}

func ExampleEnded() {
	list := agui.NewList()
	list.Add(agui.Message{ID: "u", Role: agui.RoleUser, Content: agui.StringContent("Hello.")})
	p := join.Ended(list, &agui.RunStarted{ThreadID: "t", RunID: "r"}, &agui.RunError{Message: "The agent has gone."})
	for _, e := range p.Prelude(nil, join.Reader{}) {
		fmt.Println(e.Type())
	}
	// Output:
	// RUN_STARTED
	// MESSAGES_SNAPSHOT
	// RUN_ERROR
}

// TestLongTextsInPieces: an open text of two mebibytes and a half does not come as
// one event, and no character of it is cut.
func TestLongTextsInPieces(t *testing.T) {
	chunk := strings.Repeat("žluťoučký kůň ", 4000)
	start := []agui.Event{&agui.RunStarted{ThreadID: "t", RunID: "r"}, &agui.TextMessageStart{MessageID: "m", Role: agui.RoleAssistant}}
	events, want := start, ""
	for range 30 {
		events, want = append(events, &agui.TextMessageContent{MessageID: "m", Delta: chunk}), want+chunk
	}
	for _, form := range []join.Form{join.Replay, join.Snapshot} {
		p := join.NewPoint(agui.NewList())
		rest := p.Advance(events)
		got, pieces := "", 0
		for _, e := range p.Prelude(rest, join.Reader{Form: form}) {
			if c, ok := e.(*agui.TextMessageContent); ok {
				if !utf8.ValidString(c.Delta) || len(c.Delta) > 600<<10 {
					t.Errorf("form %d: a piece of %d bytes, or it is cut in a character", form, len(c.Delta))
				}
				got, pieces = got+c.Delta, pieces+1
			}
		}
		if got != want || pieces < 4 || pieces > 6 {
			t.Errorf("form %d: %d bytes of %d in %d pieces", form, len(got), len(want), pieces)
		}
	}
}
