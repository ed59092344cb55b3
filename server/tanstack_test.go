package server

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
)

// What the fold gives is what TanStack AI's own processor makes of the same list;
// e2e/frontends holds the two against each other.
func TestUIMessages(t *testing.T) {
	var list []agui.Message
	for _, m := range []string{
		`{"id":"u","role":"user","content":[{"type":"text","text":"see"},{"type":"image","source":{"type":"url","value":"x"}},{"type":"binary","mimeType":"a/b"}]}`,
		`{"id":"p","role":"activity","activityType":"plan","content":{"entries":[]}}`,
		`{"id":"r1","role":"reasoning","content":"hm","encryptedValue":"e"}`,
		`{"id":"r2","role":"reasoning","content":"aha"}`,
		`{"id":"a","role":"assistant","content":"Look:","toolCalls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"cat","arguments":"{\"p"}}]}`,
		`{"id":"t2","role":"tool","toolCallId":"c2","content":"broken","error":"E"}`,
		`{"id":"t1","role":"tool","toolCallId":"c1","content":"{\"n\":1}","metadata":{"k":1}}`,
		`{"id":"t0","role":"tool","toolCallId":"none","content":"lost"}`,
		`{"id":"d","role":"developer","content":"be brief"}`,
		`{"id":"r3","role":"reasoning","content":"and so"}`,
	} {
		var one agui.Message
		if err := json.Unmarshal([]byte(m), &one); err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	data, err := json.MarshalIndent(uiMessages(list), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`[
		{"id":"u","role":"user","parts":[{"type":"text","content":"see"},{"type":"image","source":{"type":"url","value":"x"}}]},
		{"id":"a","role":"assistant","parts":[
			{"type":"thinking","content":"hm","signature":"e"},
			{"type":"thinking","content":"aha"},
			{"type":"text","content":"Look:"},
			{"type":"tool-call","id":"c1","name":"ls","arguments":"{}","input":{},"state":"complete","output":{"n":1}},
			{"type":"tool-call","id":"c2","name":"cat","arguments":"{\"p","state":"error","output":"broken"},
			{"type":"tool-result","toolCallId":"c2","content":"broken","state":"error","error":"E","id":"t2"},
			{"type":"tool-result","toolCallId":"c1","content":"{\"n\":1}","state":"complete","id":"t1","metadata":{"k":1}}]},
		{"id":"d","role":"system","parts":[{"type":"text","content":"be brief"}]},
		{"id":"r3","role":"assistant","parts":[{"type":"thinking","content":"and so"}]}
	]`), &want); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func FuzzUIMessages(f *testing.F) {
	f.Add([]byte(`[{"id":"a","role":"assistant","content":[null,{"type":"x"}],"toolCalls":[{"id":"c","function":{"arguments":"1"}}]},{"id":"t","role":"tool","toolCallId":"c","content":[{"type":"text"}]}]`))
	f.Add([]byte(`[{"id":"r","role":"reasoning"},{"id":"t","role":"tool","toolCallId":"","content":" "}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var list []agui.Message
		if json.Unmarshal(data, &list) != nil {
			return
		}
		if _, err := json.Marshal(uiMessages(list)); err != nil {
			t.Error(err)
		}
	})
}
