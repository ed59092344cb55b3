package badinput

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

const limited = "limits: { body_bytes: 9000000 }\n"

// What is no input is refused, says what is wrong with it, and leaves nothing.
func TestInputThatIsRefused(t *testing.T) {
	s := server(t, limited)
	other := bystander(t, s)
	form := func(change func(map[string]any)) any {
		in := harness.Input("refused", "r1", harness.User("u1", "help"))
		change(in)
		return in
	}
	for name, c := range map[string]struct {
		body   any
		header []string
		code   string
		says   string
	}{
		"nothing":             {"", nil, "bad_request", "expected a JSON object"},
		"no JSON":             {"hello", nil, "bad_request", "expected a JSON object"},
		"cut":                 {`{"threadId":"refused","runId":"r1","messages":[{"id":`, nil, "bad_request", ""},
		"an array":            {`[]`, nil, "bad_request", "expected a JSON object"},
		"null":                {`null`, nil, "bad_request", "expected a JSON object"},
		"two objects":         {`{}{}`, nil, "bad_request", ""},
		"very deep":           {strings.Repeat(`{"threadId":`, 100_000), nil, "bad_request", ""},
		"no thread":           {form(func(in map[string]any) { delete(in, "threadId") }), nil, "bad_request", "threadId"},
		"no run":              {form(func(in map[string]any) { delete(in, "runId") }), nil, "bad_request", "runId"},
		"no messages":         {form(func(in map[string]any) { delete(in, "messages") }), nil, "bad_request", "messages"},
		"thread a number":     {form(func(in map[string]any) { in["threadId"] = 7 }), nil, "bad_request", "threadId"},
		"thread too long":     {form(func(in map[string]any) { in["threadId"] = strings.Repeat("t", 257) }), nil, "bad_request", "threadId"},
		"thread with newline": {form(func(in map[string]any) { in["threadId"] = "a\nb" }), nil, "bad_request", "threadId"},
		"messages an object":  {form(func(in map[string]any) { in["messages"] = map[string]any{} }), nil, "bad_request", "messages"},
		"message without id":  {form(func(in map[string]any) { in["messages"] = []any{map[string]any{"role": "user", "content": "x"}} }), nil, "bad_request", "messages[0].id"},
		"content a number": {form(func(in map[string]any) {
			in["messages"] = []any{map[string]any{"id": "u", "role": "user", "content": 7}}
		}), nil, "bad_request", "messages[0].content"},
		"tool message without call": {form(func(in map[string]any) {
			in["messages"] = []any{map[string]any{"id": "t", "role": "tool", "content": "x"}}
		}), nil, "bad_request", "toolCallId"},
		"resume without id":   {form(func(in map[string]any) { in["resume"] = []any{map[string]any{"status": "resolved"}} }), nil, "resume_invalid", "interruptId"},
		"not said to be JSON": {form(func(map[string]any) {}), []string{"Content-Type", "text/plain"}, "not_json", "application/json"},
		"too big":             {bytes.Repeat([]byte(" "), 9_000_001), nil, "too_large", "9000000"},
		"too big a message":   {form(func(in map[string]any) { in["state"] = strings.Repeat("x", 9_000_000) }), nil, "too_large", "limits.body_bytes"},
		"unknown agent":       {form(func(map[string]any) {}), nil, "agent_unknown", "nobody"},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.For(t)
			agent := "demo"
			if c.code == "agent_unknown" {
				agent = "nobody"
			}
			r := s.Do("POST", "/agui/"+agent, c.body, c.header...)
			var p struct{ Detail string }
			_ = json.Unmarshal(r.Body, &p)
			if r.Code != c.code || !strings.Contains(p.Detail, c.says) || p.Detail == "" {
				t.Errorf("%d %s", r.Status, r.Body)
			}
			if r := s.Do("GET", harness.ThreadPath("refused", ""), nil); r.Code != "thread_unknown" {
				t.Errorf("it left a thread: %d %s", r.Status, r.Body)
			}
		})
	}
	other()
}

// The same body again is the same run; another one under its id is refused and
// changes nothing.
func TestTheSameRunAgain(t *testing.T) {
	s := server(t, "")
	thread := harness.ID(t, "thread")
	in := harness.Input(thread, "r1", harness.User("u1", "list"))
	first := s.Stream("POST", "/agui/demo", in).All()
	if len(first) == 0 || !harness.Ended(first[len(first)-1]) {
		t.Fatalf("%d events", len(first))
	}
	again := s.Stream("POST", "/agui/demo", in).All()
	if last := again[len(again)-1]; last.ID != first[len(first)-1].ID {
		t.Errorf("the same body ended with %s %s", last.ID, last.Data)
	}
	before := s.Log(thread)
	for name, other := range map[string]map[string]any{
		"another text":    harness.Input(thread, "r1", harness.User("u1", "plan")),
		"another message": harness.Input(thread, "r1", harness.User("u2", "list")),
		"one more":        harness.Input(thread, "r1", harness.User("u1", "list"), harness.User("u2", "plan")),
	} {
		if r := s.Do("POST", "/agui/demo", other); r.Status != 409 || r.Code != "run_conflict" {
			t.Errorf("%s: %d %s", name, r.Status, r.Body)
		}
	}
	if r := s.Do("POST", "/agui/clean", in); r.Status != 409 {
		t.Errorf("another agent: %d %s", r.Status, r.Body)
	}
	if after := s.Log(thread); len(after) != len(before) || len(s.Runs(thread)) != 1 {
		t.Errorf("%d events, before %d; runs %+v", len(after), len(before), s.Runs(thread))
	}
	checkThread(t, s, thread)
}

// What the protocol does not know, and null for all that may be absent, is no
// reason to refuse.
func TestInputTakenInStride(t *testing.T) {
	s := server(t, limited)
	for name, body := range map[string]string{
		"nulls": `{"threadId":THREAD,"runId":"r1","parentRunId":null,"protocolVersion":null,"state":null,"tools":null,"context":null,"forwardedProps":null,"resume":null,
			"messages":[{"id":"u1","role":"user","content":"list","name":null,"encryptedValue":null,"metadata":null,"toolCalls":null}]}`,
		"unknown fields": `{"threadId":THREAD,"runId":"r1","state":{},"tools":[],"context":[],"forwardedProps":{"x":[1]},"fresh":{"a":[null]},"__proto__":{},
			"messages":[{"id":"u1","role":"user","content":"list","colour":"red"}]}`,
		"unknown roles":  `{"threadId":THREAD,"runId":"r1","messages":[{"id":"o","role":"oracle","content":{"deep":1}},{"id":"u1","role":"user","content":"list"}]}`,
		"only what must": `{"threadId":THREAD,"runId":"r1","messages":[{"id":"u1","role":"user","content":"list"}]}`,
		"odd parts":      `{"threadId":THREAD,"runId":"r1","messages":[{"id":"u1","role":"user","content":[{"type":"text","text":"list"},{"type":"smell","strength":9},{"type":"image","source":null}]}]}`,
		"doubled names":  `{"threadId":"x","threadId":THREAD,"runId":"r1","messages":[{"id":"u1","role":"user","content":"list"}]}`,
		"invalid UTF-8":  `{"threadId":THREAD,"runId":"r1","messages":[{"id":"u1","role":"user","content":"list` + "\xff\xc3" + `\ud800"}]}`,
		"odd tools":      `{"threadId":THREAD,"runId":"r1","tools":[{"name":"t","description":"d","parameters":17}],"context":[{"description":"d","value":{"a":1}}],"messages":[{"id":"u1","role":"user","content":"list"}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			thread := harness.ID(t, "thread")
			s := s.For(t)
			events := s.Stream("POST", "/agui/demo", strings.ReplaceAll(body, "THREAD", fmt.Sprintf("%q", thread))).All()
			if last := events[len(events)-1]; last.Type() != agui.TypeRunFinished {
				t.Errorf("%s", last.Data)
			}
			checkThread(t, s, thread)
		})
	}
}

// Eight megabytes are a message like any other.
func TestBigInput(t *testing.T) {
	harness.Require(t)
	s := server(t, limited)
	for _, v := range aguitest.Versions {
		c := s.Client(v, "clean", harness.ID(t, "thread"))
		text := strings.Repeat("eight bytes", 8_000_000/11)
		r := c.Say(text)
		checkClient(t, s, c, r)
		if r.Outcome != "success" {
			t.Errorf("%s: %q %+v", v, r.Outcome, r.RunError)
		}
		if r := s.Runs(c.Thread)[0]; r.State != engine.RunFinished {
			t.Errorf("%s: %+v", v, r)
		}
		if m := s.Messages(c.Thread).Messages; len(m) == 0 || len(m[0].Content) != len(text)+2 {
			t.Errorf("%s: the message was cut", v)
		}
	}
}
