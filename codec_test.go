package agentstream_test

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
)

func ptr[T any](v T) *T { return &v }

// forms is the JSON form of every kind of event, as files and pipes hold it.
var forms = []struct {
	event agentstream.Event
	json  string
}{
	{agentstream.MessageChunk{Text: "a\"\\\n\r\t\x01<é>\u2028"}, `{"event":"message_chunk","text":"a\"\\\n\r\t\u0001<é>\u2028"}`},
	{agentstream.ThoughtChunk{}, `{"event":"thought_chunk","text":""}`},
	{agentstream.ToolCall{ID: "c1", Title: "Read"}, `{"event":"tool_call","id":"c1","title":"Read"}`},
	{agentstream.ToolCallUpdate{ID: "c1", Content: "ok", Status: agentstream.ToolCallStatusCompleted}, `{"event":"tool_call_update","id":"c1","content":"ok","status":"completed"}`},
	{agentstream.ToolCallArgsSnapshot{ID: "c1", Args: `{"a":1}`}, `{"event":"tool_call_args_snapshot","id":"c1","args":"{\"a\":1}"}`},
	{agentstream.TokenUsage{TotalTokens: 12}, `{"event":"token_usage","totalTokens":12}`},
	{agentstream.ToolCallInfo{ID: "c1", Name: "read", Kind: "read", Title: "Read <a>", Locations: []agentstream.Location{{Path: "/a", Line: 3}}, ExitCode: ptr(0), Partial: true},
		`{"event":"tool_call_info","id":"c1","name":"read","kind":"read","title":"Read <a>","locations":[{"path":"/a","line":3}],"exitCode":0,"partial":true}`},
	{agentstream.Segment{}, `{"event":"segment"}`},
	{agentstream.Notice{Severity: "warning", Text: "retry"}, `{"event":"notice","severity":"warning","text":"retry"}`},
	{agentstream.Plan{Entries: []agentstream.PlanEntry{{Content: "x", Priority: "high", Status: "pending"}}}, `{"event":"plan","entries":[{"content":"x","priority":"high","status":"pending"}]}`},
	{agentstream.Plan{Entries: []agentstream.PlanEntry{}}, `{"event":"plan","entries":[]}`},
	{agentstream.Diff{ID: "c1", Path: "/a", Old: ptr(""), New: "n"}, `{"event":"diff","id":"c1","path":"/a","old":"","new":"n"}`},
	{agentstream.Output{ID: "c1", Data: "out"}, `{"event":"output","id":"c1","data":"out"}`},
	{agentstream.Media{ID: "c1", MIMEType: "image/png", URI: "file:///a", Data: "AA==", Name: "a"}, `{"event":"media","id":"c1","mimeType":"image/png","uri":"file:///a","data":"AA==","name":"a"}`},
	{agentstream.Usage{Context: &agentstream.ContextUse{Used: 1, Size: 2, Cost: 0.5, Currency: "USD"}, Turn: []agentstream.ModelUsage{{Provider: "p", Model: "m", Input: 1, Output: 2, Total: 3, Reasoning: 4, CachedRead: 5, CacheWrite: 6}}},
		`{"event":"usage","context":{"used":1,"size":2,"cost":0.5,"currency":"USD"},"turn":[{"provider":"p","model":"m","input":1,"output":2,"total":3,"reasoning":4,"cachedRead":5,"cacheWrite":6}]}`},
	{agentstream.Raw{Source: "acp", Data: []byte(`{"n":9007199254740993}`)}, `{"event":"raw","source":"acp","data":{"n":9007199254740993}}`},
	{agentstream.Raw{}, `{"event":"raw"}`},
	{agentstream.Subagent{ID: "s1", Name: "n", ToolCallID: "c1"}, `{"event":"subagent","id":"s1","name":"n","toolCallId":"c1"}`},
	{agentstream.Subagent{ID: "s1", Event: agentstream.MessageChunk{Text: "<hi>"}}, `{"event":"subagent","id":"s1","child":{"event":"message_chunk","text":"<hi>"}}`},
	{agentstream.Subagent{ID: "s1", Done: true, Err: "why"}, `{"event":"subagent","id":"s1","done":true,"error":"why"}`},
}

func TestJSONForm(t *testing.T) {
	for _, c := range forms {
		if got := string(agentstream.AppendEvent([]byte("> "), c.event)); got != "> "+c.json {
			t.Errorf("AppendEvent(%#v)\n got %s\nwant > %s", c.event, got, c.json)
		}
		got, err := agentstream.ParseEvent([]byte(c.json))
		if err != nil {
			t.Errorf("ParseEvent(%s): %v", c.json, err)
		}
		if diff := cmp.Diff(c.event, got); diff != "" {
			t.Errorf("ParseEvent(%s) (-want +got):\n%s", c.json, diff)
		}
	}
}

func TestJSONFormOfWhatHasNone(t *testing.T) {
	for _, c := range []struct {
		name  string
		event agentstream.Event
		want  string
	}{
		{"nil", nil, ``},
		{"invalid UTF-8", agentstream.MessageChunk{Text: "a\xff\xc3b"}, "{\"event\":\"message_chunk\",\"text\":\"a\ufffd\ufffdb\"}"},
		{"cost", agentstream.Usage{Context: &agentstream.ContextUse{Cost: math.NaN()}}, `{"event":"usage"}`},
		{"raw that is no JSON", agentstream.Raw{Data: []byte("oops\n")}, `{"event":"raw","data":"oops\n"}`},
		{"raw over lines", agentstream.Raw{Data: []byte("{\n \"a\": \"\u2028\xff\" }")}, `{"event":"raw","data":{"a":"\u2028` + "\ufffd" + `"}}`},
		{"status", agentstream.ToolCallUpdate{Status: 7}, `{"event":"tool_call_update","id":"","content":"","status":"status(7)"}`},
		{"pointer", &agentstream.ToolCallUpdate{ID: "c", Status: agentstream.ToolCallStatusFailed}, `{"event":"tool_call_update","id":"c","content":"","status":"failed"}`},
	} {
		if got := string(agentstream.AppendEvent(nil, c.event)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestParseEventRefuses(t *testing.T) {
	deep := strings.Repeat(`{"event":"subagent","child":`, 17) + `{"event":"segment"}` + strings.Repeat("}", 17)
	for in, want := range map[string]string{
		``:                                   "unexpected end",
		`[]`:                                 "cannot unmarshal",
		`{}`:                                 `unknown name ""`,
		`{"event":"telepathy"}`:              `unknown name "telepathy"`,
		`{"event":"segment"} x`:              "invalid character",
		`{"event":"message_chunk","text":1}`: "cannot unmarshal",
		`{"event":"raw","source":1}`:         "cannot unmarshal",
		`{"event":"subagent","id":1}`:        "cannot unmarshal",
		`{"event":"subagent","child":{}}`:    "unknown name",
		`{"event":"tool_call_update","status":"done"}`: `unknown tool call status "done"`,
		deep: "nested too deeply",
	} {
		e, err := agentstream.ParseEvent([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) || e != nil {
			t.Errorf("ParseEvent(%.60s) = %v, %v; want an error with %q", in, e, err, want)
		}
	}
}

func TestParseEventKeepsNothingOfItsInput(t *testing.T) {
	in := []byte(`{"event":"raw","data":{"a":1}}`)
	e, err := agentstream.ParseEvent(in)
	if err != nil {
		t.Fatal(err)
	}
	clear(in)
	if got := string(e.(agentstream.Raw).Data); got != `{"a":1}` {
		t.Errorf("Data = %q after the input was overwritten", got)
	}
}

func TestAppendEventCostsNothingOnTheHotPath(t *testing.T) {
	var e agentstream.Event = agentstream.MessageChunk{Text: "a fragment of an answer, \u00e9\n"}
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { buf = agentstream.AppendEvent(buf[:0], e) }); n != 0 {
		t.Errorf("AppendEvent allocates %v times a chunk, want 0", n)
	}
}

func FuzzParseEvent(f *testing.F) {
	for _, c := range forms {
		f.Add([]byte(c.json))
	}
	f.Add([]byte(`{"event":"raw","data":"\ud800"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		first, err := agentstream.ParseEvent(data)
		if err != nil {
			return
		}
		line := agentstream.AppendEvent(nil, first)
		if strings.ContainsAny(string(line), "\n\r\u2028\u2029") {
			t.Fatalf("more than one line: %q", line)
		}
		second, err := agentstream.ParseEvent(line)
		if err != nil {
			t.Fatalf("%q does not parse: %v", line, err)
		}
		if again := agentstream.AppendEvent(nil, second); string(again) != string(line) {
			t.Fatalf("not a fixed point:\n%s\n%s", line, again)
		}
	})
}

func BenchmarkAppendEvent(b *testing.B) {
	var e agentstream.Event = agentstream.ToolCallUpdate{ID: "call_1", Content: `{"path":"a`, Status: agentstream.ToolCallStatusPending}
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for b.Loop() {
		buf = agentstream.AppendEvent(buf[:0], e)
	}
}

func BenchmarkParseEvent(b *testing.B) {
	line := []byte(`{"event":"message_chunk","text":"a fragment of an answer"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := agentstream.ParseEvent(line); err != nil {
			b.Fatal(err)
		}
	}
}
