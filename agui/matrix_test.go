package agui_test

import (
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

const (
	started  = `{"type":"RUN_STARTED","threadId":"t","runId":"r"}`
	finished = `{"type":"RUN_FINISHED","threadId":"t","runId":"r"}`
	failed   = `{"type":"RUN_ERROR","message":"m"}`
)

// stream is a case of the matrix: events one a line, and which clients refuse
// them (by throwing or by warning). between stands between started and finished
// if the events do not begin with a run of their own.
type stream struct {
	name   string
	events string
	bad    string // versions that refuse: "", "0", "1", "01"
	draft  bool   // no client refuses it yet, the protocol's draft does
}

var matrix = []stream{
	// Place.
	{name: "empty run", events: ``},
	{name: "first event is not RUN_STARTED", events: `!{"type":"CUSTOM","name":"n","value":1}` + "\n" + started + "\n" + finished, bad: "01"},
	{name: "RUN_ERROR alone", events: `!` + failed},
	{name: "RUN_ERROR after RUN_FINISHED", events: `!` + started + "\n" + finished + "\n" + failed},
	{name: "RUN_FINISHED after RUN_ERROR", events: `!` + started + "\n" + failed + "\n" + finished, bad: "01"},
	{name: "event after RUN_FINISHED", events: `!` + started + "\n" + finished + "\n" + `{"type":"CUSTOM","name":"n","value":1}`, bad: "01"},
	{name: "RUN_STARTED in an open run", events: started, bad: "01"},
	{name: "two runs", events: `!` + started + "\n" + finished + "\n" + strings.ReplaceAll(started+"\n"+finished, `"r"`, `"r2"`)},
	{name: "a run after an error", events: `!` + started + "\n" + failed + "\n" + started + "\n" + finished},
	{name: "RUN_ERROR with things open", events: `!` + started + "\n" + text("m") + "\n" + failed},
	{name: "run of another thread", events: `!` + started + "\n" + finished + "\n" + strings.ReplaceAll(started+"\n"+finished, `"t"`, `"t2"`), draft: true},
	{name: "terminal of another run", events: `!` + started + "\n" + strings.ReplaceAll(finished, `"r"`, `"r2"`), draft: true},
	{name: "no terminal", events: `!` + started, draft: true},

	// Text.
	{name: "text", events: text("m") + "\n" + content("m") + "\n" + textEnd("m")},
	{name: "interleaved texts", events: text("a") + "\n" + text("b") + "\n" + content("a") + "\n" + content("b") + "\n" + textEnd("a") + "\n" + textEnd("b")},
	{name: "text twice open", events: text("m") + "\n" + text("m"), bad: "01"},
	{name: "text opened again", events: text("m") + "\n" + textEnd("m") + "\n" + text("m") + "\n" + content("m") + "\n" + textEnd("m")},
	{name: "content without start", events: content("m"), bad: "01"},
	{name: "end without start", events: textEnd("m"), bad: "01"},
	{name: "text left open", events: text("m"), bad: "01"},
	{name: "empty delta", events: text("m") + "\n" + `{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":""}` + "\n" + textEnd("m")},
	{name: "role tool", events: `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"tool"}` + "\n" + textEnd("m"), bad: "01"},
	{name: "role user, named", events: `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user","name":"n"}` + "\n" + textEnd("m")},
	{name: "name null", events: `{"type":"TEXT_MESSAGE_START","messageId":"m","name":null}` + "\n" + textEnd("m"), bad: "01"},
	{name: "id missing", events: `{"type":"TEXT_MESSAGE_START"}`, bad: "01"},
	{name: "id a number", events: `{"type":"TEXT_MESSAGE_START","messageId":1}`, bad: "01"},

	// Tools.
	{name: "tool call in an open text", events: text("m") + "\n" + call("c", "m") + "\n" + callEnd("c") + "\n" + textEnd("m") + "\n" + result("c")},
	{name: "call twice open", events: call("c", "m") + "\n" + call("c", "m"), bad: "01"},
	{name: "args without start", events: `{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"{"}`, bad: "01"},
	{name: "call end without start", events: callEnd("c"), bad: "01"},
	{name: "call left open", events: call("c", "m"), bad: "01"},
	{name: "result before end", events: call("c", "m") + "\n" + result("c") + "\n" + callEnd("c")},
	{name: "result of an unknown call", events: result("c")},
	{name: "result as parts", events: call("c", "m") + "\n" + callEnd("c") + "\n" + `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":[{"type":"text","text":"t"}]}`, bad: "0"},
	{name: "result of parts unknown", events: call("c", "m") + "\n" + callEnd("c") + "\n" + `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":[{"type":"odd"}]}`, bad: "01"},
	{name: "parentMessageId null", events: `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","parentMessageId":null}` + "\n" + callEnd("c"), bad: "1"},

	// Reasoning.
	{name: "reasoning, one id", events: span("m") + "\n" + thought("m") + "\n" + think("m") + "\n" + thoughtEnd("m") + "\n" + spanEnd("m")},
	{name: "reasoning left open", events: span("m") + "\n" + thought("m"), bad: "1"},
	{name: "span left open", events: span("m"), bad: "1"},
	{name: "span twice", events: span("m") + "\n" + span("m") + "\n" + spanEnd("m"), bad: "1"},
	{name: "reasoning twice", events: thought("m") + "\n" + thought("m") + "\n" + thoughtEnd("m"), bad: "1"},
	{name: "span end without start", events: spanEnd("m"), bad: "1"},
	{name: "reasoning end without start", events: thought("m") + "\n" + thoughtEnd("m") + "\n" + thoughtEnd("m"), bad: "1"},
	{name: "reasoning role assistant", events: `{"type":"REASONING_MESSAGE_START","messageId":"m","role":"assistant"}`, bad: "01"},
	{name: "reasoning role missing", events: `{"type":"REASONING_MESSAGE_START","messageId":"m"}`, bad: "01"},
	{name: "encrypted value", events: span("m") + "\n" + thought("m") + "\n" + thoughtEnd("m") + "\n" + spanEnd("m") + "\n" + `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"message","entityId":"m","encryptedValue":"v"}`},
	{name: "encrypted value, odd subtype", events: `{"type":"REASONING_ENCRYPTED_VALUE","subtype":"odd","entityId":"m","encryptedValue":"v"}`, bad: "01"},

	// Steps and sub-agents.
	{name: "step", events: step("STARTED", "n") + "\n" + step("FINISHED", "n")},
	{name: "step twice", events: step("STARTED", "n") + "\n" + step("STARTED", "n"), bad: "01"},
	{name: "step not started", events: step("FINISHED", "n"), bad: "01"},
	{name: "step left open", events: step("STARTED", "n"), bad: "01"},
	{name: "step of a sub-agent with its parent's name", events: step("STARTED", "n") + "\n" + tagged(step("STARTED", "n"), "s") + "\n" + tagged(step("FINISHED", "n"), "s") + "\n" + step("FINISHED", "n")},
	{name: "step closed by another", events: tagged(step("STARTED", "n"), "s") + "\n" + step("FINISHED", "n"), bad: "01"},
	{name: "sub-agent", events: agent("STARTED", `"name":"n"`, "s") + "\n" + agent("FINISHED", `"result":{}`, "s")},
	{name: "sub-agent fails", events: agent("STARTED", `"name":"n"`, "s") + "\n" + agent("ERROR", `"message":"m"`, "s")},
	{name: "sub-agent suspended", events: agent("STARTED", `"name":"n"`, "s") + "\n" + agent("FINISHED", `"outcome":{"type":"suspended","interruptIds":["i"]}`, "s")},
	{name: "sub-agent cancelled", events: agent("STARTED", `"name":"n"`, "s") + "\n" + agent("FINISHED", `"outcome":{"type":"cancelled"}`, "s"), bad: "01"},
	{name: "sub-agent left open", events: agent("STARTED", `"name":"n"`, "s"), bad: "01"},
	{name: "sub-agent twice", events: agent("STARTED", `"name":"n"`, "s") + "\n" + agent("FINISHED", `"result":1`, "s") + "\n" + agent("STARTED", `"name":"n"`, "s"), bad: "01"},
	{name: "sub-agent of an ended parent", events: agent("STARTED", `"name":"n"`, "s") + "\n" + agent("FINISHED", `"result":1`, "s") + "\n" + agent("STARTED", `"name":"n","parentSubagentRunId":"s"`, "s2") + "\n" + agent("FINISHED", `"result":1`, "s2")},
	{name: "sub-agent of an unknown parent", events: agent("STARTED", `"name":"n","parentSubagentRunId":"x"`, "s"), bad: "01"},
	{name: "sub-agent not started", events: agent("FINISHED", `"result":1`, "s"), bad: "01"},
	{name: "tagged text, never announced", events: tagged(text("m"), "s") + "\n" + tagged(content("m"), "s") + "\n" + textEnd("m")},
	{name: "text of another sub-agent", events: tagged(text("m"), "s") + "\n" + tagged(content("m"), "x"), bad: "01"},
	{name: "parent's text continued by a sub-agent", events: text("m") + "\n" + tagged(content("m"), "s"), bad: "01"},
	{name: "text opened again by another", events: tagged(text("m"), "s") + "\n" + textEnd("m") + "\n" + tagged(text("m"), "x"), bad: "01"},
	{name: "call tagged otherwise than its message", events: tagged(text("m"), "s") + "\n" + textEnd("m") + "\n" + tagged(call("c", "m"), "x"), bad: "01"},
	{name: "call untagged in a tagged message", events: tagged(text("m"), "s") + "\n" + textEnd("m") + "\n" + call("c", "m") + "\n" + tagged(callEnd("c"), "s")},
	{name: "call again under another's message", events: text("m") + "\n" + textEnd("m") + "\n" + tagged(text("n"), "s") + "\n" + textEnd("n") + "\n" + call("c", "m") + "\n" + callEnd("c") + "\n" + call("c", "n"), bad: "01"},
	{name: "encrypted value by another", events: tagged(call("c", "m"), "s") + "\n" + callEnd("c") + "\n" + tagged(`{"type":"REASONING_ENCRYPTED_VALUE","subtype":"tool-call","entityId":"c","encryptedValue":"v"}`, "x"), bad: "01"},
	{name: "reasoning of another sub-agent", events: tagged(span("m"), "s") + "\n" + tagged(thought("m"), "x"), bad: "01"},
	{name: "activity patched by another", events: tagged(activity("a"), "s") + "\n" + tagged(`{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"plan","patch":[]}`, "x"), bad: "01"},
	{name: "activity taken over", events: tagged(activity("a"), "s") + "\n" + tagged(activity("a"), "x") + "\n" + tagged(`{"type":"ACTIVITY_DELTA","messageId":"a","activityType":"plan","patch":[]}`, "x")},
	{name: "owner from a snapshot", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"m","role":"assistant","content":"","subagentRunId":"s"}]}` + "\n" + tagged(text("m"), "x"), bad: "01"},
	{name: "subagentRunId null", events: `{"type":"TEXT_MESSAGE_START","messageId":"m","subagentRunId":null}`, bad: "01"},

	// Fields.
	{name: "timestamp", events: `{"type":"CUSTOM","name":"n","value":1,"timestamp":1700000000000}`},
	{name: "timestamp with a fraction", events: `{"type":"CUSTOM","name":"n","value":1,"timestamp":1.5}`, bad: "1"},
	{name: "metadata null", events: `{"type":"CUSTOM","name":"n","value":1,"metadata":null}`, bad: "01"},
	{name: "metadata an array", events: `{"type":"CUSTOM","name":"n","value":1,"metadata":[]}`, bad: "01"},
	{name: "nulls inside metadata", events: `{"type":"CUSTOM","name":"n","value":1,"metadata":{"a":null}}`},
	{name: "CUSTOM without a value", events: `{"type":"CUSTOM","name":"n"}`, bad: "1"},
	{name: "CUSTOM null", events: `{"type":"CUSTOM","name":"n","value":null}`},
	{name: "RAW", events: `{"type":"RAW","event":null,"source":"s"}`},
	{name: "unknown field", events: `{"type":"CUSTOM","name":"n","value":1,"odd":1}`, bad: "1"},
	{name: "unknown type", events: `{"type":"ODD"}`, bad: "01"},
	{name: "lower case type", events: `{"type":"custom","name":"n","value":1}`, bad: "01"},
	{name: "state delta", events: `{"type":"STATE_SNAPSHOT","snapshot":{"a":1}}` + "\n" + `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/b","value":null,"odd":1},{"op":"test","path":"","value":{"a":1,"b":null}}]}`},
	{name: "bad pointer", events: `{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a~2","value":1}]}`, bad: "1"},
	{name: "unknown operation", events: `{"type":"STATE_DELTA","delta":[{"op":"odd","path":""}]}`, bad: "01"},
	{name: "delta no array", events: `{"type":"STATE_DELTA","delta":{}}`, bad: "01"},
	{name: "activity content an array", events: `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"p","content":[]}`, bad: "01"},
	{name: "activity kept", events: activity("a") + "\n" + `{"type":"ACTIVITY_SNAPSHOT","messageId":"a","activityType":"p","content":{},"replace":false}`},
	{name: "snapshot", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"t"},{"type":"image","source":{"type":"url","value":"http://x"}}]},{"id":"a","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":""},"metadata":{}}]},{"id":"t","role":"tool","toolCallId":"c","content":"","error":"e"},{"id":"r","role":"reasoning","content":"","encryptedValue":"v"},{"id":"p","role":"activity","activityType":"plan","content":{}}]}`},
	{name: "snapshot, content null", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","content":null}]}`, bad: "01"},
	{name: "snapshot, toolCalls null", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"assistant","toolCalls":null}]}`, bad: "01"},
	{name: "snapshot, tool without its call", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"tool","content":""}]}`, bad: "01"},
	{name: "snapshot, unknown role", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"odd","content":""}]}`, bad: "01"},
	{name: "snapshot, messages null", events: `{"type":"MESSAGES_SNAPSHOT","messages":null}`, bad: "01"},
	{name: "snapshot, tool result as parts", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"tool","toolCallId":"c","content":[{"type":"text","text":"x"}]}]}`, bad: "0"},
	{name: "snapshot, a file that only its provider can open", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"document","source":{"type":"file","value":"f"}}]}]}`, bad: "0"},
	{name: "snapshot, unknown part", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"odd"}]}]}`, bad: "01"},
	{name: "snapshot, unknown field in a part", events: `{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"t","odd":1}]}]}`, bad: "1"},
	{name: "input", events: `!{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","input":{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"q"}],"state":{},"tools":[],"context":[],"forwardedProps":{}}}` + "\n" + finished},
	{name: "input without tools", events: `!{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[]}}` + "\n" + finished, bad: "0"},

	// Terminals.
	{name: "outcome success", events: end(`"outcome":{"type":"success"}`)},
	{name: "outcome null", events: end(`"outcome":null`), bad: "1"},
	{name: "outcome cancelled", events: end(`"outcome":{"type":"cancelled"},"result":{"stopReason":"cancelled"}`), bad: "0"},
	{name: "outcome unknown", events: end(`"outcome":{"type":"odd"}`), bad: "01"},
	{name: "pendingToolCallIds", events: end(`"outcome":{"type":"success","pendingToolCallIds":["c"]}`), bad: "0"},
	{name: "interrupt", events: end(`"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"tool_call","message":"m","toolCallId":"c","responseSchema":{"type":"object"},"metadata":{}}]}`)},
	{name: "interrupt, empty", events: end(`"outcome":{"type":"interrupt","interrupts":[]}`), bad: "01"},
	{name: "interrupt id twice", events: end(`"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r"},{"id":"i","reason":"r"}]}`), draft: true},
	{name: "interrupt with an unknown field", events: end(`"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r","odd":1}]}`), bad: "1"},
	{name: "interrupt, schema true", events: end(`"outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r","responseSchema":true}]}`), bad: "01"},
	{name: "outcome with an unknown field", events: end(`"outcome":{"type":"success","odd":1}`), bad: "01"},
	{name: "usage", events: end(`"usage":[{"provider":"p","model":"m","inputTokens":1,"outputTokens":2,"cacheWriteInputTokens":3}]`)},
	{name: "usage with a fraction", events: end(`"usage":[{"inputTokens":1.5}]`), bad: "01"},
	{name: "usage negative", events: end(`"usage":[{"inputTokens":-1}]`), bad: "01"},
	{name: "usage null", events: end(`"usage":null`), bad: "01"},
	{name: "error with a code", events: `!` + started + "\n" + `{"type":"RUN_ERROR","message":"m","code":"c","usage":[]}`},
	{name: "error without a message", events: `!` + started + "\n" + `{"type":"RUN_ERROR"}`, bad: "01"},
}

func text(id string) string       { return `{"type":"TEXT_MESSAGE_START","messageId":"` + id + `"}` }
func textEnd(id string) string    { return `{"type":"TEXT_MESSAGE_END","messageId":"` + id + `"}` }
func span(id string) string       { return `{"type":"REASONING_START","messageId":"` + id + `"}` }
func spanEnd(id string) string    { return `{"type":"REASONING_END","messageId":"` + id + `"}` }
func thoughtEnd(id string) string { return `{"type":"REASONING_MESSAGE_END","messageId":"` + id + `"}` }
func callEnd(id string) string    { return `{"type":"TOOL_CALL_END","toolCallId":"` + id + `"}` }
func content(id string) string {
	return `{"type":"TEXT_MESSAGE_CONTENT","messageId":"` + id + `","delta":"d"}`
}
func think(id string) string {
	return `{"type":"REASONING_MESSAGE_CONTENT","messageId":"` + id + `","delta":"d"}`
}
func thought(id string) string {
	return `{"type":"REASONING_MESSAGE_START","messageId":"` + id + `","role":"reasoning"}`
}
func call(id, parent string) string {
	return `{"type":"TOOL_CALL_START","toolCallId":"` + id + `","toolCallName":"f","parentMessageId":"` + parent + `"}`
}
func result(call string) string {
	return `{"type":"TOOL_CALL_RESULT","messageId":"res","toolCallId":"` + call + `","content":"x","role":"tool"}`
}
func step(what, name string) string { return `{"type":"STEP_` + what + `","stepName":"` + name + `"}` }
func agent(what, fields, id string) string {
	return `{"type":"SUBAGENT_` + what + `","subagentRunId":"` + id + `",` + fields + `}`
}
func activity(id string) string {
	return `{"type":"ACTIVITY_SNAPSHOT","messageId":"` + id + `","activityType":"plan","content":{}}`
}
func tagged(event, subagent string) string {
	return strings.TrimSuffix(event, "}") + `,"subagentRunId":"` + subagent + `"}`
}
func end(fields string) string {
	return "!" + started + "\n" + `{"type":"RUN_FINISHED","threadId":"t","runId":"r",` + fields + `}`
}

// lines are the events of a case, within a run if it does not bring its own.
func (s stream) lines() [][]byte {
	events, own := strings.CutPrefix(s.events, "!")
	if !own {
		events = started + "\n" + events + "\n" + finished
	}
	var list [][]byte
	for line := range strings.SplitSeq(events, "\n") {
		if line != "" {
			list = append(list, []byte(line))
		}
	}
	return list
}

func (s stream) refused(v agui.Version) bool {
	return s.draft || strings.Contains(s.bad, map[agui.Version]string{agui.V0: "0", agui.V1: "1"}[v])
}

func verify(v agui.Version, events ...[]byte) error {
	verifier := agui.NewVerifier(v)
	for _, e := range events {
		if err := verifier.CheckJSON(e); err != nil {
			return err
		}
	}
	return verifier.End()
}

func TestVerifierKnowsWhatClientsRefuse(t *testing.T) {
	for _, s := range matrix {
		for _, v := range aguitest.Versions {
			err := verify(v, s.lines()...)
			if (err != nil) != s.refused(v) {
				t.Errorf("%s, %s: refused %t, want %t (%v)", s.name, v, err != nil, s.refused(v), err)
			}
		}
	}
}

func TestMatrixIsWhatClientsRefuse(t *testing.T) {
	clients := aguitest.Clients(t)
	for _, s := range matrix {
		for _, v := range aguitest.Versions {
			r := clients.Replay(v, s.lines()...)
			if want := s.refused(v) && !s.draft; r.OK() == want {
				t.Errorf("%s, %s: the client said error %q, warnings %q", s.name, v, r.Error, r.Warnings)
			}
		}
	}
}
