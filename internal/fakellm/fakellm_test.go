package fakellm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var readSchema = object{"type": "object", "required": []any{"filePath", "limit"}, "properties": object{
	"filePath": object{"type": "string"}, "limit": object{"type": "integer", "minimum": 5}, "offset": object{"type": "number"},
}}

var shellSchema = object{"type": "OBJECT", "required": []any{"command", "description"}, "properties": object{
	"command": object{"type": "STRING"}, "description": object{"type": "STRING"},
}}

var writeSchema = object{"type": "object", "required": []any{"path", "content"}, "properties": object{
	"path": object{"type": "string"}, "content": object{"type": "string"},
}}

func (d dialect) offer() []any {
	return []any{d.tool("read", readSchema), d.tool("bash", shellSchema), d.tool("write", writeSchema)}
}

var stops = map[string]map[string]string{
	"chat":      {"": "stop", "calls": "tool_calls", "length": "length", "refusal": "content_filter"},
	"responses": {"": "completed", "calls": "completed", "length": "incompletemax_output_tokens", "refusal": "incompletecontent_filter"},
	"anthropic": {"": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"},
	"gemini":    {"": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"},
}

var cases = []struct {
	name   string
	prompt string
	past   []exchange
	want   answer
}{
	{name: "no marker", prompt: "hello", want: answer{Text: "Hello from the scripted model."}},
	{name: "plain", prompt: "[[S:plain]]", want: answer{Text: "Hello from the scripted model."}},
	{name: "unknown", prompt: "[[S:what]]", want: answer{Text: "There is no script what. "}},
	{name: "reason", prompt: "go [[S:reason]]", want: answer{Thoughts: "Let me think. Yes, that is it.", Text: "The answer is 42."}},
	{name: "long", prompt: "[[S:long n=2]]", want: answer{Text: "1. amber delta amber\n2. birch knoll birch\n"}},
	{name: "unicode", prompt: "[[S:unicode]]", want: answer{Text: strings.Join(unicodeChunks, "")}},
	{name: "empty", prompt: "[[S:empty]]"},
	{name: "maxtok", prompt: "[[S:maxtok]]", want: answer{Text: "Cut by length", Stop: "length"}},
	{name: "refusal", prompt: "[[S:refusal]]", want: answer{Text: "I will not.", Stop: "refusal"}},
	{name: "slow", prompt: "[[S:slow ms=1]]", want: answer{Text: "Working. tick 1\nDone."}},
	{name: "tool_ok", prompt: "[[S:tool_ok path=/w/my file.txt]]", want: answer{Text: "I will look. ", Stop: "calls", Calls: []string{`read({"filePath":"/w/my file.txt","limit":5})`}}},
	{name: "tool_ok, the result is there", prompt: "[[S:tool_ok]]", past: []exchange{{[]string{"buy\n milk"}}}, want: answer{Text: "The tools said: (1) buy milk That is all."}},
	{name: "tool_fail", prompt: "[[S:tool_fail path=/w/a]]", want: answer{Text: "I will look. ", Stop: "calls", Calls: []string{`read({"filePath":"/w/a.missing","limit":5})`}}},
	{name: "parallel", prompt: "[[S:parallel path=a path2=b]]", want: answer{Text: "I will look. ", Stop: "calls", Calls: []string{`read({"filePath":"a","limit":5})`, `read({"filePath":"b","limit":5})`}}},
	{name: "parallel, results are there", prompt: "[[S:parallel]]", past: []exchange{{[]string{"A", "B"}}}, want: answer{Text: "The tools said: (1) A (2) B That is all."}},
	{name: "shell", prompt: "[[S:shell command=echo hi there]]", want: answer{Text: "I will look. ", Stop: "calls", Calls: []string{`bash({"command":"echo hi there","description":"scripted"})`}}},
	{name: "write", prompt: "[[S:write path=/w/n.txt content=one two]]", want: answer{Text: "I will look. ", Stop: "calls", Calls: []string{`write({"content":"one two","path":"/w/n.txt"})`}}},
	{name: "twosteps", prompt: "[[S:twosteps]]", past: []exchange{{[]string{"A"}}}, want: answer{Thoughts: "One more.", Text: "And the next. ", Stop: "calls", Calls: []string{`read({"filePath":"b.txt","limit":5})`}}},
	{name: "twosteps, both are there", prompt: "[[S:twosteps]]", past: []exchange{{[]string{"A"}}, {[]string{"B"}}}, want: answer{Text: "The tools said: (1) A (2) B That is all."}},
	{name: "err400", prompt: "[[S:err400]]", want: answer{Status: 400, Error: "scripted failure 400"}},
	{name: "err401", prompt: "[[S:err401]]", want: answer{Status: 401, Error: "scripted failure 401"}},
	{name: "err429", prompt: "[[S:err429]]", want: answer{Status: 429, Error: "scripted failure 429"}},
	{name: "err500", prompt: "[[S:err500]]", want: answer{Status: 500, Error: "scripted failure 500"}},
}

// Every script says the same on every wire, streamed or not.
func TestScriptsOnEveryWire(t *testing.T) {
	server := httptest.NewServer(New(Options{}))
	defer server.Close()
	for _, d := range dialects {
		for _, stream := range []bool{true, false} {
			for _, c := range cases {
				t.Run(fmt.Sprintf("%s/stream=%v/%s", d.name, stream, c.name), func(t *testing.T) {
					want := c.want
					if want.Status == 0 {
						want.Status, want.Stop = 200, stops[d.name][want.Stop]
					}
					got := d.ask(t, server.URL, d.prompt([]string{c.prompt}, d.offer(), c.past, stream), stream)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

func TestEveryScriptIsTried(t *testing.T) {
	tried := map[string]bool{"drop": true} // below
	for _, c := range cases {
		if m, ok := findMarker(c.prompt); ok {
			tried[m.script] = true
		}
	}
	for _, name := range Scripts() {
		if !tried[name] {
			t.Errorf("no case plays %s", name)
		}
	}
}

func TestDropCutsTheStream(t *testing.T) {
	for _, d := range dialects {
		server := httptest.NewServer(New(Options{}))
		for i, want := range []answer{
			{Status: 200, Text: "This answer will be ", Cut: true},
			{Status: 200, Text: "Hello from the scripted model.", Stop: stops[d.name][""]},
		} {
			got := d.ask(t, server.URL, d.prompt([]string{"[[S:drop times=1]]"}, d.offer(), nil, true), true)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, request %d (-want +got):\n%s", d.name, i+1, diff)
			}
		}
		if got := d.ask(t, server.URL, d.prompt([]string{"[[S:drop]]"}, d.offer(), nil, false), false); !got.Cut {
			t.Errorf("%s: an answer that is not streamed came whole: %+v", d.name, got)
		}
		server.Close()
	}
}

func TestSlowEndsWithItsReader(t *testing.T) {
	ended := make(chan struct{})
	model := New(Options{Slow: time.Hour})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		model.ServeHTTP(w, r)
	}))
	defer server.Close()
	d := dialects[0]
	body, err := json.Marshal(d.prompt([]string{"[[S:slow]]"}, d.offer(), nil, true))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+d.path(true), strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	seen := ""
	for buf := make([]byte, 512); !strings.Contains(seen, "tick 2"); {
		n, err := resp.Body.Read(buf)
		seen += string(buf[:n])
		if err != nil {
			t.Fatalf("the answer ended (%v) after %q", err, seen)
		}
	}
	cancel()
	_ = resp.Body.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the answer goes on without a reader")
	}
}

// A question with no tools is the agent's own: a title, a summary.
func TestSideQuestions(t *testing.T) {
	server := httptest.NewServer(New(Options{}))
	defer server.Close()
	for _, d := range dialects {
		if d.name == "responses" {
			continue // its prompt offers the web search always
		}
		got := d.ask(t, server.URL, d.prompt([]string{"Generate a title", "[[S:err500]]"}, nil, nil, true), true)
		if want := (answer{Status: 200, Text: "A scripted title", Stop: stops[d.name][""]}); !cmp.Equal(want, got) {
			t.Errorf("%s: %+v, want %+v", d.name, got, want)
		}
	}
	d := dialects[3]
	body := d.prompt([]string{"who speaks next?"}, nil, nil, false)
	body["generationConfig"] = object{"responseMimeType": "application/json", "responseJsonSchema": object{
		"type": "object", "required": []any{"reasoning", "next_speaker"},
		"properties": object{"reasoning": object{"type": "string"}, "next_speaker": object{"enum": []any{"model", "user"}}},
	}}
	if got := d.ask(t, server.URL, body, false); got.Text != `{"next_speaker":"user","reasoning":"scripted"}` {
		t.Errorf("an answer in JSON: %s", got.Text)
	}
}

// Agents put notes of their own between the user's prompt and the end.
func TestThePromptIsFoundAmongNotes(t *testing.T) {
	model := New(Options{})
	server := httptest.NewServer(model)
	defer server.Close()
	d := dialects[0]
	d.ask(t, server.URL, d.prompt([]string{"old [[S:err500]]", "new [[S:tool_ok]]", "<note>cwd</note>"}, d.offer(), []exchange{{[]string{"R"}}}, true), true)
	d.ask(t, server.URL, d.prompt([]string{"old [[S:err500]]", "new"}, d.offer(), nil, true), true)
	want := []Request{
		{Wire: "chat", Script: "tool_ok", Prompt: "new [[S:tool_ok]]", Stream: true, Tools: []string{"read", "bash", "write"}, Results: []string{"R"}},
		{Wire: "chat", Script: "plain", Prompt: "new", Stream: true, Tools: []string{"read", "bash", "write"}},
	}
	got := model.Requests()
	for i := range got {
		if !strings.Contains(string(got[i].Body), "old [[S:err500]]") {
			t.Errorf("the body is not the whole request: %s", got[i].Body)
		}
		got[i].Body = nil
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// An agent that reads and writes by its shell alone is served too.
func TestToolsAreChosenByNameAndSchema(t *testing.T) {
	list := func(item object) object {
		return object{"type": "object", "properties": object{"files": object{"type": "array", "items": item}}}
	}
	for _, c := range []struct {
		name, prompt, tool, want string
		schema                   object
	}{
		{"words", "[[S:tool_ok path=it's]]", "shell", `{"command":["bash","-lc","cat 'it'\\''s'"]}`, object{"type": "object", "properties": object{"command": object{"type": "array", "items": object{"type": "string"}}}}},
		{"line", "[[S:write path=a content=b]]", "exec_command", `{"cmd":"printf %s 'b' \u003e 'a'"}`, object{"type": "object", "properties": object{"cmd": object{"type": "string"}, "tty": object{"type": "boolean"}}}},
		{"list", "[[S:tool_ok path=a]]", "read_files", `{"files":["a"]}`, list(object{"type": "string"})},
		{"list of objects", "[[S:tool_ok path=a]]", "read_files", `{"files":[{"path":"a"}]}`, list(object{"type": "object", "required": []any{"path"}, "properties": object{"path": object{"type": "string"}}})},
		{"choice", "[[S:tool_ok path=a]]", "View", `{"mode":"raw","path":"a","range":[],"x":false,"y":"scripted"}`, object{"type": []any{"null", "object"}, "required": []any{"mode", "range", "x", "y"},
			"properties": object{"path": true, "mode": object{"enum": []any{"raw"}}, "range": object{"type": "array"}, "x": object{"anyOf": []any{object{"type": "boolean"}}}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(New(Options{}))
			defer server.Close()
			d := dialects[0]
			got := d.ask(t, server.URL, d.prompt([]string{c.prompt}, []any{d.tool(c.tool, c.schema)}, nil, true), true)
			if want := []string{called(c.tool, c.want)}; !cmp.Equal(want, got.Calls) {
				t.Errorf("calls %q, want %q", got.Calls, want)
			}
		})
	}
	server := httptest.NewServer(New(Options{}))
	defer server.Close()
	d := dialects[2]
	for _, prompt := range []string{"[[S:tool_ok]]", "[[S:parallel]]", "[[S:twosteps]]"} {
		got := d.ask(t, server.URL, d.prompt([]string{prompt}, []any{d.tool("think", object{})}, nil, false), false)
		if got.Text != "No tool fits. " {
			t.Errorf("%s without a tool: %+v", prompt, got)
		}
	}
}

// Agents join what bears one id to one message, and then call for ever.
func TestEveryAnswerHasItsOwnID(t *testing.T) {
	server := httptest.NewServer(New(Options{}))
	defer server.Close()
	keys := map[string]string{"chat": "id", "responses": "id", "anthropic": "id", "gemini": "responseId"}
	for _, d := range dialects {
		seen := map[string]bool{}
		for range 3 {
			var id string
			spy := d
			spy.whole = func(_ *testing.T, v object, _ *answer) { id = dig[string](v, keys[d.name]) }
			spy.ask(t, server.URL, d.prompt([]string{"hi"}, d.offer(), nil, false), false)
			if id == "" || seen[id] {
				t.Errorf("%s: id %q is none or not new", d.name, id)
			}
			seen[id] = true
		}
	}
}

func TestCallsComeToAnEnd(t *testing.T) {
	server := httptest.NewServer(New(Options{}))
	defer server.Close()
	d := dialects[0]
	past := slices.Repeat([]exchange{{[]string{"r"}}}, maxRounds)
	body := d.prompt([]string{"[[S:err500]]"}, d.offer(), past, false)
	if got := d.ask(t, server.URL, body, false); got.Text != "Enough of tools." {
		t.Errorf("after %d rounds of calls: %+v", maxRounds, got)
	}
}

func TestOtherRoutes(t *testing.T) {
	server := httptest.NewServer(New(Options{}))
	defer server.Close()
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/v1/models", "", 200, "fake-model"},
		{"HEAD", "/", "", 200, ""},
		{"POST", "/v1/messages/count_tokens", "{}", 200, `"input_tokens":1200`},
		{"POST", "/v1beta/models/m:countTokens", "{}", 200, `"totalTokens":1200`},
		{"POST", "/v1/other", "{}", 404, "no such route"},
		{"POST", "/v1/chat/completions", "{", 400, "unexpected"},
		{"POST", "/v1/responses", `{"input":1}`, 400, "cannot unmarshal"},
		{"POST", "/v1beta/models/m:streamGenerateContent", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"x"}]}]}`, 200, `[{"candidates"`},
		{"POST", "/v1/responses", `{"input":"[[S:reason]]"}`, 200, "A scripted title"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, server.URL+c.path, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != c.status || !strings.Contains(string(body), c.want) {
			t.Errorf("%s %s = %d %s (%v), want %d and %q", c.method, c.path, resp.StatusCode, body, err, c.status, c.want)
		}
	}
}

func FuzzRequest(f *testing.F) {
	routes := []string{"/v1/chat/completions", "/v1/responses", "/v1/messages", "/v1beta/models/m:streamGenerateContent"}
	for i, d := range dialects {
		body, err := json.Marshal(d.prompt([]string{"[[S:tool_ok path=a]]"}, d.offer(), []exchange{{[]string{"r"}}}, true))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, body)
	}
	f.Add(0, []byte(`{"messages":[{"role":"user","content":"[[S:parallel]]"}],"tools":[{"function":{"name":"read","parameters":{"type":"object","required":["path"],"properties":{"path":true}}}}]}`))
	f.Fuzz(func(t *testing.T, i int, body []byte) {
		if strings.Contains(string(body), "slow") || strings.Contains(string(body), "drop") {
			return // they wait, and panic to cut the connection
		}
		w := httptest.NewRecorder()
		New(Options{}).ServeHTTP(w, httptest.NewRequest(http.MethodPost, routes[uint(i)%4], strings.NewReader(string(body))))
		if w.Code == http.StatusOK && w.Body.Len() == 0 {
			t.Error("an answer with nothing in it")
		}
	})
}

// A prompt with a marker chooses the script; any client of the wire can ask.
func ExampleNew() {
	server := httptest.NewServer(New(Options{}))
	defer server.Close()
	resp, err := http.Post(server.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"messages":[{"role":"user","content":"[[S:reason]]"}],"tools":[{"type":"function","function":{"name":"read"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	err = json.NewDecoder(resp.Body).Decode(&answer)
	fmt.Println(answer.Choices[0].Message.Content, err)
	// Output: The answer is 42. <nil>
}
