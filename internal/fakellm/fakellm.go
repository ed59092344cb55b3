// Package fakellm is a model endpoint with scripted answers, so that real
// agents run with no key, no account and no network. It speaks OpenAI Chat
// Completions and Responses, Anthropic Messages and Gemini generateContent,
// streaming and not.
//
// A marker in the last prompt of the user chooses the script: [[S:plain]], or
// with parameters [[S:tool_ok path=/tmp/a.txt]]. Scripts lists them. A prompt
// without a marker gets plain.
//
// Tools are chosen among those that the request offers, by name and schema:
// a script that reads uses the agent's read tool, or its shell if it has none.
// When results have come back, the answer names what they say. A request that
// offers no tools is a side question (a title, a summary): it gets a short
// answer whatever the marker says, or the smallest value of the JSON schema that
// it asks for.
package fakellm

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxBody bounds a request: agents send their whole history, pictures included.
const maxBody = 64 << 20

// Options change how a Model answers. The zero value answers at once.
type Options struct {
	// ChunkDelay passes between two chunks of a stream.
	ChunkDelay time.Duration
	// Slow is how long the script slow goes on without parameter ms; 0 is 30 s.
	Slow time.Duration
}

// Model is the endpoint, an http.Handler for any number of requests at once.
// The routes are found by the end of the path, so that any base URL will do.
type Model struct {
	options Options

	mu       sync.Mutex
	requests []Request
	answers  int
	calls    int
	dropped  map[string]int
}

// Request is what a client asked, as tests want to know it.
type Request struct {
	Wire    string   // chat, responses, anthropic or gemini
	Script  string   // what was played
	Prompt  string   // the user's text that had the marker
	Stream  bool     // whether the answer was streamed
	Tools   []string // names of the tools offered
	Results []string // texts of the results that came back since the prompt
	Body    []byte   // all of the request: what the agent remembers is in it
}

// New returns a Model.
func New(o Options) *Model {
	if o.Slow == 0 {
		o.Slow = 30 * time.Second
	}
	return &Model{options: o, dropped: map[string]int{}}
}

// Requests returns what was asked so far, side questions and counts of tokens
// left out. Safe for concurrent calls.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// wire is one protocol of model APIs.
type wire interface {
	name() string
	decode(r *http.Request, body []byte) (*request, error)
	failure(status int, message string) any
	speaker(f *frames, r *request) speaker // for a stream
	whole(r *request, a message) any       // for one answer
}

// speaker says a stream's pieces as they come.
type speaker interface {
	begin()
	thought(s string)
	text(s string)
	call(c call)
	end(all message)
}

func route(r *http.Request) wire {
	path := strings.TrimRight(r.URL.Path, "/")
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return chatWire{}
	case strings.HasSuffix(path, "/responses"):
		return responsesWire{}
	case strings.HasSuffix(path, "/messages"):
		return anthropicWire{}
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return geminiWire{}
	}
	return nil
}

func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wire := route(r)
	switch {
	case r.Method == http.MethodHead:
		return
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		writeJSON(w, http.StatusOK, models())
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/count_tokens"):
		writeJSON(w, http.StatusOK, object{"input_tokens": inputTokens})
	case r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, ":countTokens"):
		writeJSON(w, http.StatusOK, object{"totalTokens": inputTokens})
	case r.Method == http.MethodPost && wire != nil:
		m.answer(w, r, wire)
	default:
		writeJSON(w, http.StatusNotFound, object{"error": object{"message": "no such route: " + r.Method + " " + r.URL.Path}})
	}
}

func (m *Model) answer(w http.ResponseWriter, r *http.Request, wire wire) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeJSON(w, http.StatusBadRequest, wire.failure(http.StatusBadRequest, err.Error()))
		return
	}
	req, err := wire.decode(r, body)
	if err != nil {
		writeJSON(w, http.StatusBadRequest, wire.failure(http.StatusBadRequest, err.Error()))
		return
	}
	req.digest()
	steps := m.play(wire, req, body)
	if len(steps) > 0 && steps[0].status != 0 {
		writeJSON(w, steps[0].status, wire.failure(steps[0].status, fmt.Sprintf("scripted failure %d", steps[0].status)))
		return
	}
	if !req.stream {
		all, ok := m.collect(r.Context(), steps)
		if !ok {
			panic(http.ErrAbortHandler)
		}
		writeJSON(w, http.StatusOK, wire.whole(req, all))
		return
	}
	f := newFrames(w, req.framing)
	if !m.speak(r.Context(), wire.speaker(f, req), steps) {
		panic(http.ErrAbortHandler) // cuts the connection; net/http logs nothing for it
	}
	f.close()
}

// play chooses the steps of the answer and notes the request.
func (m *Model) play(wire wire, req *request, body []byte) []step {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers++
	req.id = strconv.Itoa(m.answers)
	if len(req.tools) == 0 {
		return side(req)
	}
	seen := Request{Wire: wire.name(), Script: req.marker.script, Prompt: req.prompt, Stream: req.stream, Body: body}
	for _, t := range req.tools {
		seen.Tools = append(seen.Tools, t.Name)
	}
	for _, res := range req.results {
		seen.Results = append(seen.Results, res.text)
	}
	m.requests = append(m.requests, seen)
	if req.marker.script == "drop" {
		m.dropped[req.prompt]++
		if times := req.marker.number("times", 0); times > 0 && m.dropped[req.prompt] > times {
			req.marker.script = "plain"
		}
	}
	steps := scriptOf(req)
	for i := range steps {
		if steps[i].call.tool.Name != "" {
			m.calls++
			steps[i].call.id = fmt.Sprintf("call_%d", m.calls)
		}
	}
	return steps
}

// speak plays the steps into a stream; false: the stream is to be cut.
func (m *Model) speak(ctx context.Context, s speaker, steps []step) bool {
	s.begin()
	var all message
	for _, st := range steps {
		if !all.add(st) {
			return false
		}
		switch {
		case st.thought != "":
			s.thought(st.thought)
		case st.text != "":
			s.text(st.text)
		case st.call.tool.Name != "":
			s.call(st.call)
		case st.slow:
			m.linger(ctx, st.wait, func(tick string) { all.text += tick; s.text(tick) })
		}
		pause(ctx, m.options.ChunkDelay)
		if ctx.Err() != nil {
			return false
		}
	}
	s.end(all)
	return true
}

func (m *Model) collect(ctx context.Context, steps []step) (message, bool) {
	var all message
	for _, st := range steps {
		if !all.add(st) {
			return all, false
		}
		if st.slow {
			m.linger(ctx, st.wait, func(tick string) { all.text += tick })
		}
	}
	return all, ctx.Err() == nil
}

// linger says a little ten times a second until the client goes away or the
// time is over.
func (m *Model) linger(ctx context.Context, wait time.Duration, say func(string)) {
	if wait == 0 {
		wait = m.options.Slow
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for n := 1; ; n++ {
		say(fmt.Sprintf("tick %d\n", n))
		pause(ctx, 100*time.Millisecond)
		if ctx.Err() != nil {
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// object is a JSON object under construction.
type object = map[string]any

func models() object {
	one := object{"id": "fake-model", "object": "model", "created": created, "owned_by": "agentstream", "type": "model", "display_name": "Fake"}
	return object{"object": "list", "data": []any{one}, "models": []any{object{"name": "models/fake-model"}}, "has_more": false}
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may have gone
}
