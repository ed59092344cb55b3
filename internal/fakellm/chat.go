package fakellm

import (
	"encoding/json"
	"net/http"
)

// chatWire is OpenAI Chat Completions.
type chatWire struct{}

func (chatWire) name() string { return "chat" }

func (chatWire) decode(_ *http.Request, body []byte) (*request, error) {
	var in struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role      string
			Content   content
			ToolCalls []struct{} `json:"tool_calls"`
		}
		Tools []struct {
			Function struct {
				Name       string
				Parameters schema
			}
		}
		ResponseFormat struct {
			JSONSchema struct{ Schema json.RawMessage } `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	r := &request{model: in.Model, stream: in.Stream, schema: in.ResponseFormat.JSONSchema.Schema}
	for _, m := range in.Messages {
		t := turn{role: roleOf(m.Role), text: m.Content.text, calls: len(m.ToolCalls)}
		if m.Role == "tool" {
			t = turn{role: other, results: []result{{m.Content.text}}}
		}
		r.turns = append(r.turns, t)
	}
	for _, t := range in.Tools {
		r.tools = append(r.tools, tool{t.Function.Name, t.Function.Parameters})
	}
	return r, nil
}

func openAIFailure(status int, message string) any {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}[status]
	if kind == "" {
		kind = "server_error"
	}
	return object{"error": object{"message": message, "type": kind, "param": nil, "code": kind}}
}

func (chatWire) failure(status int, message string) any { return openAIFailure(status, message) }

func chatUsage() object {
	return object{
		"prompt_tokens": inputTokens, "completion_tokens": outputTokens, "total_tokens": inputTokens + outputTokens,
		"prompt_tokens_details":     object{"cached_tokens": cachedTokens},
		"completion_tokens_details": object{"reasoning_tokens": 20},
	}
}

var chatStops = map[string]string{"": "stop", "calls": "tool_calls", "length": "length", "refusal": "content_filter"}

func chatCall(c call, args string) object {
	return object{"id": c.id, "type": "function", "function": object{"name": c.tool.Name, "arguments": args}}
}

func (chatWire) whole(r *request, a message) any {
	m := object{"role": "assistant", "content": a.text}
	if a.thoughts != "" {
		m["reasoning_content"] = a.thoughts
	}
	var calls []any
	for _, c := range a.calls {
		calls = append(calls, chatCall(c, c.json()))
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return object{
		"id": "chatcmpl-" + r.id, "object": "chat.completion", "created": created, "model": r.model, "usage": chatUsage(),
		"choices": []any{object{"index": 0, "message": m, "finish_reason": chatStops[a.stop]}},
	}
}

type chatSpeaker struct {
	f     *frames
	r     *request
	calls int
}

func (chatWire) speaker(f *frames, r *request) speaker { return &chatSpeaker{f: f, r: r} }

func (s *chatSpeaker) chunk(delta object, finish any) {
	s.f.send(object{
		"id": "chatcmpl-" + s.r.id, "object": "chat.completion.chunk", "created": created, "model": s.r.model,
		"choices": []any{object{"index": 0, "delta": delta, "finish_reason": finish}},
	})
}

func (s *chatSpeaker) begin()           { s.chunk(object{"role": "assistant", "content": ""}, nil) }
func (s *chatSpeaker) thought(t string) { s.chunk(object{"reasoning_content": t}, nil) }
func (s *chatSpeaker) text(t string)    { s.chunk(object{"content": t}, nil) }

func (s *chatSpeaker) call(c call) {
	first := chatCall(c, "")
	first["index"] = s.calls
	s.chunk(object{"tool_calls": []any{first}}, nil)
	for _, p := range pieces(c.json()) {
		s.chunk(object{"tool_calls": []any{object{"index": s.calls, "function": object{"arguments": p}}}}, nil)
	}
	s.calls++
}

func (s *chatSpeaker) end(all message) {
	s.chunk(object{}, chatStops[all.stop])
	s.f.send(object{
		"id": "chatcmpl-" + s.r.id, "object": "chat.completion.chunk", "created": created, "model": s.r.model,
		"choices": []any{}, "usage": chatUsage(),
	})
	s.f.raw("data: [DONE]\n\n")
}
