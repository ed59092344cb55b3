package fakellm

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// responsesWire is OpenAI Responses.
type responsesWire struct{}

func (responsesWire) name() string { return "responses" }

// responsesInput is a string, or items.
type responsesInput struct{ turns []turn }

// UnmarshalJSON takes any JSON value.
func (in *responsesInput) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		in.turns = []turn{{role: user, text: text}}
		return nil
	}
	var items []struct {
		Type, Role string
		Content    content
		Output     content
	}
	if err := json.Unmarshal(data, &items); err != nil {
		return err
	}
	for _, i := range items {
		switch i.Type {
		case "message", "":
			in.turns = append(in.turns, turn{role: roleOf(i.Role), text: i.Content.text})
		case "function_call", "custom_tool_call", "local_shell_call":
			in.called()
		case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
			in.turns = append(in.turns, turn{role: other, results: []result{{i.Output.text}}})
		}
	}
	return nil
}

// called counts calls that stand side by side as made at once.
func (in *responsesInput) called() {
	if n := len(in.turns); n > 0 && in.turns[n-1].role == assistant {
		in.turns[n-1].calls++
		return
	}
	in.turns = append(in.turns, turn{role: assistant, calls: 1})
}

func (responsesWire) decode(_ *http.Request, body []byte) (*request, error) {
	var in struct {
		Model  string
		Stream bool
		Input  responsesInput
		Tools  []struct {
			Type, Name string
			Parameters schema
		}
		Text struct {
			Format struct{ Schema json.RawMessage }
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	r := &request{model: in.Model, stream: in.Stream, framing: namedLines, turns: in.Input.turns, schema: in.Text.Format.Schema}
	for _, t := range in.Tools {
		if t.Type == "function" {
			r.tools = append(r.tools, tool{t.Name, t.Parameters})
		}
	}
	return r, nil
}

func (responsesWire) failure(status int, message string) any { return openAIFailure(status, message) }

func responsesBody(r *request, status string, output []any) object {
	return object{
		"id": "resp_" + r.id, "object": "response", "created_at": created, "model": r.model, "status": status, "output": output,
		"parallel_tool_calls": true, "error": nil, "incomplete_details": nil, "usage": nil,
	}
}

func responsesDone(r *request, output []any, stop string) object {
	body := responsesBody(r, "completed", output)
	if stop == "length" || stop == "refusal" {
		reason := map[string]string{"length": "max_output_tokens", "refusal": "content_filter"}[stop]
		body["status"], body["incomplete_details"] = "incomplete", object{"reason": reason}
	}
	body["usage"] = object{
		"input_tokens": inputTokens, "input_tokens_details": object{"cached_tokens": cachedTokens},
		"output_tokens": outputTokens, "output_tokens_details": object{"reasoning_tokens": 20}, "total_tokens": inputTokens + outputTokens,
	}
	return body
}

func reasoningItem(id, text string) object {
	return object{"id": id, "type": "reasoning", "summary": []any{object{"type": "summary_text", "text": text}}}
}

func messageItem(id, status string, parts ...any) object {
	if parts == nil {
		parts = []any{}
	}
	return object{"id": id, "type": "message", "status": status, "role": "assistant", "content": parts}
}

func textPart(text string) object {
	return object{"type": "output_text", "text": text, "annotations": []any{}}
}

func callItem(id, status string, c call, args string) object {
	return object{"id": id, "type": "function_call", "status": status, "call_id": c.id, "name": c.tool.Name, "arguments": args}
}

func (responsesWire) whole(r *request, a message) any {
	output := []any{}
	if a.thoughts != "" {
		output = append(output, reasoningItem("rs_"+r.id+"_0", a.thoughts))
	}
	if a.text != "" {
		output = append(output, messageItem("msg_"+r.id+"_0", "completed", textPart(a.text)))
	}
	for _, c := range a.calls {
		output = append(output, callItem("fc_"+c.id, "completed", c, c.json()))
	}
	return responsesDone(r, output, a.stop)
}

// responsesSpeaker numbers events and items, and closes the open item when
// another begins.
type responsesSpeaker struct {
	f        *frames
	r        *request
	sequence int
	output   []any
	open     string // reasoning or message
	id       string
	said     string
}

func (responsesWire) speaker(f *frames, r *request) speaker {
	return &responsesSpeaker{f: f, r: r, output: []any{}}
}

func (s *responsesSpeaker) send(kind string, fields object) {
	fields["type"], fields["sequence_number"] = kind, s.sequence
	s.sequence++
	s.f.send(fields)
}

// item is an event on the item at hand.
func (s *responsesSpeaker) item(kind string, fields object) {
	fields["item_id"], fields["output_index"] = s.id, len(s.output)
	s.send(kind, fields)
}

func (s *responsesSpeaker) begin() {
	s.send("response.created", object{"response": responsesBody(s.r, "in_progress", []any{})})
	s.send("response.in_progress", object{"response": responsesBody(s.r, "in_progress", []any{})})
}

func (s *responsesSpeaker) added(item object) {
	s.send("response.output_item.added", object{"output_index": len(s.output), "item": item})
}

func (s *responsesSpeaker) done(item object) {
	s.send("response.output_item.done", object{"output_index": len(s.output), "item": item})
	s.output = append(s.output, item)
}

func (s *responsesSpeaker) thought(t string) {
	if s.open != "reasoning" {
		s.stop()
		s.open, s.id = "reasoning", fmt.Sprintf("rs_%s_%d", s.r.id, len(s.output))
		s.added(object{"id": s.id, "type": "reasoning", "summary": []any{}})
		s.item("response.reasoning_summary_part.added", object{"summary_index": 0, "part": object{"type": "summary_text", "text": ""}})
	}
	s.said += t
	s.item("response.reasoning_summary_text.delta", object{"summary_index": 0, "delta": t})
}

func (s *responsesSpeaker) text(t string) {
	if s.open != "message" {
		s.stop()
		s.open, s.id = "message", fmt.Sprintf("msg_%s_%d", s.r.id, len(s.output))
		s.added(messageItem(s.id, "in_progress"))
		s.item("response.content_part.added", object{"content_index": 0, "part": textPart("")})
	}
	s.said += t
	s.item("response.output_text.delta", object{"content_index": 0, "delta": t})
}

func (s *responsesSpeaker) stop() {
	switch s.open {
	case "reasoning":
		s.item("response.reasoning_summary_text.done", object{"summary_index": 0, "text": s.said})
		s.item("response.reasoning_summary_part.done", object{"summary_index": 0, "part": object{"type": "summary_text", "text": s.said}})
		s.done(reasoningItem(s.id, s.said))
	case "message":
		s.item("response.output_text.done", object{"content_index": 0, "text": s.said})
		s.item("response.content_part.done", object{"content_index": 0, "part": textPart(s.said)})
		s.done(messageItem(s.id, "completed", textPart(s.said)))
	}
	s.open, s.said = "", ""
}

func (s *responsesSpeaker) call(c call) {
	s.stop()
	s.id = "fc_" + c.id
	s.added(callItem(s.id, "in_progress", c, ""))
	for _, p := range pieces(c.json()) {
		s.item("response.function_call_arguments.delta", object{"delta": p})
	}
	s.item("response.function_call_arguments.done", object{"arguments": c.json()})
	s.done(callItem(s.id, "completed", c, c.json()))
}

func (s *responsesSpeaker) end(all message) {
	s.stop()
	body := responsesDone(s.r, s.output, all.stop)
	s.send("response."+body["status"].(string), object{"response": body})
}
