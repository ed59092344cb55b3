package round

import (
	"bytes"
	"encoding/gob"
	"testing"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

func TestInfoOfOtherMessages(t *testing.T) {
	for name, m := range map[string]*schema.Message{
		"nil":       nil,
		"foreign":   schema.AssistantMessage("Hi", nil),
		"no string": {Role: schema.Tool, Extra: map[string]any{ExtraKey: 7}},
		"no JSON":   {Role: schema.Tool, Extra: map[string]any{ExtraKey: "{"}},
	} {
		if info, ok := InfoOf(m); ok {
			t.Errorf("%s: %+v", name, info)
		}
	}
}

// TestInfoSurvivesGob: what stands in Extra is a string, because gob refuses
// maps there and JSON makes floats of integers.
func TestInfoSurvivesGob(t *testing.T) {
	for _, m := range conversation(t) {
		var b bytes.Buffer
		var back schema.Message
		if err := gob.NewEncoder(&b).Encode(m); err != nil {
			t.Fatal(err)
		}
		if err := gob.NewDecoder(&b).Decode(&back); err != nil {
			t.Fatal(err)
		}
		want, _ := InfoOf(m)
		got, _ := InfoOf(&back)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
	}
}

func TestUsageAndIDs(t *testing.T) {
	b := NewBuilder(Config{Prefix: testPrefix, FirstRound: 5})
	if b.Usage() != nil || b.NextRound() != 5 {
		t.Errorf("a new turn has used %v and its next round is %d", b.Usage(), b.NextRound())
	}
	if !agentstream.Send(b, agentstream.Usage{Turn: []agentstream.ModelUsage{{Provider: "p", Model: "m", Input: 3, Output: -1, Total: 3, CachedRead: 2}}}) {
		t.Error("usage was not taken")
	}
	want := []agui.TokenUsage{{Provider: "p", Model: "m", InputTokens: 3, TotalTokens: 3, CachedInputTokens: 2}}
	if diff := cmp.Diff(want, b.Usage()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	b.OnToolCall("mine", "ls")
	agentstream.Send(b, agentstream.Subagent{ID: "s", Event: agentstream.ToolCall{ID: "its", Title: "ls"}})
	for agentID, want := range map[string]string{"mine": "abcd1234-c2", "its": "abcd1234-c5"} {
		if got, ok := b.CallID(agentID); !ok || got != want {
			t.Errorf("%s is %q, want %q", agentID, got, want)
		}
	}
	if id, ok := b.CallID("ghost"); ok {
		t.Errorf("a call that is not there has the id %q", id)
	}
	if b.NextRound() != 6 {
		t.Errorf("the next round is %d", b.NextRound())
	}
	if b.Forward(nil) {
		t.Error("nil was taken")
	}
}

// TestOutputIsBounded: of a long output only the end is kept, and no rune is cut.
func TestOutputIsBounded(t *testing.T) {
	var rounds []Round
	b := NewBuilder(Config{Prefix: testPrefix, OnRound: func(r Round) { rounds = append(rounds, r) }})
	b.OnToolCall("a", "yes")
	for range outputKept {
		agentstream.Send(b, agentstream.Output{ID: "a", Data: "日本語"})
	}
	b.OnToolCallUpdate("a", "done", completed)
	info, _ := InfoOf(rounds[0].Messages[1])
	if n := len(info.Output); n > outputKept || n < outputKept-3 || info.Output != valid(info.Output) {
		t.Errorf("%d bytes are kept: %.20q…", n, info.Output)
	}
}

// TestInvalidUTF8 is replaced where it comes in, so that rounds and events agree.
func TestInvalidUTF8(t *testing.T) {
	var rounds []Round
	b := NewBuilder(Config{Prefix: testPrefix, OnRound: func(r Round) { rounds = append(rounds, r) }})
	b.OnMessageChunk("bad \xff utf8")
	b.OnToolCall("a", "ls")
	b.OnToolCallUpdate("a", "\xfe", completed)
	if m := rounds[0].Messages; m[0].Content != "bad \uFFFD utf8" || m[1].Content != "\uFFFD" {
		t.Errorf("got %q and %q", m[0].Content, m[1].Content)
	}
}

func TestEqualJSON(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[true,null]}`, `{ "b" : [true, null], "a" : 1 }`, true},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, false},
		{`{"n":1.0}`, `{"n":1}`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":1}`, `{"a":1,"b":1}`, false},
		{`{"a":1}`, `[1]`, false},
		{`[1]`, `{"a":1}`, false},
		{`{"a":`, `{"a":`, true},
		{`{"a":`, `{"a": `, false},
		{`{} x`, `{}`, false},
		{`"\u00fc"`, `"ü"`, true},
	} {
		if got := equalJSON([]byte(test.a), []byte(test.b)); got != test.want {
			t.Errorf("%s and %s: %v", test.a, test.b, got)
		}
	}
}
