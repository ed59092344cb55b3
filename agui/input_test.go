package agui_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
)

func TestDecodeInput(t *testing.T) {
	text := agui.StringContent
	tests := []struct {
		name, body string
		want       agui.Input
	}{
		{"0.0.59", `{"threadId":"t","runId":"r","tools":[],"context":[],"forwardedProps":{},"state":{},"messages":[{"id":"u","role":"user","content":"q"}]}`,
			agui.Input{ThreadID: "t", RunID: "r", Messages: []agui.Message{{ID: "u", Role: "user", Content: text("q")}}, State: json.RawMessage(`{}`), Tools: []agui.Tool{}, ForwardedProps: json.RawMessage(`{}`)}},
		{"1.0.0", `{"threadId":"t","runId":"r","protocolVersion":"1.0","parentRunId":"p","messages":[],"resume":[{"interruptId":"i","status":"resolved","payload":{"approved":true}}]}`,
			agui.Input{ThreadID: "t", RunID: "r", ProtocolVersion: "1.0", ParentRunID: "p", Messages: []agui.Message{}, Resume: []agui.Resume{{InterruptID: "i", Status: "resolved", Payload: json.RawMessage(`{"approved":true}`)}}}},
		{"null is absent, unknown is ignored", `{"threadId":"t","runId":"r","protocolVersion":null,"state":null,"tools":null,"context":null,"forwardedProps":null,"resume":null,"odd":{"x":1},"messages":[{"id":"a","role":"assistant","content":null,"name":null,"toolCalls":null,"metadata":null,"odd":1}]}`,
			agui.Input{ThreadID: "t", RunID: "r", Messages: []agui.Message{{ID: "a", Role: "assistant"}}}},
		{"a tool result as the last message, tools with null parameters", `{"threadId":"t","runId":"r","messages":[{"id":"a","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"},"encryptedValue":null}]},{"id":"x","role":"tool","toolCallId":"c","content":"ok","error":null}],"tools":[{"name":"f","description":"d","parameters":null}]}`,
			agui.Input{ThreadID: "t", RunID: "r", Messages: []agui.Message{{ID: "a", Role: "assistant", ToolCalls: []agui.ToolCall{{ID: "c", Name: "f", Arguments: "{}"}}}, {ID: "x", Role: "tool", ToolCallID: "c", Content: text("ok")}}, Tools: []agui.Tool{{Name: "f", Description: "d"}}}},
		{"parts, the old binary one too; context that is no string", `{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"a"},{"type":"binary","mimeType":"image/png","data":"AA=="}]}],"context":[{"description":"d","value":"v"},{"description":"e","value":{"k":1}}]}`,
			agui.Input{ThreadID: "t", RunID: "r", Messages: []agui.Message{{ID: "u", Role: "user", Content: json.RawMessage(`[{"type":"text","text":"a"},{"type":"image","source":{"type":"data","value":"AA==","mimeType":"image/png"}}]`)}}, Context: []agui.ContextEntry{{Description: "d", Value: "v"}, {Description: "e", Value: `{"k":1}`}}}},
		{"a role of a newer client is left out", `{"threadId":"t","runId":"r","messages":[{"id":"u","role":"oracle","content":5},{"id":"v","role":"user","content":"q"}]}`,
			agui.Input{ThreadID: "t", RunID: "r", Messages: []agui.Message{{ID: "v", Role: "user", Content: text("q")}}}},
		{"a name twice, as JavaScript reads it", `{"threadId":"x","threadId":"t","runId":"r","messages":[]}`,
			agui.Input{ThreadID: "t", RunID: "r", Messages: []agui.Message{}}},
	}
	for _, tt := range tests {
		got, err := agui.DecodeInput([]byte(tt.body))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestDecodeInputSaysWhichFieldIsWrong(t *testing.T) {
	for body, want := range map[string]string{
		``:                               "JSON object",
		`[]`:                             "JSON object",
		`{`:                              "not JSON",
		`{"threadId":5}`:                 "threadId: unexpected number",
		`{"runId":"r","messages":[]}`:    "threadId: missing",
		`{"threadId":"t","messages":[]}`: "runId: missing",
		`{"threadId":"t","runId":"r"}`:   "messages: missing",
		`{"threadId":"t","runId":"r","messages":{}}`:                                                                                                   "messages: unexpected object",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":"x"},{"id":7}]}`:                                                    "messages[1].id: unexpected number",
		`{"threadId":"t","runId":"r","messages":[{"role":"user","content":"x"}]}`:                                                                      "messages[0].id: missing",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","content":"x"}]}`:                                                                           "messages[0].role: missing",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user"}]}`:                                                                           "messages[0].content:",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"user","content":5}]}`:                                                               "messages[0].content:",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"activity","content":"x"}]}`:                                                         "messages[0].content:",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"tool","content":"x"}]}`:                                                             "messages[0].toolCallId: missing",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"assistant","toolCalls":[{"function":{"name":"f","arguments":""}}]}]}`:               "messages[0].toolCalls[0].id: missing",
		`{"threadId":"t","runId":"r","messages":[{"id":"a","role":"assistant","toolCalls":[{"id":"c","function":{"name":"f","arguments":{"a":1}}}]}]}`: "messages[0].toolCalls[0]",
		`{"threadId":"t","runId":"r","messages":[],"resume":[{"status":"resolved"}]}`:                                                                  "resume[0].interruptId: missing",
		`{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":"yes"}]}`:                                                     "resume[0].status:",
		`{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"i","status":true}]}`:                                                      "resume[0].status: unexpected boolean",
	} {
		_, err := agui.DecodeInput([]byte(body))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

// The whole history is posted each time; it grows to megabytes.
func TestDecodeInputTakesALongHistory(t *testing.T) {
	long := strings.Repeat("é\n\"", 2<<20)
	sent := agui.Input{ThreadID: "t", RunID: "r", Messages: []agui.Message{{ID: "u", Role: "user", Content: agui.StringContent(long)}}}
	body := agui.Append(nil, &agui.RunStarted{Input: &sent})
	body = bytes.TrimSuffix(bytes.TrimPrefix(body, []byte(`{"type":"RUN_STARTED","threadId":"","runId":"","input":`)), []byte("}"))
	got, err := agui.DecodeInput(body)
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages[0].Text() != long {
		t.Error("the text is another one")
	}
}

func TestMessageText(t *testing.T) {
	for content, want := range map[string]string{
		`"a\u00e9\ud83d\ude00"`: "aé😀",
		`[{"type":"text","text":"a"},{"type":"image","source":{}},{"type":"text","text":"b"}]`: "a\nb",
		`[1]`: "", `{"x":1}`: "", ``: "",
	} {
		m := agui.Message{Content: json.RawMessage(content)}
		if got := m.Text(); got != want {
			t.Errorf("%s: %q, want %q", content, got, want)
		}
	}
}

func TestContentGetsTheFormOfTheProtocol(t *testing.T) {
	for _, tt := range []struct{ role, in, want, portable string }{
		{"user", `"text"`, `"text"`, `"text"`},
		{"user", `[{"type":"text","text":"a","id":null,"odd":1},{"type":"odd"},5,{"type":"image"},{"type":"image","source":{"type":"odd"}}]`, `[{"type":"text","text":"a"}]`, `[{"type":"text","text":"a"}]`},
		{"user", `[{"type":"image","id":"i","source":{"type":"url","value":"http://x/y.png"},"metadata":{"a":1}}]`, `[{"type":"image","id":"i","source":{"type":"url","value":"http://x/y.png"},"metadata":{"a":1}}]`, `[{"type":"image","id":"i","source":{"type":"url","value":"http://x/y.png"},"metadata":{"a":1}}]`},
		{"user", `[{"type":"document","source":{"type":"file","value":"f1","provider":"p","mimeType":"application/pdf"}}]`, `[{"type":"document","source":{"type":"file","value":"f1","provider":"p","mimeType":"application/pdf"}}]`, `[{"type":"text","text":"[document application/pdf]"}]`},
		{"user", `[{"type":"binary","mimeType":"audio/wav","url":"http://x"},{"type":"binary","mimeType":"a/b","id":"f","filename":"n"}]`, `[{"type":"audio","source":{"type":"url","value":"http://x","mimeType":"audio/wav"}},{"type":"document","source":{"type":"file","value":"f","mimeType":"a/b"},"metadata":{"filename":"n"}}]`, `[{"type":"audio","source":{"type":"url","value":"http://x","mimeType":"audio/wav"}},{"type":"text","text":"[document a/b]"}]`},
		{"tool", `[{"type":"text","text":"a"},{"type":"video","source":{"type":"url","value":"u"}}]`, `[{"type":"text","text":"a"},{"type":"video","source":{"type":"url","value":"u"}}]`, `"a\n[video]"`},
		{"assistant", `[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, `"a\nb"`, `"a\nb"`},
	} {
		body := `{"threadId":"t","runId":"r","messages":[{"id":"m","role":"` + tt.role + `","toolCallId":"c","content":` + tt.in + `}]}`
		in, err := agui.DecodeInput([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if got := string(in.Messages[0].Content); got != tt.want {
			t.Errorf("%s %s: %s, want %s", tt.role, tt.in, got, tt.want)
		}
		if got := string(in.Messages[0].Portable().Content); got != tt.portable {
			t.Errorf("%s %s, portable: %s, want %s", tt.role, tt.in, got, tt.portable)
		}
		e, events := record("run")
		e.Begin(agui.RunStarted{Input: &in})
		e.Emit(&agui.MessagesSnapshot{Messages: in.Messages})
		e.Finish(agui.RunFinished{})
		if checkStream(t, *events); len(*events) != 3 || !bytes.Contains((*events)[0], []byte(`"input"`)) {
			t.Errorf("%s %s: %s", tt.role, tt.in, bytes.Join(*events, []byte("\n")))
		}
		live, folded := agui.NewList(), agui.NewList()
		live.Add(in.Messages...)
		if fold(t, folded, *events); string(live.AppendJSON(nil)) != string(folded.AppendJSON(nil)) {
			t.Errorf("%s %s: %s live, %s folded", tt.role, tt.in, live.AppendJSON(nil), folded.AppendJSON(nil))
		}
	}
}

func FuzzDecodeInput(f *testing.F) {
	f.Add([]byte(`{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":[{"type":"text","text":"\ud800"}]}],"state":{"a":1},"tools":[{"name":"f"}],"context":[{"value":1}],"resume":[{"interruptId":"i","status":"cancelled"}]}`))
	f.Add([]byte(`{"threadId":null,"messages":[{"id":"a","role":"assistant","toolCalls":[{"id":"c","function":{}}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := agui.DecodeInput(body)
		if err != nil {
			return
		}
		// What was accepted can be echoed, and is the same when read again.
		echo := agui.Append(nil, &agui.RunStarted{ThreadID: in.ThreadID, RunID: in.RunID, Input: &in})
		if !json.Valid(echo) {
			t.Fatalf("%q becomes %q", body, echo)
		}
		e, err := agui.Decode(echo)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", body, echo, err)
		}
		again := agui.Append(nil, e)
		if string(again) != string(echo) {
			t.Fatalf("%q, then %q", echo, again)
		}
	})
}
