package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/agentstream-go/agentstream/engine"
)

// Reply is an answer that is not a stream. Code is that of a problem document.
type Reply struct {
	Status int
	Code   string
	Header http.Header
	Body   []byte
}

// Request makes a request with the token. Body is nil, a string or []byte to be
// sent as it is, or anything else as JSON. Headers come in pairs and win; an empty
// value removes one.
func (s *Server) Request(ctx context.Context, method, path string, body any, headers ...string) *http.Request {
	s.t.Helper()
	var data io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		data = bytes.NewReader([]byte(b))
	case []byte:
		data = bytes.NewReader(b)
	default:
		text, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		data = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, s.URL+path, data)
	if err != nil {
		s.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.Token)
	}
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			req.Host = value
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	return req
}

// Do makes a request and reads the whole answer, whatever its status.
func (s *Server) Do(method, path string, body any, headers ...string) Reply {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	client := *s.http
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Do(s.Request(ctx, method, path, body, headers...))
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	r := Reply{Status: resp.StatusCode, Header: resp.Header, Body: data}
	var p struct{ Code string }
	if resp.Header.Get("Content-Type") == "application/problem+json" && json.Unmarshal(data, &p) == nil {
		r.Code = p.Code
	}
	return r
}

// Get reads JSON into out. Any status but 2xx fails the test.
func (s *Server) Get(path string, out any) {
	s.t.Helper()
	s.call("GET", path, nil, out)
}

// Post sends JSON and reads the answer into out, which may be nil. Any status but
// 2xx fails the test.
func (s *Server) Post(path string, in, out any) {
	s.t.Helper()
	s.call("POST", path, in, out)
}

func (s *Server) call(method, path string, in, out any) {
	s.t.Helper()
	r := s.Do(method, path, in)
	if r.Status/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, path, r.Status, r.Body)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(r.Body, out); err != nil {
		s.t.Fatalf("%s %s: %v\n%s", method, path, err, r.Body)
	}
}

// ThreadPath is the route of a thread and what is below it.
func ThreadPath(thread, below string) string { return "/v1/threads/" + url.PathEscape(thread) + below }

// Run starts a run by REST and gives it as it is when it has started.
func (s *Server) Run(thread, agent, text string) engine.Run {
	s.t.Helper()
	var r engine.Run
	s.Post(ThreadPath(thread, "/runs"), map[string]any{"agent": agent, "input": text}, &r)
	return r
}

// Messages is the thread's AG-UI list.
func (s *Server) Messages(thread string) (m engine.Messages) {
	s.t.Helper()
	s.Get(ThreadPath(thread, "/messages"), &m)
	return m
}

// Rounds are the thread's rounds.
func (s *Server) Rounds(thread string) []engine.Round {
	s.t.Helper()
	var out struct{ Rounds []engine.Round }
	s.Get(ThreadPath(thread, "/rounds?format=eino"), &out)
	return out.Rounds
}

// Runs are the thread's runs, oldest first.
func (s *Server) Runs(thread string) []engine.Run {
	s.t.Helper()
	var out struct{ Runs []engine.Run }
	s.Get(ThreadPath(thread, "/runs"), &out)
	return out.Runs
}

// WaitRun waits until the run is in one of the states, or in any that is an end if
// none is given.
func (s *Server) WaitRun(thread, run string, states ...engine.RunState) (r engine.Run) {
	s.t.Helper()
	path := "/v1/runs/" + url.PathEscape(run) + "?threadId=" + url.QueryEscape(thread)
	s.WaitFor("the end of run "+run, func() bool {
		s.Get(path, &r)
		if len(states) == 0 {
			return r.State != engine.RunQueued && r.State != engine.RunRunning
		}
		return slices.Contains(states, r.State)
	})
	return r
}

// WaitFor waits until the condition holds, which is looked at again and again.
func (s *Server) WaitFor(what string, holds func() bool) {
	s.t.Helper()
	end := time.Now().Add(Patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(end) {
			s.t.Fatalf("waited in vain for %s", what)
		}
		<-tick.C
	}
}
