package fakellm

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// answer is what a client understood.
type answer struct {
	Status   int
	Thoughts string
	Text     string
	Calls    []string // name(arguments)
	Stop     string
	Cut      bool
	Error    string
}

// dialect is a client of one wire: it builds requests and reads answers.
type dialect struct {
	name   string
	path   func(stream bool) string
	prompt func(texts []string, offered []any, past []exchange, stream bool) object
	tool   func(name string, schema object) object
	whole  func(t *testing.T, v object, a *answer)
	chunk  func(t *testing.T, v object, a *answer)
}

// exchange is a round of calls that is over: results by call.
type exchange struct{ results []string }

func fixed(path string) func(bool) string { return func(bool) string { return path } }

var dialects = []dialect{
	{name: "chat", path: fixed("/v1/chat/completions"), prompt: chatPrompt, tool: chatTool, whole: chatWhole, chunk: chatChunk},
	{name: "responses", path: fixed("/v1/responses"), prompt: responsesPrompt, tool: responsesTool, whole: responsesWhole, chunk: responsesChunk},
	{name: "anthropic", path: fixed("/v1/messages"), prompt: anthropicPrompt, tool: anthropicTool, whole: anthropicWhole, chunk: anthropicChunk},
	{name: "gemini", path: func(stream bool) string {
		if stream {
			return "/v1beta/models/fake-model:streamGenerateContent?alt=sse"
		}
		return "/v1beta/models/fake-model:generateContent"
	}, prompt: geminiPrompt, tool: geminiTool, whole: geminiAnswer, chunk: geminiAnswer},
}

// ask sends a request and reads the answer to its end, or until it is cut.
func (d dialect) ask(t *testing.T, base string, body object, stream bool) (a answer) {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.Post(base+d.path(stream), "application/json", strings.NewReader(string(data)))
	if err != nil {
		return answer{Cut: true}
	}
	defer func() { _ = resp.Body.Close() }()
	a.Status = resp.StatusCode
	if resp.StatusCode != http.StatusOK || !stream {
		var v object
		if err := json.NewDecoder(resp.Body).Decode(&v); err != nil {
			t.Fatalf("the answer is no JSON: %v", err)
		}
		if resp.StatusCode != http.StatusOK {
			a.Error = dig[string](v, "error", "message")
			return a
		}
		d.whole(t, v, &a)
		return a
	}
	lines := bufio.NewReader(resp.Body)
	for {
		line, err := lines.ReadString('\n')
		if err == io.EOF {
			return a
		} else if err != nil {
			a.Cut = true
			return a
		}
		data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var v object
		if err := json.Unmarshal([]byte(data), &v); err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		d.chunk(t, v, &a)
	}
}

// dig follows keys and indices; the zero value if there is nothing.
func dig[T any](v any, path ...any) T {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			o, _ := v.(object)
			v = o[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				v = nil
			} else {
				v = l[p]
			}
		}
	}
	out, _ := v.(T)
	return out
}

func called(name, args string) string { return name + "(" + args + ")" }

func chatTool(name string, schema object) object {
	return object{"type": "function", "function": object{"name": name, "parameters": schema}}
}

func chatPrompt(texts []string, offered []any, past []exchange, stream bool) object {
	messages := []any{object{"role": "system", "content": "You are [[S:long]] told."}}
	for _, text := range texts {
		messages = append(messages, object{"role": "user", "content": []any{object{"type": "text", "text": text}}})
	}
	for i, e := range past {
		var calls []any
		for j := range e.results {
			calls = append(calls, object{"id": fmt.Sprintf("c%d-%d", i, j), "type": "function", "function": object{"name": "x", "arguments": "{}"}})
		}
		messages = append(messages, object{"role": "assistant", "content": nil, "tool_calls": calls})
		for j, r := range e.results {
			messages = append(messages, object{"role": "tool", "tool_call_id": fmt.Sprintf("c%d-%d", i, j), "content": r})
		}
	}
	return object{"model": "fake-model", "stream": stream, "messages": messages, "tools": offered}
}

func chatWhole(_ *testing.T, v object, a *answer) {
	m := dig[object](v, "choices", 0, "message")
	a.Thoughts, a.Text = dig[string](m, "reasoning_content"), dig[string](m, "content")
	for _, c := range dig[[]any](m, "tool_calls") {
		a.Calls = append(a.Calls, called(dig[string](c, "function", "name"), dig[string](c, "function", "arguments")))
	}
	a.Stop = dig[string](v, "choices", 0, "finish_reason")
}

func chatChunk(t *testing.T, v object, a *answer) {
	d := dig[object](v, "choices", 0, "delta")
	a.Thoughts += dig[string](d, "reasoning_content")
	a.Text += dig[string](d, "content")
	for _, c := range dig[[]any](d, "tool_calls") {
		if dig[string](c, "id") != "" {
			a.Calls = append(a.Calls, dig[string](c, "function", "name")+"(")
		}
		i := int(dig[float64](c, "index"))
		if i >= len(a.Calls) {
			t.Fatalf("arguments for call %d before it began", i)
		}
		a.Calls[i] += dig[string](c, "function", "arguments")
	}
	if stop := dig[string](v, "choices", 0, "finish_reason"); stop != "" {
		a.Stop = stop
		for i := range a.Calls {
			a.Calls[i] += ")"
		}
	}
}

func responsesTool(name string, schema object) object {
	return object{"type": "function", "name": name, "parameters": schema}
}

func responsesPrompt(texts []string, offered []any, past []exchange, stream bool) object {
	var input []any
	for _, text := range texts {
		input = append(input, object{"type": "message", "role": "user", "content": []any{object{"type": "input_text", "text": text}}})
	}
	for i, e := range past {
		input = append(input, object{"type": "reasoning", "summary": []any{}})
		for j := range e.results {
			input = append(input, object{"type": "function_call", "call_id": fmt.Sprintf("c%d-%d", i, j), "name": "x", "arguments": "{}"})
		}
		for j, r := range e.results {
			input = append(input, object{"type": "function_call_output", "call_id": fmt.Sprintf("c%d-%d", i, j), "output": r})
		}
	}
	return object{"model": "fake-model", "stream": stream, "input": input, "tools": append(offered, object{"type": "web_search"})}
}

func responsesWhole(_ *testing.T, v object, a *answer) {
	for _, item := range dig[[]any](v, "output") {
		a.Thoughts += dig[string](item, "summary", 0, "text")
		a.Text += dig[string](item, "content", 0, "text")
		if name := dig[string](item, "name"); name != "" {
			a.Calls = append(a.Calls, called(name, dig[string](item, "arguments")))
		}
	}
	a.Stop = dig[string](v, "status") + dig[string](v, "incomplete_details", "reason")
}

func responsesChunk(t *testing.T, v object, a *answer) {
	switch dig[string](v, "type") {
	case "response.reasoning_summary_text.delta":
		a.Thoughts += dig[string](v, "delta")
	case "response.output_text.delta":
		a.Text += dig[string](v, "delta")
	case "response.completed", "response.incomplete":
		said := answer{Status: a.Status}
		responsesWhole(t, dig[object](v, "response"), &said)
		if said.Text != a.Text || said.Thoughts != a.Thoughts {
			t.Errorf("streamed %q and %q, said at the end %q and %q", a.Thoughts, a.Text, said.Thoughts, said.Text)
		}
		*a = said
	}
}

func anthropicTool(name string, schema object) object {
	return object{"name": name, "input_schema": schema}
}

func anthropicPrompt(texts []string, offered []any, past []exchange, stream bool) object {
	var messages []any
	for _, text := range texts {
		messages = append(messages, object{"role": "user", "content": text})
	}
	for i, e := range past {
		var calls, results []any
		for j, r := range e.results {
			id := fmt.Sprintf("c%d-%d", i, j)
			calls = append(calls, object{"type": "tool_use", "id": id, "name": "x", "input": object{}})
			results = append(results, object{"type": "tool_result", "tool_use_id": id, "content": []any{object{"type": "text", "text": r}}})
		}
		results = append(results, object{"type": "text", "text": "a note of the agent's"})
		messages = append(messages, object{"role": "assistant", "content": calls}, object{"role": "user", "content": results})
	}
	return object{"model": "fake-model", "stream": stream, "max_tokens": 100, "messages": messages, "tools": offered}
}

func anthropicWhole(t *testing.T, v object, a *answer) {
	for _, b := range dig[[]any](v, "content") {
		a.Thoughts += dig[string](b, "thinking")
		a.Text += dig[string](b, "text")
		if dig[string](b, "type") == "tool_use" {
			args, err := json.Marshal(dig[object](b, "input"))
			if err != nil {
				t.Fatal(err)
			}
			a.Calls = append(a.Calls, called(dig[string](b, "name"), string(args)))
		}
	}
	a.Stop = dig[string](v, "stop_reason")
}

func anthropicChunk(_ *testing.T, v object, a *answer) {
	last := len(a.Calls) - 1
	switch dig[string](v, "type") {
	case "content_block_start":
		if dig[string](v, "content_block", "type") == "tool_use" {
			a.Calls = append(a.Calls, dig[string](v, "content_block", "name")+"(")
		}
	case "content_block_delta":
		a.Thoughts += dig[string](v, "delta", "thinking")
		a.Text += dig[string](v, "delta", "text")
		if args := dig[string](v, "delta", "partial_json"); args != "" {
			a.Calls[last] += args
		}
	case "content_block_stop":
		if last >= 0 {
			a.Calls[last] += ")"
		}
	case "message_delta":
		a.Stop = dig[string](v, "delta", "stop_reason")
	}
}

func geminiTool(name string, schema object) object {
	return object{"functionDeclarations": []any{object{"name": name, "parametersJsonSchema": schema}}}
}

func geminiPrompt(texts []string, offered []any, past []exchange, _ bool) object {
	var contents []any
	for _, text := range texts {
		contents = append(contents, object{"role": "user", "parts": []any{object{"text": text}}})
	}
	for _, e := range past {
		var calls, results []any
		for _, r := range e.results {
			calls = append(calls, object{"functionCall": object{"name": "x", "args": object{}}})
			results = append(results, object{"functionResponse": object{"name": "x", "response": object{"output": r}}})
		}
		contents = append(contents, object{"role": "model", "parts": calls}, object{"role": "user", "parts": results})
	}
	return object{"contents": contents, "tools": offered}
}

func geminiAnswer(t *testing.T, v object, a *answer) {
	for _, p := range dig[[]any](v, "candidates", 0, "content", "parts") {
		if dig[bool](p, "thought") {
			a.Thoughts += dig[string](p, "text")
			continue
		}
		a.Text += dig[string](p, "text")
		if name := dig[string](p, "functionCall", "name"); name != "" {
			args, err := json.Marshal(dig[object](p, "functionCall", "args"))
			if err != nil {
				t.Fatal(err)
			}
			a.Calls = append(a.Calls, called(name, string(args)))
		}
	}
	a.Stop += dig[string](v, "candidates", 0, "finishReason")
}
