package e2e_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

type page struct {
	Events []struct {
		ID    string
		Event json.RawMessage
	}
	Cursor string
}

// Every way to read the log gives the same events under the same ids.
func TestReadingTheLog(t *testing.T) {
	s := harness.Start(t)
	thread := harness.ID(t, "thread")
	run := s.Run(thread, "demo", "think, parallel, long 30")
	s.WaitRun(thread, run.ID)
	log := s.Log(thread)
	last := log[len(log)-1]
	same := func(what string, got []harness.Event, want []harness.Event) {
		t.Helper()
		if len(got) != len(want) {
			t.Errorf("%s: %d events, want %d", what, len(got), len(want))
			return
		}
		for i, e := range got {
			if e.ID != want[i].ID || string(compact(t, e.Data)) != string(compact(t, want[i].Data)) {
				t.Errorf("%s: event %d is %s %s, want %s %s", what, i, e.ID, e.Data, want[i].ID, want[i].Data)
			}
		}
	}
	all := func(e harness.Event) bool { return e.ID == last.ID }
	same("from the start", s.Events(thread, "").Until(all), log)
	for _, i := range []int{0, 5, len(log) / 2, len(log) - 2} {
		same("after=", s.Events(thread, log[i].ID).Until(all), log[i+1:])
		same("Last-Event-ID", s.Stream("GET", harness.ThreadPath(thread, "/events?after="+last.ID), nil, "Last-Event-ID", log[i].ID).Until(all), log[i+1:])
	}
	same("tail", s.Stream("GET", harness.ThreadPath(thread, "/events?tail=4"), nil).Until(all), log[len(log)-4:])
	h := s.Events(thread, "").Response.Header
	if h.Get("Content-Type") != "text/event-stream" || h.Get("Cache-Control") != "no-cache, no-transform" || h.Get("X-Accel-Buffering") != "no" {
		t.Errorf("%v", h)
	}
}

// A poll that waits is answered by the next event, one with nothing to come when
// its time is up.
func TestLongPolling(t *testing.T) {
	s := harness.Start(t)
	thread := harness.ID(t, "thread")
	run := s.Run(thread, "demo", "echo one")
	s.WaitRun(thread, run.ID)
	end := s.LastEvent(thread).ID
	var p page
	s.Get(harness.ThreadPath(thread, "/events?wait=10ms&after="+end), &p)
	if len(p.Events) != 0 || p.Cursor != end {
		t.Errorf("nothing was to come: %+v", p)
	}
	answer := make(chan page)
	go func() {
		var p page
		s.Get(harness.ThreadPath(thread, "/events?wait=60s&after="+end), &p)
		answer <- p
	}()
	s.Run(thread, "demo", "echo two")
	if p := <-answer; len(p.Events) == 0 || !strings.Contains(string(p.Events[0].Event), string(agui.TypeRunStarted)) {
		t.Errorf("%+v", p)
	}
	for _, bad := range []string{"x", "-1s"} {
		if r := s.Do("GET", harness.ThreadPath(thread, "/events?wait="+bad), nil); r.Status != 400 {
			t.Errorf("wait=%s: %d %s", bad, r.Status, r.Body)
		}
	}
}

func TestCursorsThatCannotBeServed(t *testing.T) {
	s := harness.Start(t)
	thread, other := harness.ID(t, "thread"), harness.ID(t, "thread")
	for _, id := range []string{thread, other} {
		s.WaitRun(id, s.Run(id, "demo", "echo x").ID)
	}
	future := s.LastEvent(thread).ID
	future = future[:len(future)-3] + "999"
	for name, cursor := range map[string]string{"another thread's": s.LastEvent(other).ID, "in the future": future} {
		for _, path := range []string{harness.ThreadPath(thread, "/events?after="), "/agui/demo?threadId=" + url.QueryEscape(thread) + "&after="} {
			r := s.Do("GET", path+cursor, nil)
			var p struct{ Snapshot string }
			if err := json.Unmarshal(r.Body, &p); err != nil || r.Status != 410 || r.Header.Get("Cache-Control") != "no-store" || r.Code != "cursor_gone" || p.Snapshot != harness.ThreadPath(thread, "/messages") {
				t.Errorf("%s: %s: %d %s", path, name, r.Status, r.Body)
			}
		}
	}
	if r := s.Do("GET", harness.ThreadPath(thread, "/events?after=nonsense"), nil); r.Status != 400 || r.Code != "bad_request" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	cursor := s.LastEvent(thread).ID
	if r := s.Do("DELETE", harness.ThreadPath(thread, ""), nil); r.Status != 204 {
		t.Fatalf("%d %s", r.Status, r.Body)
	}
	s.WaitRun(thread, s.Run(thread, "demo", "echo anew").ID)
	if r := s.Do("GET", harness.ThreadPath(thread, "/events?after="+cursor), nil); r.Status != 410 {
		t.Errorf("a deleted thread's cursor: %d %s", r.Status, r.Body)
	}
}

// What is not there or not right is said by a stable code.
func TestRefusals(t *testing.T) {
	s := harness.Start(t, harness.Config("limits: { body_bytes: 65536 }\n"))
	thread := harness.ID(t, "thread")
	s.WaitRun(thread, s.Run(thread, "demo", "echo x").ID)
	input := harness.Input(harness.ID(t, "thread"), "r", harness.User("u", "help"))
	outside := harness.Input(harness.ID(t, "thread"), "r", harness.User("u", "help"))
	outside["forwardedProps"] = map[string]any{"agentstream": map[string]any{"cwd": "/"}}
	for _, c := range []struct {
		method, path string
		body         any
		status       int
		code         string
	}{
		{"GET", "/v1/threads/none", nil, 404, "thread_unknown"},
		{"GET", "/v1/threads/none/messages", nil, 404, "thread_unknown"},
		{"GET", "/v1/runs/none", nil, 404, "run_unknown"},
		{"POST", "/v1/runs/none/cancel", nil, 404, "run_unknown"},
		{"POST", "/v1/requests/none/resolve", map[string]any{"approved": true}, 404, "request_unknown"},
		{"DELETE", "/v1/grants/none", nil, 404, "grant_unknown"},
		{"POST", "/agui/none", input, 404, "agent_unknown"},
		{"GET", "/agui/none?threadId=x", nil, 404, "agent_unknown"},
		{"POST", "/v1/threads/x/runs", map[string]any{"agent": "none", "input": "x"}, 404, "agent_unknown"},
		{"POST", "/v1/threads/x/runs", map[string]any{"agent": "demo"}, 400, "bad_request"},
		{"POST", "/v1/threads/x/runs", map[string]any{"agent": "demo", "input": " "}, 400, "bad_request"},
		{"POST", "/v1/threads/x/runs", map[string]any{"agent": "demo", "input": "x", "cwd": "/"}, 403, "cwd_forbidden"},
		{"POST", "/agui/demo", outside, 403, "cwd_forbidden"},
		{"POST", "/v1/threads/" + strings.Repeat("x", 257) + "/runs", map[string]any{"agent": "demo", "input": "x"}, 400, "bad_request"},
		{"POST", "/agui/demo", "{", 400, "bad_request"},
		{"POST", "/agui/demo", "{}", 400, "bad_request"},
		{"POST", "/agui/demo", strings.Repeat(" ", 65537), 413, "too_large"},
		{"PUT", "/v1/threads/" + url.PathEscape(thread), "{}", 405, "method_unknown"},
		{"GET", harness.ThreadPath(thread, "/rounds?format=none"), nil, 400, "bad_request"},
		{"GET", harness.ThreadPath(thread, "/events?tail=x"), nil, 400, "bad_request"},
	} {
		r := s.Do(c.method, c.path, c.body)
		if r.Status != c.status || r.Code != c.code {
			t.Errorf("%s %.60s: %d %s %s, want %d %s", c.method, c.path, r.Status, r.Code, r.Body, c.status, c.code)
		}
	}
	if r := s.Do("POST", "/agui/demo", "threadId=x", "Content-Type", "application/x-www-form-urlencoded"); r.Status != 415 || r.Code != "not_json" {
		t.Errorf("a form: %d %s", r.Status, r.Body)
	}
	if r := s.Do("GET", harness.ThreadPath("unknown", "/events?wait=0s"), nil); r.Status != 200 {
		t.Errorf("the log of an unknown thread: %d %s", r.Status, r.Body)
	}
	if events := s.Stream("GET", "/agui/demo?threadId=unknown", nil).All(); len(events) != 0 {
		t.Errorf("an unknown thread's stream has %d events", len(events))
	}
}
