package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agentstreamtest"
	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/source"
	"github.com/google/go-cmp/cmp"
)

func TestFieldReadsWhatStandsThere(t *testing.T) {
	for _, c := range []struct{ in, path, want string }{
		{`{"a":{"b":"x"}}`, "a b", `"x"`},
		{`{"a":1,"a":2}`, "a", `2`},
		{`{"a":null}`, "a", ``},
		{` { "a" : [ 1 , {"}":"]"} ] , "b" : true } `, "a", `[ 1 , {"}":"]"} ]`},
		{`{"\u0061":"esc\"aped\\"}`, "a", `"esc\"aped\\"`},
		{`{"a":"unterminated`, "a", ``},
		{`{"a":{"b":1}`, "a", `{"b":1}`},
		{`{"a" 1}`, "a", ``},
		{`{"a":}`, "a", ``},
		{`{"a":]}`, "a", ``},
		{`[1]`, "a", ``},
		{``, "a", ``},
		{`{"a":-1.5e3}`, "a", `-1.5e3`},
	} {
		if got := string(field([]byte(c.in), strings.Fields(c.path)...)); got != c.want {
			t.Errorf("field(%s, %s) = %q, want %q", c.in, c.path, got, c.want)
		}
	}
}

func TestTextIsValidUTF8(t *testing.T) {
	for in, want := range map[string]string{
		`"plain"`:                    "plain",
		`"a\n\t\r\b\f\/\"\\b"`:       "a\n\t\r\b\f/\"\\b",
		`"\u00e9\u20ac\ud83d\ude00"`: "é€😀",
		`"\ud83d"`:                   "\uFFFD",
		`"\ude00\ud83d"`:             "\uFFFD\uFFFD",
		"\"\xff\xc3\"":               "\uFFFD\uFFFD",
		`"\u12"`:                     "\uFFFD",
		`"\uzzzz"`:                   "\uFFFDzzzz",
		`5`:                          "",
		`"`:                          "",
	} {
		if got := text([]byte(in)); got != want {
			t.Errorf("text(%s) = %q, want %q", in, got, want)
		}
	}
}

// However a text is cut into bytes, the pieces joined are the text.
func TestHalvesOfRunesJoin(t *testing.T) {
	const want = "aé€😀z"
	for i := range len(want) {
		for j := i; j < len(want); j++ {
			var w halves
			got := w.join([]byte(want[:i])) + w.join([]byte(want[i:j])) + w.join([]byte(want[j:])) + w.rest()
			if got != want {
				t.Errorf("cut at %d and %d: %q", i, j, got)
			}
		}
	}
}

func TestHasArguments(t *testing.T) {
	for in, want := range map[string]bool{
		``: false, `null`: false, `{}`: false, ` { } `: false, `[]`: false, `""`: false,
		`{"a":null}`: true, `[0]`: true, `0`: true, `false`: true, `"x"`: true,
	} {
		if got := hasArguments([]byte(in)); got != want {
			t.Errorf("hasArguments(%s) = %v", in, got)
		}
	}
}

func TestSameJSON(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[1,2]}`, `{ "b":[1, 2], "a":1 }`, true},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{`{"a":1}`, `{"a":1.0}`, false},
		{`"\u0041"`, `"A"`, true},
		{`[1,2]`, `[2,1]`, false},
		{`[1]`, `[1,1]`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1}`, `{"b":1}`, false},
		{`{"a":{"x":null}}`, `{"a":{}}`, false},
		{`1`, `"1"`, false},
		{strings.Repeat("[", 300) + " " + strings.Repeat("]", 300), strings.Repeat("[", 300) + strings.Repeat("]", 300), false}, // too deep to tell
	} {
		if got := sameJSON([]byte(c.a), []byte(c.b)); got != c.want {
			t.Errorf("sameJSON(%s, %s) = %v", c.a, c.b, got)
		}
	}
}

func TestUnfence(t *testing.T) {
	for in, want := range map[string]string{
		"```console\nout\n```":           "out",
		"```\na\n\nb\n```\n":             "a\n\nb",
		"````md\n```\ninner\n```\n````":  "```\ninner\n```",
		"```\na\n```\ntext\n```\nb\n```": "```\na\n```\ntext\n```\nb\n```",
		"text ```x```":                   "text ```x```",
		"```x```":                        "```x```",
		"```\n```":                       "",
		"```open\nnever closed":          "```open\nnever closed",
		"``\nx\n``":                      "``\nx\n``",
	} {
		if got := unfence(in); got != want {
			t.Errorf("unfence(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestResultTakesTheFirstThatSaysSomething(t *testing.T) {
	for _, c := range []struct {
		name, content, raw string
		call               call
		failed             bool
		want               string
	}{
		{name: "content", content: `[{"type":"content","content":{"type":"text","text":"a"}},{"type":"text","text":"b"}]`, raw: `"c"`, want: "a\nb"},
		{name: "picture", content: `[{"type":"content","content":{"type":"image","mimeType":"image/png"}}]`, want: "[image image/png]"},
		{name: "raw string", content: `[]`, raw: `"plain"`, want: "plain"},
		{name: "raw string of JSON", raw: `"{\"stdout\":\"o\",\"stderr\":\"e\"}"`, want: "oe"},
		{name: "raw string of JSON that says nothing", raw: `"{\"x\":1}"`, want: `{"x":1}`},
		{name: "raw parts", raw: `[{"type":"text","text":"a"},{"type":"image","source":{"media_type":"image/gif"}},"b"]`, want: "a\n[image image/gif]\nb"},
		{name: "raw object", raw: `{"metadata":{"exit":0},"output":"o"}`, want: "o"},
		{name: "raw error", raw: `{"error":{"message":"no such file"}}`, failed: true, want: "no such file"},
		{name: "raw formatted first", raw: `{"output":"o","formatted_output":"f"}`, want: "f"},
		{name: "raw unknown", raw: `{"rows": [1, 2]}`, want: `{"rows":[1,2]}`},
		{name: "raw exit code only", raw: `{"exit_code":0}`, want: ""},
		{name: "progress", call: call{progress: "half"}, want: "half"},
		{name: "progress replaced by nothing", content: `[]`, call: call{progress: "half"}, want: ""},
		{name: "edits", call: call{edits: []string{"Edited a", "Created b"}}, want: "Edited a\nCreated b"},
		{name: "edits of a failed call", call: call{edits: []string{"Edited a"}}, failed: true, want: resultFailed},
		{name: "refused", call: call{refused: true}, failed: true, want: resultDenied},
		{name: "cancelled", call: call{dropped: true}, failed: true, want: resultCancelled},
	} {
		var content, raw []byte
		if c.content != "" {
			content = []byte(c.content)
		}
		if c.raw != "" {
			raw = []byte(c.raw)
		}
		if got := c.call.result(content, raw, c.failed); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestNameIsOneThatModelsTake(t *testing.T) {
	oc, gem, any := profileOf(agentInfo{Name: "opencode"}), profileOf(agentInfo{Name: "gemini-cli"}), profileOf(agentInfo{})
	for _, c := range []struct {
		p              profile
		id, call, want string
	}{
		{any, "1", `{"name":"mcp__fs__read","title":"x","kind":"read"}`, "mcp__fs__read"},
		{any, "1", `{"_meta":{"claudeCode":{"toolName":"Bash"}},"kind":"execute"}`, "Bash"},
		{any, "1", `{"_meta":{"toolName":"web fetch!"}}`, "web_fetch_"},
		{any, "1", `{"title":"read_file","kind":"read"}`, "read"},
		{any, "1", `{"title":"read_file","kind":"other"}`, "read_file"},
		{any, "1", `{"title":"ls -la","kind":"other"}`, "tool"},
		{any, "1", `{"title":"7zip"}`, "tool"},
		{any, "1", `{"name":"7zip"}`, "_7zip"},
		{any, "1", `{"name":"` + strings.Repeat("ü", 80) + `"}`, strings.Repeat("_", 64)},
		{oc, "1", `{"title":"bash","kind":"execute"}`, "bash"},
		{oc, "1", `{"title":"make all","kind":"execute"}`, "execute"},
		{gem, "read_file__call_1", `{"title":"a.txt","kind":"read"}`, "read_file"},
		{gem, "call_1", `{"title":"a.txt","kind":"read"}`, "read"},
	} {
		var u update
		u.read([]byte(c.call))
		if got := c.p.nameOf(&u, c.id); got != c.want {
			t.Errorf("nameOf(%s, %s) = %q, want %q", c.id, c.call, got, c.want)
		}
	}
}

func TestTokensByTheAgentsOwnMeaning(t *testing.T) {
	for _, c := range []struct {
		in   string
		want agentstream.ModelUsage
	}{
		{`{"inputTokens":10,"outputTokens":5,"totalTokens":15,"cachedReadTokens":4,"thoughtTokens":2}`,
			agentstream.ModelUsage{Input: 10, Output: 5, Total: 15, CachedRead: 4, Reasoning: 2}},
		{`{"inputTokens":10,"outputTokens":5,"totalTokens":21,"cachedReadTokens":4,"cachedWriteTokens":2}`,
			agentstream.ModelUsage{Input: 16, Output: 5, Total: 21, CachedRead: 4, CacheWrite: 2}},
		{`{"inputTokens":10,"outputTokens":5,"totalTokens":21,"cachedReadTokens":4,"thoughtTokens":2}`,
			agentstream.ModelUsage{Input: 14, Output: 7, Total: 21, CachedRead: 4, Reasoning: 2}},
		{`{"inputTokens":10,"outputTokens":5,"totalTokens":17,"cachedReadTokens":4,"thoughtTokens":2}`,
			agentstream.ModelUsage{Input: 10, Output: 7, Total: 17, CachedRead: 4, Reasoning: 2}},
		{`{"input_tokens":"10","output_tokens":5.0}`, agentstream.ModelUsage{Input: 10, Output: 5, Total: 15}},
		{`{"inputTokens":-1,"outputTokens":"many"}`, agentstream.ModelUsage{}},
		{`null`, agentstream.ModelUsage{}},
	} {
		if diff := cmp.Diff(c.want, tokens([]byte(c.in))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.in, diff)
		}
	}
}

func TestAskGivesWhatIsKnownOfTheCall(t *testing.T) {
	tr := newTranslator(agentInfo{})
	var rec agentstreamtest.Recorder
	tr.begin(&rec)
	tr.update([]byte(`{"update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Write a","kind":"edit","locations":[{"path":"/w/a"}]}}`))
	got, err := tr.ask([]byte(`{"toolCall":{"toolCallId":"c"},"options":[{"optionId":"1","name":"Yes","kind":"allow_once"},{"name":"no id"}]}`))
	want := source.Request{
		ToolCallID: "c", Title: "Write a", Kind: "edit",
		Locations: []agentstream.Location{{Path: "/w/a"}},
		Options:   []source.Option{{ID: "1", Name: "Yes", Kind: "allow_once"}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, (-want +got)\n%s", err, diff)
	}
	if _, err := tr.ask([]byte(`[`)); err == nil {
		t.Error("broken params were taken for a question")
	}
	if q, err := tr.ask([]byte(`{"title":"May I?","options":[]}`)); err != nil || q.Title != "May I?" || q.ToolCallID != "" {
		t.Errorf("a question without a call: %+v, %v", q, err)
	}
}

func TestAskOutsideATurnDeclaresNothing(t *testing.T) {
	tr := newTranslator(agentInfo{})
	if _, err := tr.ask([]byte(`{"toolCall":{"toolCallId":"c","title":"x"},"options":[]}`)); err != nil {
		t.Fatal(err)
	}
	tr.answered("c", "reject_once")
	var rec agentstreamtest.Recorder
	tr.begin(&rec)
	tr.answered("never heard of", "reject_once")
	if _, err := tr.end([]byte(`{"stopReason":"end_turn"}`), nil, false); err != nil || len(rec.Events()) > 0 {
		t.Errorf("error %v, events %s", err, rec.String())
	}
	if _, err := tr.end(nil, nil, false); err == nil {
		t.Error("the end of no turn is no error")
	}
}

func TestTheLastAnswerCounts(t *testing.T) {
	tr := newTranslator(agentInfo{})
	var rec agentstreamtest.Recorder
	tr.begin(&rec)
	if _, err := tr.ask([]byte(`{"toolCall":{"toolCallId":"c","title":"x"},"options":[]}`)); err != nil {
		t.Fatal(err)
	}
	tr.answered("c", "reject_once")
	tr.answered("c", "reject_always")
	tr.answered("c", "allow_once")
	tr.update([]byte(`{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"on"}}}`))
	if strings.Contains(rec.String(), resultDenied) {
		t.Errorf("a call that was allowed in the end was refused:\n%s", rec.String())
	}
}

func TestElicit(t *testing.T) {
	tr := newTranslator(agentInfo{})
	var rec agentstreamtest.Recorder
	tr.begin(&rec)
	tr.update([]byte(`{"update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"x"}}`))
	for _, c := range []struct {
		in   string
		want source.Request
	}{
		{`{"message":"Name?","mode":"form","toolCallId":"c","requestedSchema":{"type": "object"}}`, source.Request{
			ToolCallID: "c", Title: "Name?",
			Elicitation: &source.Elicitation{Message: "Name?", Mode: "form", Schema: json.RawMessage(`{"type":"object"}`)},
		}},
		{`{"message":"Log in","url":"https://example.org","toolCallId":"unknown"}`, source.Request{
			Title:       "Log in",
			Elicitation: &source.Elicitation{Message: "Log in", Mode: "url", URL: "https://example.org"},
		}},
		{`{"message":"Sure?","requestedSchema":null}`, source.Request{
			Title:       "Sure?",
			Elicitation: &source.Elicitation{Message: "Sure?", Mode: "form"},
		}},
	} {
		got, err := tr.elicit([]byte(c.in))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: error %v, (-want +got)\n%s", c.in, err, diff)
		}
	}
	if _, err := tr.elicit([]byte(`"x"`)); err == nil {
		t.Error("params that are no object were taken for a question")
	}
}

func TestOpenedGivesModesAndModels(t *testing.T) {
	tr := newTranslator(agentInfo{})
	facts := tr.opened([]byte(`{"sessionId":"s","modes":{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"}]},
		"models":{"currentModelId":"big","availableModels":[{"modelId":"big","name":"Big","description":"slow"}]},"configOptions":null}`))
	want := []source.Fact{
		{Modes: &source.Choices{Current: "ask", Available: []source.Choice{{ID: "ask", Name: "Ask"}}}},
		{Models: &source.Choices{Current: "big", Available: []source.Choice{{ID: "big", Name: "Big", Description: "slow"}}}},
	}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if facts := tr.opened([]byte(`null`)); len(facts) != 2 {
		t.Errorf("an answer that says nothing forgot what is known: %v", facts)
	}
}

// What nobody takes of a picture is said in words.
func TestPictureWithoutATaker(t *testing.T) {
	h := &sixMethods{}
	tr := newTranslator(agentInfo{})
	tr.begin(h)
	tr.update([]byte(`{"update":{"sessionUpdate":"agent_message_chunk","content":{"type":"image","mimeType":"image/png","data":"AAAA"}}}`))
	if h.text != "[image image/png]" {
		t.Errorf("text %q", h.text)
	}
}

// sixMethods knows nothing but the six methods.
type sixMethods struct{ text string }

func (h *sixMethods) OnMessageChunk(text string)                               { h.text += text }
func (*sixMethods) OnThoughtChunk(string)                                      {}
func (*sixMethods) OnToolCall(string, string)                                  {}
func (*sixMethods) OnToolCallUpdate(_, _ string, _ agentstream.ToolCallStatus) {}
func (*sixMethods) OnToolCallArgsSnapshot(string, string)                      {}
func (*sixMethods) OnTokenUsage(int)                                           {}

func TestOutputIsBounded(t *testing.T) {
	var o output
	piece := strings.Repeat("é", 1<<20)
	for range 6 {
		o.add(piece)
	}
	if s := o.String(); len(s) > outputLimit+100 || !strings.HasSuffix(s, "longer than 8 MiB]") {
		t.Errorf("%d bytes kept, end %q", len(s), s[len(s)-40:])
	}
}

func TestNestingIsBounded(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1)
	tr := newTranslator(agentInfo{})
	var rec agentstreamtest.Recorder
	tr.begin(&rec)
	facts := tr.update([]byte(`{"update":{"sessionUpdate":"new_thing","x":` + deep + `}}`))
	if len(facts) != 1 || facts[0].Diagnostic == "" || len(rec.Events()) > 0 {
		t.Errorf("facts %v, events %s", facts, rec.String())
	}
}

func TestStatusLines(t *testing.T) {
	for _, c := range []struct {
		agent, line string
		want        *statusLine
	}{
		{"pi-acp", "Queued message (position 1).", &statusLine{"info", "Queued message (position 1).", false}},
		{"pi-acp", "Retrying (attempt 1/3 in 2s)...\n", &statusLine{"info", "Retrying (attempt 1/3 in 2s)...", true}},
		{"pi-acp", "I said: Retrying (attempt 1/3)", nil},
		{"@agentclientprotocol/codex-acp", "Warning: old model\n\n", &statusLine{"warning", "old model", false}},
		{"@agentclientprotocol/codex-acp", "no blank line behind it", nil},
		{"other", "Warning: old model\n\n", nil},
	} {
		p := profileOf(agentInfo{Name: c.agent})
		got, ok := p.status(&update{}, message, []byte(c.line))
		if ok != (c.want != nil) || ok && got != *c.want {
			t.Errorf("%s says %q: %+v, %v", c.agent, c.line, got, ok)
		}
	}
}

func TestRPCErrorDetail(t *testing.T) {
	e := rpcError(&acpwire.Error{Code: -32603, Data: json.RawMessage(`{"errorKind": "limit"}`)})
	if e.Code != source.CodeAgentError || e.Detail != `{"errorKind":"limit"}` || e.Message == "" {
		t.Errorf("%+v", e)
	}
}
