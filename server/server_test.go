package server_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/server"
)

// world is a server on a fresh log with the agent greeter.
func world(t *testing.T, o server.Options) *httptest.Server {
	t.Helper()
	return worldOf(t, o, engine.Agent{Name: "greeter", Source: greeter{}})
}

// worldOf is a server on a fresh log with an agent of the test's own.
func worldOf(t *testing.T, o server.Options, a engine.Agent) *httptest.Server {
	t.Helper()
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "log.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(context.Background(), engine.Options{Log: store, Agents: []engine.Agent{a}, Cwd: dir})
	if err != nil {
		t.Fatal(err)
	}
	o.NoAuth = true
	ts := httptest.NewServer(server.New(e, &o))
	t.Cleanup(func() {
		ts.CloseClientConnections()
		ts.Close()
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return ts
}

func ask(t *testing.T, method, address, kind, body string) (int, map[string]any, http.Header) {
	t.Helper()
	req, err := http.NewRequest(method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	_ = json.Unmarshal(data, &doc)
	return resp.StatusCode, doc, resp.Header
}

func TestRefusals(t *testing.T) {
	ts := world(t, server.Options{BodyBytes: 4096})
	const js = "application/json"
	good := `{"threadId":"t","runId":"r","messages":[{"id":"u","role":"user","content":"x"}]}`
	for _, c := range []struct {
		name, method, path, kind, body string
		status                         int
		code                           string
	}{
		{"unknown route", "GET", "/nothing", "", "", 404, "route_unknown"},
		{"wrong method", "PUT", "/v1/threads", js, "{}", 405, "method_unknown"},
		{"no JSON type", "POST", "/agui/greeter", "text/plain", good, 415, "not_json"},
		{"no JSON", "POST", "/agui/greeter", js, "{", 400, "bad_request"},
		{"no thread", "POST", "/agui/greeter", js, `{"runId":"r","messages":[]}`, 400, "bad_request"},
		{"long id", "POST", "/agui/greeter", js, `{"threadId":"` + strings.Repeat("x", 257) + `","runId":"r","messages":[]}`, 400, "bad_request"},
		{"id no path can hold", "POST", "/agui/greeter", js, `{"threadId":"..","runId":"r","messages":[]}`, 400, "bad_request"},
		{"too large", "POST", "/agui/greeter", js, good + strings.Repeat(" ", 5000), 413, "too_large"},
		{"unknown agent", "POST", "/agui/nobody", js, good, 404, "agent_unknown"},
		{"unknown thread", "GET", "/v1/threads/none/messages", "", "", 404, "thread_unknown"},
		{"window that is no count", "POST", "/agui/greeter?messages=many", js, good, 400, "bad_request"},
		{"window that is no count, attaching", "GET", "/agui/greeter?threadId=t&messages=-1", "", "", 400, "bad_request"},
		{"wait that is no time", "GET", "/v1/threads?wait=soon", "", "", 400, "bad_request"},
		{"unknown run", "GET", "/v1/runs/none", "", "", 404, "run_unknown"},
		{"unknown request", "GET", "/v1/requests/none", "", "", 404, "request_unknown"},
		{"empty answer", "POST", "/v1/requests/none/resolve", js, "{}", 400, "bad_request"},
		{"malformed cursor", "GET", "/v1/threads/t/events?after=12", "", "", 400, "bad_request"},
		{"foreign cursor", "GET", "/v1/threads/t/events?after=0badcafe-00000000000000000001", "", "", 410, "cursor_gone"},
		{"foreign cursor of requests", "GET", "/v1/requests/events?after=0badcafe-00000000000000000001", "", "", 410, "cursor_gone"},
		{"bad wait", "GET", "/v1/threads/t/events?wait=soon", "", "", 400, "bad_request"},
		{"bad prelude", "GET", "/agui/greeter?threadId=t&prelude=x", "", "", 400, "bad_request"},
		{"bad limit", "GET", "/v1/threads?limit=-1", "", "", 400, "bad_request"},
		{"bad conflict", "POST", "/v1/threads/t/runs", js, `{"agent":"greeter","input":"x","onConflict":"y"}`, 400, "bad_request"},
		{"empty input", "POST", "/v1/threads/t/runs", js, `{"agent":"greeter","input":" "}`, 400, "bad_request"},
		{"no input", "POST", "/v1/threads/t/runs", js, `{"agent":"greeter"}`, 400, "bad_request"},
		{"folder outside", "POST", "/v1/threads/t/runs", js, `{"agent":"greeter","input":"x","cwd":"/"}`, 403, "cwd_forbidden"},
	} {
		status, doc, h := ask(t, c.method, ts.URL+c.path, c.kind, c.body)
		if status != c.status || doc["code"] != c.code || doc["detail"] == "" {
			t.Errorf("%s: %d %v", c.name, status, doc)
		}
		if h.Get("Content-Type") != "application/problem+json" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: headers %v", c.name, h)
		}
	}
}

func TestRunByREST(t *testing.T) {
	ts := world(t, server.Options{Verify: true})
	thread := url.PathEscape("a/b ü")
	status, run, h := ask(t, "POST", ts.URL+"/v1/threads/"+thread+"/runs", "application/json", `{"agent":"greeter","input":"world","runId":"r1"}`)
	if status != http.StatusAccepted || run["id"] != "r1" || run["thread"] != "a/b ü" {
		t.Fatalf("%d %v", status, run)
	}
	if status, doc, _ := ask(t, "GET", ts.URL+h.Get("Location"), "", ""); status != 200 || doc["id"] != "r1" {
		t.Fatalf("Location %s: %d %v", h.Get("Location"), status, doc)
	}
	// Joining waits for the end.
	if status, _, _ := ask(t, "GET", ts.URL+"/agui/greeter?threadId="+url.QueryEscape("a/b ü"), "", ""); status != 200 {
		t.Fatalf("join: %d", status)
	}
	_, doc, _ := ask(t, "GET", ts.URL+"/v1/threads/"+thread+"/rounds?format=openai", "", "")
	if m, ok := doc["messages"].([]any); !ok || len(m) != 2 {
		t.Errorf("openai: %v", doc)
	}
	_, doc, _ = ask(t, "GET", ts.URL+"/v1/threads/"+thread+"/events?wait=0", "", "")
	if events, ok := doc["events"].([]any); !ok || len(events) < 5 || doc["cursor"] == "" {
		t.Errorf("poll: %v", doc)
	}
	_, list, _ := ask(t, "GET", ts.URL+"/v1/threads?wait=60s&since=other", "", "") // at once
	if threads, ok := list["threads"].([]any); !ok || len(threads) != 1 || list["cursor"] == "" {
		t.Errorf("threads: %v", list)
	}
	if _, again, _ := ask(t, "GET", ts.URL+"/v1/threads?wait=10ms&since="+list["cursor"].(string), "", ""); again["cursor"] != list["cursor"] {
		t.Errorf("threads: %v, then %v", list, again)
	}
	if status, _, _ := ask(t, "DELETE", ts.URL+"/v1/threads/"+thread, "", ""); status != http.StatusNoContent {
		t.Errorf("delete: %d", status)
	}
}

func TestOperation(t *testing.T) {
	ts := world(t, server.Options{Version: "1.2.3"})
	_, doc, _ := ask(t, "GET", ts.URL+"/openapi.json", "", "")
	paths, _ := doc["paths"].(map[string]any)
	for _, path := range []string{"/", "/agui/{agent}", "/v1/threads/{thread}/events", "/v1/requests/{id}/resolve"} {
		if paths[path] == nil {
			t.Errorf("%s is not described", path)
		}
	}
	if status, doc, _ := ask(t, "GET", ts.URL+"/readyz", "", ""); status != 200 || doc["status"] != "ready" {
		t.Errorf("ready: %d %v", status, doc)
	}
	if _, doc, _ := ask(t, "GET", ts.URL+"/agui/greeter/capabilities", "", ""); doc["transport"] == nil {
		t.Errorf("capabilities: %v", doc)
	}
	if _, doc, _ := ask(t, "GET", ts.URL+"/v1/agents", "", ""); len(doc["agents"].([]any)) != 1 {
		t.Errorf("agents: %v", doc)
	}
}
