package fakellm

import (
	"encoding/json"
	"net/http"
	"strings"
)

// geminiWire is Gemini generateContent and streamGenerateContent.
type geminiWire struct{}

func (geminiWire) name() string { return "gemini" }

type geminiPart struct {
	Text             string
	Thought          bool
	FunctionCall     *struct{}
	FunctionResponse *struct{ Response json.RawMessage }
}

func geminiTurn(name string, parts []geminiPart) turn {
	t := turn{role: roleOf(name)}
	for _, p := range parts {
		switch {
		case p.FunctionCall != nil:
			t.calls++
		case p.FunctionResponse != nil:
			t.results = append(t.results, result{geminiResult(p.FunctionResponse.Response)})
		case !p.Thought && p.Text != "":
			t.text += p.Text + "\n"
		}
	}
	return t
}

// geminiResult is the output or the error of a response, else all of it.
func geminiResult(data json.RawMessage) string {
	var known struct{ Output, Error content }
	if json.Unmarshal(data, &known) == nil && known.Output.text+known.Error.text != "" {
		return known.Output.text + known.Error.text
	}
	return string(data)
}

func (geminiWire) decode(r *http.Request, body []byte) (*request, error) {
	var in struct {
		Contents []struct {
			Role  string
			Parts []geminiPart
		}
		Tools []struct {
			FunctionDeclarations []struct {
				Name                 string
				Parameters           *schema
				ParametersJSONSchema *schema
			}
		}
		GenerationConfig struct {
			ResponseMIMEType   string
			ResponseSchema     json.RawMessage
			ResponseJSONSchema json.RawMessage
		}
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return nil, err
	}
	_, model, _ := strings.Cut(r.URL.Path, "/models/")
	model, method, _ := strings.Cut(model, ":")
	req := &request{model: model, stream: method == "streamGenerateContent", framing: jsonArray}
	if r.URL.Query().Get("alt") == "sse" {
		req.framing = dataLines
	}
	for _, c := range in.Contents {
		req.turns = append(req.turns, geminiTurn(c.Role, c.Parts))
	}
	for _, group := range in.Tools {
		for _, d := range group.FunctionDeclarations {
			t := tool{Name: d.Name}
			if d.ParametersJSONSchema != nil {
				t.Schema = *d.ParametersJSONSchema
			} else if d.Parameters != nil {
				t.Schema = *d.Parameters
			}
			req.tools = append(req.tools, t)
		}
	}
	config := in.GenerationConfig
	req.schema = config.ResponseJSONSchema
	if req.schema == nil {
		req.schema = config.ResponseSchema
	}
	if req.schema == nil && config.ResponseMIMEType == "application/json" {
		req.schema = json.RawMessage(`{"type":"object"}`)
	}
	return req, nil
}

func (geminiWire) failure(status int, message string) any {
	name := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}[status]
	if name == "" {
		name = "INTERNAL"
	}
	return object{"error": object{"code": status, "message": message, "status": name}}
}

var geminiStops = map[string]string{"": "STOP", "calls": "STOP", "length": "MAX_TOKENS", "refusal": "SAFETY"}

func geminiChunk(r *request, parts []any, finish string) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	chunk := object{"candidates": []any{candidate}, "modelVersion": r.model, "responseId": r.id}
	if finish != "" {
		candidate["finishReason"] = finish
		chunk["usageMetadata"] = object{
			"promptTokenCount": inputTokens, "cachedContentTokenCount": cachedTokens, "candidatesTokenCount": outputTokens,
			"thoughtsTokenCount": 20, "totalTokenCount": inputTokens + outputTokens + 20,
		}
	}
	return chunk
}

func geminiCall(c call) object {
	return object{"functionCall": object{"name": c.tool.Name, "args": c.args}}
}

func (geminiWire) whole(r *request, a message) any {
	parts := []any{}
	if a.thoughts != "" {
		parts = append(parts, object{"text": a.thoughts, "thought": true})
	}
	if a.text != "" {
		parts = append(parts, object{"text": a.text})
	}
	for _, c := range a.calls {
		parts = append(parts, geminiCall(c))
	}
	return geminiChunk(r, parts, geminiStops[a.stop])
}

type geminiSpeaker struct {
	f *frames
	r *request
}

func (geminiWire) speaker(f *frames, r *request) speaker { return geminiSpeaker{f, r} }

func (s geminiSpeaker) part(p object)    { s.f.send(geminiChunk(s.r, []any{p}, "")) }
func (s geminiSpeaker) begin()           {}
func (s geminiSpeaker) thought(t string) { s.part(object{"text": t, "thought": true}) }
func (s geminiSpeaker) text(t string)    { s.part(object{"text": t}) }
func (s geminiSpeaker) call(c call)      { s.part(geminiCall(c)) }
func (s geminiSpeaker) end(all message) {
	s.f.send(geminiChunk(s.r, []any{object{"text": ""}}, geminiStops[all.stop]))
}
