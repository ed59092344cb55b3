package server_test

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/server"
	"github.com/agentstream-go/agentstream/source"
)

// greeter is a source of one's own: an agent in the same process.
type greeter struct{}

func (greeter) Open(context.Context, source.Options) (source.Session, error) { return greeter{}, nil }
func (greeter) ID() string                                                   { return "" }
func (greeter) Close() error                                                 { return nil }
func (greeter) Run(_ context.Context, t source.Turn) (source.StopReason, error) {
	t.Handler.OnMessageChunk("Hello, " + t.Prompt[0].Text)
	return source.EndTurn, nil
}

func ExampleNew() {
	dir, err := os.MkdirTemp("", "server")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "log.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	e, err := engine.New(ctx, engine.Options{Log: store, Agents: []engine.Agent{{Name: "greeter", Source: greeter{}}}, Cwd: dir})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(ctx)

	mux := http.NewServeMux()
	mux.Handle("/", server.New(e, &server.Options{Token: "secret"}))
	ts := httptest.NewServer(mux)
	defer ts.Close()

	req, _ := http.NewRequest("POST", ts.URL+"/agui/greeter", strings.NewReader(`{"threadId": "t", "runId": "r", "messages": [{"id": "u1", "role": "user", "content": "world"}]}`))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer secret")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok && strings.Contains(data, "delta") {
			_, delta, _ := strings.Cut(data, `"delta":`)
			fmt.Println(delta)
		}
	}
	anonymous, err := http.Get(ts.URL + "/v1/threads")
	if err != nil {
		log.Fatal(err)
	}
	defer anonymous.Body.Close()
	fmt.Println(anonymous.Status)
	// Output:
	// "Hello, world"}
	// 401 Unauthorized
}
