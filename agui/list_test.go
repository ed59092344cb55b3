package agui_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// listRules are how a client builds its list, a rule a case. Most would be wrong
// in a fold that seems natural.
var listRules = []struct{ name, events, want string }{
	{"a result stands behind its owner, not at the end",
		text("m") + "\n" + textEnd("m") + "\n" + call("c", "m") + "\n" + callEnd("c") + "\n" + text("n") + "\n" + textEnd("n") + "\n" + result("c"),
		`[{"id":"m","role":"assistant","content":"","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}}]},{"id":"res","role":"tool","toolCallId":"c","content":"x"},{"id":"n","role":"assistant","content":""}]`},
	{"results stand in order of arrival",
		call("c", "m") + "\n" + callEnd("c") + "\n" + call("d", "m") + "\n" + callEnd("d") + "\n" + strings.Replace(result("d"), "res", "r1", 1) + "\n" + strings.Replace(result("c"), "res", "r2", 1),
		`[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}},{"id":"d","type":"function","function":{"name":"f","arguments":""}}]},{"id":"r1","role":"tool","toolCallId":"d","content":"x"},{"id":"r2","role":"tool","toolCallId":"c","content":"x"}]`},
	{"a result of an unknown call comes at the end",
		text("m") + "\n" + textEnd("m") + "\n" + result("c"),
		`[{"id":"m","role":"assistant","content":""},{"id":"res","role":"tool","toolCallId":"c","content":"x"}]`},
	{"a call without a parent makes a message of its own",
		`{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","subagentRunId":"s"}` + "\n" + callEnd("c"),
		`[{"id":"c","role":"assistant","subagentRunId":"s","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}}]}]`},
	{"a text fills the message that its calls made",
		call("c", "m") + "\n" + callEnd("c") + "\n" + text("m") + "\n" + content("m") + "\n" + textEnd("m"),
		`[{"id":"m","role":"assistant","content":"d","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""}}]}]`},
	{"a second START of a call keeps its arguments and takes its metadata",
		call("c", "m") + "\n" + `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{\"a\":"}` + "\n" + callEnd("c") + "\n" + strings.TrimSuffix(call("c", "n"), "}") + `,"metadata":{"k":1}}` + "\n" + `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"1}"}` + "\n" + callEnd("c"),
		`[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":1}"},"metadata":{"k":1}}]}]`},
	{"metadata merges by key, the last value whole",
		strings.TrimSuffix(text("m"), "}") + `,"metadata":{"a":{"x":1},"b":1}}` + "\n" + strings.TrimSuffix(content("m"), "}") + `,"metadata":{"a":{"y":null}}}` + "\n" + strings.TrimSuffix(textEnd("m"), "}") + `,"metadata":{"c":[]}}`,
		`[{"id":"m","role":"assistant","content":"d","metadata":{"a":{"y":null},"b":1,"c":[]}}]`},
	{"reasoning and its encrypted value",
		span("m") + "\n" + thought("m") + "\n" + think("m") + "\n" + thoughtEnd("m") + "\n" + spanEnd("m") + "\n" + `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"v"}`,
		`[{"id":"m","role":"reasoning","content":"d","encryptedValue":"v"}]`},
	{"a call's encrypted value",
		call("c", "m") + "\n" + callEnd("c") + "\n" + `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"c","encryptedValue":"v"}`,
		`[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""},"encryptedValue":"v"}]}]`},
	{"a snapshot replaces in place, appends the new and drops the rest",
		text("a") + "\n" + textEnd("a") + "\n" + text("b") + "\n" + textEnd("b") + "\n" + text("c") + "\n" + textEnd("c") + "\n" + `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"d","role":"user","content":"q"},{"id":"c","role":"assistant","content":"C"},{"id":"a","role":"assistant","content":"A"}]}`,
		`[{"id":"a","role":"assistant","content":"A"},{"id":"c","role":"assistant","content":"C"},{"id":"d","role":"user","content":"q"}]`},
	{"a snapshot without reasoning and activity keeps them",
		thought("r") + "\n" + thoughtEnd("r") + "\n" + activity("p") + "\n" + `{"type":"MESSAGES_SNAPSHOT","messages":[]}`,
		`[{"id":"r","role":"reasoning","content":""},{"id":"p","role":"activity","activityType":"plan","content":{}}]`},
	{"a snapshot with reasoning and activity decides on them",
		thought("r") + "\n" + thoughtEnd("r") + "\n" + activity("p") + "\n" + `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"r2","role":"reasoning","content":"x"},{"id":"p2","role":"activity","activityType":"plan","content":{"n":1}}]}`,
		`[{"id":"r2","role":"reasoning","content":"x"},{"id":"p2","role":"activity","activityType":"plan","content":{"n":1}}]`},
	{"text goes on in a message that a snapshot replaced",
		text("m") + "\n" + content("m") + "\n" + `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"say \"é\" "}]}` + "\n" + content("m") + "\n" + textEnd("m"),
		`[{"id":"m","role":"assistant","content":"say \"é\" d"}]`},
	{"an activity is replaced, patched, and keeps its metadata and place",
		strings.TrimSuffix(activity("p"), "}") + `,"metadata":{"k":1}}` + "\n" + text("m") + "\n" + textEnd("m") + "\n" + `{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"todo","content":{"l":[1]},"subagentRunId":"s"}` + "\n" + `{"type":"ACTIVITY_DELTA","messageId":"p","activityType":"todo","patch":[{"op":"add","path":"/l/-","value":2}]}`,
		`[{"id":"p","role":"activity","activityType":"todo","content":{"l":[1,2]},"metadata":{"k":1},"subagentRunId":"s"},{"id":"m","role":"assistant","content":""}]`},
	{"an activity with replace:false stays",
		activity("p") + "\n" + `{"type":"ACTIVITY_SNAPSHOT","messageId":"p","activityType":"todo","content":{"l":[1]},"replace":false,"metadata":{"k":1}}`,
		`[{"id":"p","role":"activity","activityType":"plan","content":{},"metadata":{"k":1}}]`},
	{"an activity delta for nobody is nothing",
		`{"type":"ACTIVITY_DELTA","messageId":"p","activityType":"todo","patch":[]}`,
		`[]`},
	{"user text streams too", `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"n","subagentRunId":"s"}` + "\n" + content("m") + "\n" + textEnd("m"),
		`[{"id":"m","role":"user","name":"n","subagentRunId":"s","content":"d"}]`},
}

func TestListRules(t *testing.T) {
	for _, rule := range listRules {
		l := agui.NewList()
		fold(t, l, stream{events: rule.events}.lines())
		for name, l := range map[string]*agui.List{"folded": l, "cloned": l.Clone()} {
			if diff := cmp.Diff(jsonValue(t, []byte(rule.want)), jsonValue(t, l.AppendJSON(nil))); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", rule.name, name, diff)
			}
			typed, err := json.Marshal(l.Messages())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(jsonValue(t, []byte(rule.want)), jsonValue(t, typed)); diff != "" {
				t.Errorf("%s, %s, as values (-want +got):\n%s", rule.name, name, diff)
			}
		}
	}
}

func TestListRulesAreTheClients(t *testing.T) {
	clients := aguitest.Clients(t)
	for _, rule := range listRules {
		t.Run(rule.name, func(t *testing.T) {
			l := agui.NewList()
			events := stream{events: rule.events}.lines()
			fold(t, l, events)
			sameAsClients(t, clients, l, events)
		})
	}
}

func TestInterruptsStayUntilARunFinishes(t *testing.T) {
	l := agui.NewList()
	l.Apply(&agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: []agui.Interrupt{{ID: "i"}}}})
	l.Apply(&agui.RunStarted{Input: &agui.Input{Messages: []agui.Message{{ID: "u", Role: agui.RoleUser, Content: agui.StringContent("q")}}}})
	l.Apply(&agui.RunError{})
	if got := l.Clone().Interrupts(); len(got) != 1 || got[0].ID != "i" {
		t.Errorf("after an error: %v", got)
	}
	l.Apply(&agui.RunFinished{})
	if got := l.Interrupts(); len(got) != 0 {
		t.Errorf("after a finished run: %v", got)
	}
	if l.Len() != 1 {
		t.Errorf("%d messages", l.Len())
	}
}

func TestCloneSharesNothingThatChanges(t *testing.T) {
	l := agui.NewList()
	l.Start(agui.Item{Kind: agui.KindText, ID: "m"})
	l.Delta(agui.KindText, "m", "one")
	l.Start(agui.Item{Kind: agui.KindToolCall, ID: "c", Name: "f", Parent: "m"})
	l.Delta(agui.KindToolCall, "c", "{")
	l.SetState(json.RawMessage(`{"a":1}`))
	before := string(l.AppendJSON(nil))
	c := l.Clone()
	l.Delta(agui.KindText, "m", " two")
	c.Delta(agui.KindText, "m", " deux")
	l.Delta(agui.KindToolCall, "c", "}")
	l.End(agui.KindToolCall, "c", json.RawMessage(`{"k":1}`))
	l.Result(agui.Result{MessageID: "t", CallID: "c", Content: "r"})
	c.Apply(&agui.StateDelta{Delta: json.RawMessage(`[{"op":"add","path":"/b","value":2}]`)})
	if want, got := strings.Replace(before, `"one"`, `"one deux"`, 1), string(c.AppendJSON(nil)); got != want {
		t.Errorf("the copy is %s, want %s", got, want)
	}
	if !strings.Contains(string(l.AppendJSON(nil)), `"one two"`) {
		t.Errorf("the original is %s", l.AppendJSON(nil))
	}
	if string(l.State()) != `{"a":1}` || string(c.State()) != `{"a":1,"b":2}` {
		t.Errorf("states %s and %s", l.State(), c.State())
	}
}

func TestReplacedArgumentsReachTheClientByASnapshot(t *testing.T) {
	e, events := record("run")
	live := agui.NewList()
	h := agui.Handlers(e, live)
	h.Start(agui.Item{Kind: agui.KindToolCall, ID: "c", Name: "f", Parent: "m"})
	h.Delta(agui.KindToolCall, "c", `{"a":1}`)
	h.End(agui.KindToolCall, "c", nil)
	if e.NeedsSnapshot() {
		t.Fatal("a snapshot is asked for too early")
	}
	h.ReplaceArgs("c", `{"a":2}`)
	if !e.NeedsSnapshot() {
		t.Fatal("no snapshot is asked for")
	}
	h.Emit(&agui.MessagesSnapshot{Messages: live.Messages()})
	if e.NeedsSnapshot() {
		t.Fatal("another snapshot is asked for")
	}
	e.Finish(agui.RunFinished{})
	folded := agui.NewList()
	fold(t, folded, *events)
	want := `[{"id":"m","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{\"a\":2}"}}]}]`
	if got := string(folded.AppendJSON(nil)); got != want {
		t.Errorf("got %s", got)
	}
	if os.Getenv("AGENTSTREAM_E2E") == "1" {
		sameAsClients(t, aguitest.Clients(t), folded, *events)
	}
}
