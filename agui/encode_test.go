package agui

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// every is one event of each type with every field set.
func every() []Event {
	b := Base{Timestamp: 1700000000123, Metadata: json.RawMessage(`{"a":null}`), RawEvent: json.RawMessage(`[1]`)}
	s := b
	s.SubagentRunID = "s1"
	usage := []TokenUsage{{Provider: "p", Model: "m", InputTokens: 1, OutputTokens: 2, TotalTokens: 3, ReasoningTokens: 4, CachedInputTokens: 5, CacheWriteInputTokens: 6}}
	messages := []Message{
		{ID: "u", Role: RoleUser, Content: json.RawMessage(`[{"type":"text","text":"hi"}]`), Name: "n"},
		{ID: "a", Role: RoleAssistant, ToolCalls: []ToolCall{{ID: "c", Name: "f", Arguments: `{"x":"\u2028"}`, EncryptedValue: "e", Metadata: json.RawMessage(`{"k":1}`)}}},
		{ID: "t", Role: RoleTool, Content: json.RawMessage(`"r"`), ToolCallID: "c", Error: "e", EncryptedValue: "v", SubagentRunID: "s", Metadata: json.RawMessage(`{}`)},
		{ID: "x", Role: RoleActivity, ActivityType: "plan", Content: json.RawMessage(`{"y":1}`)},
	}
	return []Event{
		&RunStarted{b, "t", "r", "1.0", "p", &Input{
			ThreadID: "t", RunID: "r", ParentRunID: "p", ProtocolVersion: "1.0", Messages: messages, State: json.RawMessage(`{"s":1}`),
			Tools:          []Tool{{"n", "d", json.RawMessage(`{"type":"object"}`), json.RawMessage(`{}`)}},
			Context:        []ContextEntry{{"d", "v"}},
			ForwardedProps: json.RawMessage(`{"f":true}`), Resume: []Resume{{"i", "resolved", json.RawMessage(`{"approved":true}`), json.RawMessage(`{}`)}},
		}},
		&RunFinished{b, "t", "r", json.RawMessage(`{"stopReason":"end_turn"}`), &Outcome{Type: OutcomeInterrupt, Interrupts: []Interrupt{
			{"i", "tool_call", "m", "c", json.RawMessage(`{"type":"object"}`), "2030-01-01T00:00:00Z", "s", json.RawMessage(`{"z":1}`)},
		}}, usage},
		&RunFinished{Base: b, ThreadID: "t", RunID: "r", Outcome: &Outcome{Type: OutcomeSuccess, PendingToolCallIDs: []string{"a", "b"}}},
		&RunError{b, "m", "c", usage},
		&StepStarted{s, "n"},
		&StepFinished{s, "n"},
		&TextMessageStart{s, "m", RoleUser, "n"},
		&TextMessageContent{s, "m", "d\n\"\\\t\r\x01é\u2028\u2029😀"},
		&TextMessageEnd{s, "m"},
		&TextMessageChunk{s, "m", RoleAssistant, "n", "d"},
		&ToolCallStart{s, "c", "f", "m"},
		&ToolCallArgs{s, "c", "d"},
		&ToolCallEnd{s, "c"},
		&ToolCallChunk{s, "c", "f", "m", "d"},
		&ToolCallResult{s, "m", "c", json.RawMessage(`"x"`), RoleTool},
		&ReasoningStart{s, "m"},
		&ReasoningEnd{s, "m"},
		&ReasoningMessageStart{s, "m", RoleReasoning},
		&ReasoningMessageContent{s, "m", "d"},
		&ReasoningMessageEnd{s, "m"},
		&ReasoningMessageChunk{s, "m", "d"},
		&ReasoningEncryptedValue{s, "tool-call", "c", "v"},
		&StateSnapshot{s, json.RawMessage(`{"a":[1]}`)},
		&StateDelta{s, json.RawMessage(`[{"op":"add","path":"/a","value":null}]`)},
		&MessagesSnapshot{b, messages},
		&ActivitySnapshot{s, "m", "plan", json.RawMessage(`{"e":[]}`), true},
		&ActivityDelta{s, "m", "plan", json.RawMessage(`[]`)},
		&SubagentStarted{s, "n", "d", "p", "c", "m"},
		&SubagentFinished{s, json.RawMessage(`1`), &Outcome{Type: OutcomeSuspended, InterruptIDs: []string{"i"}}},
		&SubagentError{s, "m", "c"},
		&Raw{s, json.RawMessage(`{"x":1}`), "src"},
		&Custom{s, "n", json.RawMessage(`{"v":[true,false]}`)},
	}
}

func TestEventsSurviveEncodingAndDecoding(t *testing.T) {
	seen := map[Type]bool{}
	for _, e := range every() {
		seen[e.Type()] = true
		data := Append(nil, e)
		if !json.Valid(data) {
			t.Errorf("%s: not JSON: %s", e.Type(), data)
			continue
		}
		got, err := Decode(data)
		if err != nil {
			t.Errorf("%s: %v", e.Type(), err)
			continue
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Errorf("%s (-sent +decoded):\n%s", e.Type(), diff)
		}
	}
	if len(seen) != 31 || len(catalogue) != 31 {
		t.Errorf("%d types encoded, %d known; the protocol has 31", len(seen), len(catalogue))
	}
}

// Std's encoder is what users reach for first; it has to agree.
func TestMessagesMarshalAlikeEverywhere(t *testing.T) {
	for _, e := range every() {
		m, ok := e.(*MessagesSnapshot)
		if !ok {
			continue
		}
		got, err := json.Marshal(m.Messages)
		if err != nil {
			t.Fatal(err)
		}
		var back []Message
		if err := json.Unmarshal(got, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(m.Messages, back); diff != "" {
			t.Error(diff)
		}
	}
}
