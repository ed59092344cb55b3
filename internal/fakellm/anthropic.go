package fakellm

import (
	"encoding/json"
	"net/http"
)

// anthropicWire is Anthropic Messages.
type anthropicWire struct{}

func (anthropicWire) name() string { return "anthropic" }

// anthropicContent is a string, or blocks of which texts, calls and results count.
type anthropicContent struct{ turn turn }

// UnmarshalJSON takes any JSON value.
func (c *anthropicContent) UnmarshalJSON(data []byte) error {
	var blocks []struct {
		Type    string
		Text    string
		Content content
	}
	if json.Unmarshal(data, &blocks) != nil {
		var text content
		err := text.UnmarshalJSON(data)
		c.turn.text = text.text
		return err
	}
	for _, b := range blocks {
		switch b.Type {
		case "text":
			c.turn.text += b.Text + "\n"
		case "tool_use":
			c.turn.calls++
		case "tool_result":
			c.turn.results = append(c.turn.results, result{b.Content.text})
		}
	}
	return nil
}

func (anthropicWire) decode(_ *http.Request, body []byte) (*request, error) {
	var in struct {
		Model    string
		Stream   bool
		Messages []struct {
			Role    string
			Content anthropicContent
		}
		Tools []struct {
			Name        string
			InputSchema schema `json:"input_schema"`
		}
		OutputFormat struct{ Schema json.RawMessage } `json:"output_format"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	r := &request{model: in.Model, stream: in.Stream, framing: namedLines, schema: in.OutputFormat.Schema}
	for _, m := range in.Messages {
		t := m.Content.turn
		t.role = roleOf(m.Role)
		r.turns = append(r.turns, t)
	}
	for _, t := range in.Tools {
		r.tools = append(r.tools, tool{t.Name, t.InputSchema})
	}
	return r, nil
}

func (anthropicWire) failure(status int, message string) any {
	kind := map[int]string{400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}[status]
	if kind == "" {
		kind = "api_error"
	}
	return object{"type": "error", "error": object{"type": kind, "message": message}}
}

var anthropicStops = map[string]string{"": "end_turn", "calls": "tool_use", "length": "max_tokens", "refusal": "refusal"}

func anthropicUsage() object {
	return object{
		"input_tokens": inputTokens - cachedTokens, "cache_read_input_tokens": cachedTokens,
		"cache_creation_input_tokens": 0, "output_tokens": outputTokens,
	}
}

const signature = "c2NyaXB0ZWQ="

func anthropicBlocks(a message) []any {
	blocks := []any{}
	if a.thoughts != "" {
		blocks = append(blocks, object{"type": "thinking", "thinking": a.thoughts, "signature": signature})
	}
	if a.text != "" {
		blocks = append(blocks, object{"type": "text", "text": a.text})
	}
	for _, c := range a.calls {
		blocks = append(blocks, object{"type": "tool_use", "id": "toolu_" + c.id, "name": c.tool.Name, "input": c.args})
	}
	return blocks
}

func (anthropicWire) whole(r *request, a message) any {
	return object{
		"id": "msg_" + r.id, "type": "message", "role": "assistant", "model": r.model, "content": anthropicBlocks(a),
		"stop_reason": anthropicStops[a.stop], "stop_sequence": nil, "usage": anthropicUsage(),
	}
}

type anthropicSpeaker struct {
	f     *frames
	r     *request
	index int
	open  string // type of the open block
}

func (anthropicWire) speaker(f *frames, r *request) speaker {
	return &anthropicSpeaker{f: f, r: r, index: -1}
}

func (s *anthropicSpeaker) begin() {
	s.f.send(object{"type": "message_start", "message": object{
		"id": "msg_" + s.r.id, "type": "message", "role": "assistant", "model": s.r.model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": anthropicUsage(),
	}})
	s.f.send(object{"type": "ping"})
}

func (s *anthropicSpeaker) start(kind string, block object) {
	s.stop()
	s.index++
	s.open = kind
	block["type"] = kind
	s.f.send(object{"type": "content_block_start", "index": s.index, "content_block": block})
}

func (s *anthropicSpeaker) delta(d object) {
	s.f.send(object{"type": "content_block_delta", "index": s.index, "delta": d})
}

func (s *anthropicSpeaker) stop() {
	if s.open == "thinking" {
		s.delta(object{"type": "signature_delta", "signature": signature})
	}
	if s.open != "" {
		s.f.send(object{"type": "content_block_stop", "index": s.index})
	}
	s.open = ""
}

func (s *anthropicSpeaker) thought(t string) {
	if s.open != "thinking" {
		s.start("thinking", object{"thinking": "", "signature": ""})
	}
	s.delta(object{"type": "thinking_delta", "thinking": t})
}

func (s *anthropicSpeaker) text(t string) {
	if s.open != "text" {
		s.start("text", object{"text": ""})
	}
	s.delta(object{"type": "text_delta", "text": t})
}

func (s *anthropicSpeaker) call(c call) {
	s.start("tool_use", object{"id": "toolu_" + c.id, "name": c.tool.Name, "input": object{}})
	for _, p := range pieces(c.json()) {
		s.delta(object{"type": "input_json_delta", "partial_json": p})
	}
}

func (s *anthropicSpeaker) end(all message) {
	s.stop()
	s.f.send(object{
		"type": "message_delta", "usage": anthropicUsage(),
		"delta": object{"stop_reason": anthropicStops[all.stop], "stop_sequence": nil},
	})
	s.f.send(object{"type": "message_stop"})
}
