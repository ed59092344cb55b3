package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/server"
)

// TestCollapsedThread: cursors of what is gone are answered with where to begin
// anew, and everything that takes none goes on as before.
func TestCollapsedThread(t *testing.T) {
	dir := t.TempDir()
	store, err := sqlite.Open(filepath.Join(dir, "log.db"), sqlite.Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(t.Context(), engine.Options{
		Log: store, Agents: []engine.Agent{{Name: "greeter", Source: greeter{}}}, Cwd: dir,
		Retention: engine.Retention{CollapseAfter: time.Nanosecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(server.New(e, &server.Options{NoAuth: true, Verify: true}))
	defer func() {
		ts.Close()
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	}()
	post := `{"threadId":"t","runId":"r1","messages":[{"id":"u","role":"user","content":"world"}]}`
	if status, _, _ := ask(t, "POST", ts.URL+"/agui/greeter", "application/json", post); status != 200 {
		t.Fatalf("the run: %d", status)
	}
	_, run, _ := ask(t, "GET", ts.URL+"/v1/runs/r1?threadId=t", "", "")
	_, before, _ := ask(t, "GET", ts.URL+"/v1/threads/t/messages", "", "")
	from, to := run["from"].(string), run["to"].(string)

	deadline := time.Now().Add(time.Minute)
	for raw := ""; !strings.Contains(raw, "MESSAGES_SNAPSHOT"); {
		_, doc, _ := ask(t, "GET", ts.URL+"/v1/threads/t/events?wait=0s", "", "")
		if raw = encoded(doc); time.Now().After(deadline) {
			t.Fatal("the thread is not collapsed")
		}
	}
	for _, path := range []string{"/v1/threads/t/events?after=", "/v1/threads/t/events?wait=1s&after=", "/agui/greeter?threadId=t&after=", "/agui/greeter?threadId=t&prelude=replay&after="} {
		status, doc, _ := ask(t, "GET", ts.URL+path+url.QueryEscape(from), "", "")
		if status != http.StatusGone || doc["code"] != "cursor_gone" || doc["snapshot"] != "/v1/threads/t/messages" {
			t.Errorf("%s: %d %v", path, status, doc)
		}
	}
	if _, after, _ := ask(t, "GET", ts.URL+"/v1/threads/t/messages", "", ""); encoded(after) != encoded(before) {
		t.Errorf("messages: %v, before %v", after, before)
	}
	for path, want := range map[string]string{
		"/v1/threads/t/events?wait=0s":             `"MESSAGES_SNAPSHOT"`,
		"/v1/threads/t/events?wait=0s&tail=2":      `"MESSAGES_SNAPSHOT"`,
		"/v1/threads/t/rounds?format=anthropic":    "Hello, world",
		"/v1/threads/t/events?wait=0s&after=" + to: `"events":[]`,
	} {
		if status, doc, _ := ask(t, "GET", ts.URL+path, "", ""); status != 200 || !strings.Contains(encoded(doc), want) {
			t.Errorf("%s: %d %v", path, status, doc)
		}
	}
	// The same post again attaches, and the next one goes on.
	for _, body := range []string{post, strings.NewReplacer(`"r1"`, `"r2"`, `"u"`, `"u2"`).Replace(post)} {
		if status, doc, _ := ask(t, "POST", ts.URL+"/agui/greeter", "application/json", body); status != 200 {
			t.Errorf("%d %v", status, doc)
		}
	}
}

func encoded(doc map[string]any) string {
	data, _ := json.Marshal(doc) // it was decoded
	return string(data)
}
