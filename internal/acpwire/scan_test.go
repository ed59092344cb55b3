package acpwire

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	type want struct {
		ID, Method, Params, Result string
		Code                       int
		Text, Err                  string
	}
	tests := map[string]struct {
		line string
		want want
	}{
		"notification":         {`{"jsonrpc":"2.0","method":"session/update","params":{"a":[1,"}"]}}`, want{Method: "session/update", Params: `{"a":[1,"}"]}`}},
		"request, id last":     {`{"method":"m","params":{},"id":"x-1"}`, want{ID: `"x-1"`, Method: "m", Params: "{}"}},
		"white space anywhere": {` { "id" : 7 , "method" : "m" , "params" : [ 1 , 2 ] } `, want{ID: "7", Method: "m", Params: "[ 1 , 2 ]"}},
		"big number untouched": {`{"id":1,"result":{"n":9007199254740993}}`, want{ID: "1", Result: `{"n":9007199254740993}`}},
		"lone surrogate kept":  {`{"method":"m","params":{"t":"\ud83d"}}`, want{Method: "m", Params: `{"t":"\ud83d"}`}},
		"escaped quotes":       {`{"method":"m","params":"\\\"}\\"}`, want{Method: "m", Params: `"\\\"}\\"`}},
		"escaped name":         {`{"\u006dethod":"m"}`, want{Method: "m"}},
		"null id of a request": {`{"id":null,"method":"m"}`, want{ID: "null", Method: "m"}},
		"null error is none":   {`{"id":1,"result":null,"error":null}`, want{ID: "1", Result: "null"}},
		"answer of nothing":    {`{"id":1}`, want{ID: "1"}},
		"duplicate name":       {`{"method":"a","method":"b"}`, want{Method: "b"}},
		"error":                {`{"id":1,"error":{"code":-32000,"message":"log in"}}`, want{ID: "1", Code: -32000, Text: "log in"}},
		"error code as text":   {`{"id":1,"error":{"code":"429","message":"slow"}}`, want{ID: "1", Code: 429, Text: "slow"}},
		"error code as float":  {`{"id":1,"error":{"code":-32603.0,"message":3}}`, want{ID: "1", Code: -32603, Text: "3"}},
		"error as text":        {`{"id":1,"error":"boom"}`, want{ID: "1", Code: -32603, Text: "boom"}},
		"cut":                  {`{"method":"m","params":{"a":"b`, want{Err: errCut.Error()}},
		"cut after a name":     {`{"method"`, want{Err: errCut.Error()}},
		"two values":           {`{"method":"m"} {"method":"n"}`, want{Err: errCut.Error()}},
		"no comma":             {`{"id":1 "method":"m"}`, want{Err: errCut.Error()}},
		"no value":             {`{"id":,"method":"m"}`, want{Err: errCut.Error()}},
		"text":                 {`npm WARN deprecated`, want{Err: errNotObject.Error()}},
		"a JSON string":        {`"hello"`, want{Err: errNotObject.Error()}},
		"an object of others":  {`{"level":"info"}`, want{Err: errNoFrame.Error()}},
		"method is no text":    {`{"method":3}`, want{Err: errNoFrame.Error()}},
		"empty":                {``, want{Err: errNotObject.Error()}},
		"empty object":         {`{}`, want{Err: errNoFrame.Error()}},
		"unclosed":             {`{`, want{Err: errCut.Error()}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			m, err := parse([]byte(tt.line))
			var got want
			if err != nil {
				got.Err = err.Error()
			} else {
				got = want{ID: string(m.ID), Method: m.Method, Params: string(m.Params), Result: string(m.Result)}
				if m.Err != nil {
					got.Code, got.Text = m.Err.Code, m.Err.Message
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestNumber(t *testing.T) {
	for in, want := range map[string]int64{`3`: 3, `"3"`: 3, `3.0`: 3, `x`: -1, `3.5`: -1, `null`: -1, `"a"`: -1, `1e400`: -1} {
		n, ok := number([]byte(in))
		if !ok {
			n = -1
		}
		if n != want {
			t.Errorf("number(%s) = %d, want %d", in, n, want)
		}
	}
}

// Whatever the line is: no panic, and what parse finds lies within the line.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}`,
		`{"id":1,"error":{"code":1.5,"message":[]}}`, `[{"id":1},{"method":"m"}]`, `{"a":"\\`, `{"id":"\"",}`, "\xef\xbb\xbf{}", `{"method":"\ud83d","id":{}}`,
		strings.Repeat("[", 5000), `{"a":` + strings.Repeat(`{"b":`, 3000),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		m, err := parse(line)
		if err == nil && len(m.ID)+len(m.Params)+len(m.Result) > len(line) {
			t.Fatalf("parts longer than the line: %q", line)
		}
		c := &Conn{cfg: Config{}, out: newOutbox(), pending: map[int64]func([]byte, error){}}
		c.line(line)
	})
}
