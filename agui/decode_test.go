package agui_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
)

func TestDecodeIsTolerant(t *testing.T) {
	for in, want := range map[string]agui.Event{
		`{"messageId":"m","odd":{"a":[1]},"type":"TEXT_MESSAGE_END","timestamp":null,"metadata":null,"rawEvent":null}`: &agui.TextMessageEnd{MessageID: "m"},
		` {"type":"TEXT_MESSAGE_START","messageId":"m","name":null,"timestamp":1.9}`:                                   &agui.TextMessageStart{MessageID: "m", Base: agui.Base{Timestamp: 1}},
		`{"type":"CUSTOM","name":"n"}`:                         &agui.Custom{Name: "n"},
		`{"type":"CUSTOM","name":"n","timestamp":1e300}`:       &agui.Custom{Name: "n", Base: agui.Base{Timestamp: 1 << 53}},
		`{"type":"ODD","x":1}`:                                 &agui.Unknown{Name: "ODD", Data: json.RawMessage(`{"type":"ODD","x":1}`)},
		`{"x":1}`:                                              &agui.Unknown{Data: json.RawMessage(`{"x":1}`)},
		`{"type":"RUN_FINISHED","outcome":null,"result":null}`: &agui.RunFinished{},
		"{\"type\":\"TEXT_MESSAGE_CONTENT\",\"messageId\":\"m\",\"delta\":\"a\xff\\ud800b\"}":         &agui.TextMessageContent{MessageID: "m", Delta: "a\uFFFD\uFFFDb"},
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"p","content":{},"replace":true}`: &agui.ActivitySnapshot{MessageID: "m", ActivityType: "p", Content: json.RawMessage(`{}`)},
	} {
		got, err := agui.Decode([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	for in, want := range map[string]string{
		``:           "JSON object",
		`5`:          "JSON object",
		`{"type":5}`: "type: unexpected number",
		`{"type":"TEXT_MESSAGE_END","messageId":{}}`:               "TEXT_MESSAGE_END: messageId: unexpected object",
		`{"type":"TEXT_MESSAGE_END","timestamp":"now"}`:            "timestamp: unexpected string",
		`{"type":"MESSAGES_SNAPSHOT","messages":[{"id":true}]}`:    "messages[0].id: unexpected boolean",
		`{"type":"TEXT_MESSAGE_END","messageId":"m"`:               "not JSON",
		`{"type":"ACTIVITY_SNAPSHOT","messageId":"m","replace":5}`: "replace: unexpected number",
	} {
		_, err := agui.Decode([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", in, err, want)
		}
	}
}

func TestAppendKeepsFramesWhole(t *testing.T) {
	for name, e := range map[string]agui.Event{
		"raw JSON over lines":    &agui.Custom{Name: "n", Value: json.RawMessage("{\n\t\"a\" : [1,\r\n\"b\\n \u2028\u2029\xff\\\"\"]}")},
		"raw JSON that is none":  &agui.Custom{Name: "n", Value: json.RawMessage("}\n\ndata: evil\n\n")},
		"metadata, no object":    &agui.Custom{Base: agui.Base{Metadata: json.RawMessage(`[1]`)}, Name: "n"},
		"metadata, no JSON":      &agui.Custom{Base: agui.Base{Metadata: json.RawMessage(`{`)}, Name: "n"},
		"control characters":     &agui.Custom{Name: "\x00\x1f\x7f\r\n"},
		"unknown, passed on":     &agui.Unknown{Name: "ODD", Data: json.RawMessage("{\"type\":\"ODD\",\n\"x\":1}")},
		"unknown, without data":  &agui.Unknown{Name: "ODD"},
		"nothing at all":         &agui.RunFinished{},
		"snapshot of nothing":    &agui.MessagesSnapshot{},
		"usage of nothing":       &agui.RunFinished{Usage: []agui.TokenUsage{{}}},
		"input of nothing":       &agui.RunStarted{Input: &agui.Input{}},
		"messages without all":   &agui.MessagesSnapshot{Messages: []agui.Message{{Role: "user"}, {Role: "assistant"}, {Role: "tool"}, {Role: "activity"}}},
		"an activity of nothing": &agui.ActivitySnapshot{},
	} {
		data := agui.Append([]byte("x"), e)[1:]
		if !json.Valid(data) || bytes.ContainsAny(data, "\r\n\u2028\u2029") || bytes.Contains(data, []byte("null,")) {
			t.Errorf("%s: %q", name, data)
		}
		got, err := agui.Decode(data)
		if err != nil {
			t.Errorf("%s: %v in %s", name, err, data)
			continue
		}
		if again := agui.Append(nil, got); !bytes.Equal(again, data) {
			t.Errorf("%s: %s becomes %s", name, data, again)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range matrix {
		for _, line := range s.lines() {
			f.Add(line)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = agui.NewVerifier(agui.V0).CheckJSON(data)
		_ = agui.NewVerifier(agui.V1).CheckJSON(data)
		e, err := agui.Decode(data)
		if err != nil {
			return
		}
		once := agui.Append(nil, e)
		if !json.Valid(once) || bytes.ContainsAny(once, "\r\n") {
			t.Fatalf("%q becomes %q", data, once)
		}
		again, err := agui.Decode(once)
		if err != nil {
			t.Fatalf("%q becomes %q: %v", data, once, err)
		}
		if twice := agui.Append(nil, again); !bytes.Equal(once, twice) {
			t.Fatalf("%q, then %q", once, twice)
		}
		l := agui.NewList()
		l.Apply(e)
		l.Apply(again)
		if all := l.AppendJSON(nil); !json.Valid(all) {
			t.Fatalf("%q makes a list %q", data, all)
		}
	})
}

func TestForReader(t *testing.T) {
	cancelled := `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"stopReason":"cancelled"},"timestamp":5}`
	done := `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"stopReason":"end_turn"}}`
	interrupt := `{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"r"}]}}`
	tests := []struct {
		name, in, version string
		pending           []string
		want              string
	}{
		{"an old reader", cancelled, "", nil, cancelled},
		{"a version that is none", cancelled, "x.y", nil, cancelled},
		{"cancelled", cancelled, "1.0", nil, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"stopReason":"cancelled"},"outcome":{"type":"cancelled"},"timestamp":5}`},
		{"a newer minor", cancelled, "1.7", nil, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"stopReason":"cancelled"},"outcome":{"type":"cancelled"},"timestamp":5}`},
		{"done", done, "1.0", nil, done},
		{"calls for the client", done, "1.0", []string{"c", "d"}, `{"type":"RUN_FINISHED","threadId":"t","runId":"r","result":{"stopReason":"end_turn"},"outcome":{"type":"success","pendingToolCallIds":["c","d"]}}`},
		{"calls for the client, an old reader", done, "", []string{"c"}, done},
		{"interrupted", interrupt, "1.0", []string{"c"}, interrupt},
		{"failed", failed, "1.0", nil, failed},
		{"no JSON", `{"type":"RUN_FINISHED"`, "1.0", nil, `{"type":"RUN_FINISHED"`},
	}
	for _, tt := range tests {
		if got := agui.ForReader([]byte(tt.in), tt.version, tt.pending...); string(got) != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	for _, tt := range tests[:8] {
		v := agui.V1
		if tt.version == "" || tt.version == "x.y" {
			v = agui.V0
		}
		if err := verify(v, []byte(started), []byte(tt.want)); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}
