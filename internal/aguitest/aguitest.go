// Package aguitest drives the published AG-UI clients, the real ones, from Go
// tests: one Node process for a test binary, in which any number of clients of
// both versions replay frames or run against a server.
package aguitest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/agui"
)

// Versions are the clients there are.
var Versions = []agui.Version{agui.V0, agui.V1}

// patience is how long a command may take on a loaded machine.
const patience = 2 * time.Minute

// Call is one run of a client. Agent names a client that lives over several
// calls, with what it holds; "" makes one for this call only. Version, Messages
// and State count when the client is made.
type Call struct {
	Agent    string          `json:"agent,omitempty"`
	Version  agui.Version    `json:"version,omitempty"`
	ThreadID string          `json:"threadId,omitempty"`
	Messages []agui.Message  `json:"messages,omitempty"`
	State    json.RawMessage `json:"state,omitempty"`

	// URL is run against with Method (POST if empty; GET reads without a
	// body), or else Frames are replayed, in pieces of Piece bytes if > 0.
	URL     string            `json:"url,omitempty"`
	Method  string            `json:"method,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
	Frames  *string           `json:"frames,omitempty"`
	Piece   int               `json:"piece,omitempty"`

	RunID          string              `json:"runId,omitempty"`
	Add            []agui.Message      `json:"add,omitempty"` // appended before the run, as an application does
	Tools          []agui.Tool         `json:"tools,omitempty"`
	Context        []agui.ContextEntry `json:"context,omitempty"`
	ForwardedProps json.RawMessage     `json:"forwardedProps,omitempty"`
	Resume         []agui.Resume       `json:"resume,omitempty"`
	Connect        bool                `json:"connect,omitempty"`    // connectAgent instead of runAgent
	AbortAfter     int                 `json:"abortAfter,omitempty"` // abortRun at the nth event
}

// Report is what a client says after a run.
type Report struct {
	Events             []agui.Type      `json:"events"`
	Messages           json.RawMessage  `json:"messages"`
	State              json.RawMessage  `json:"state"`
	PendingInterrupts  []agui.Interrupt `json:"pendingInterrupts"`
	RunID              string           `json:"runId"` // of the last RUN_STARTED
	Outcome            string           `json:"outcome"`
	Result             json.RawMessage  `json:"result"`
	PendingToolCallIDs []string         `json:"pendingToolCallIds"` // 1.0.0 only
	RunError           *RunError        `json:"runError"`
	Error              string           `json:"error"` // with which runAgent threw
	ErrorStatus        int              `json:"errorStatus"`
	Warnings           []string         `json:"warnings"`  // all that the client printed; any is a defect
	CPUMillis          float64          `json:"cpuMillis"` // what Node has used meanwhile, for other clients too
}

// RunError is the RUN_ERROR that the client got.
type RunError struct {
	Message string `json:"message"`
	Code    string `json:"code"`
}

// OK reports whether the client took the stream without a word.
func (r *Report) OK() bool { return r.Error == "" && len(r.Warnings) == 0 }

// Driver talks to the Node process. Its methods may be called concurrently.
type Driver struct {
	t testing.TB
	p *process
}

var shared struct {
	sync.Once
	process *process
	err     error
}

// Clients returns the driver, or skips the test: the clients are wanted with
// AGENTSTREAM_E2E=1, and found in AGENTSTREAM_E2E_CLIENTS or else e2e/clients,
// where `make clients` installs them. A folder that was named and has none is a
// failure.
func Clients(t testing.TB) *Driver {
	t.Helper()
	if os.Getenv("AGENTSTREAM_E2E") != "1" {
		t.Skip("AGENTSTREAM_E2E=1 runs this with the published clients")
	}
	dir := os.Getenv("AGENTSTREAM_E2E_CLIENTS")
	named := dir != ""
	if !named {
		dir = filepath.Join(moduleRoot(t), "e2e", "clients")
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		if named {
			t.Fatalf("no clients there: %v", err)
		}
		t.Skip("the clients are not installed: make clients does it")
	}
	shared.Do(func() { shared.process, shared.err = startProcess(dir) })
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return &Driver{t, shared.process}
}

func moduleRoot(t testing.TB) string {
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(data, []byte("module github.com/agentstream-go/agentstream\n")) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("go.mod of the module not found")
		}
		dir = up
	}
}

// Run runs a client and waits for the end of the run.
func (d *Driver) Run(ctx context.Context, c Call) (Report, error) {
	var r Report
	return r, d.p.do(ctx, "run", c, &r)
}

// MustRun is Run that fails the test.
func (d *Driver) MustRun(c Call) Report {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := d.Run(ctx, c)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// Replay gives encoded events to a fresh client, as one response.
func (d *Driver) Replay(v agui.Version, events ...[]byte) Report {
	d.t.Helper()
	return d.MustRun(Call{Version: v, Frames: Frames(events...)})
}

// Wait returns when the client's present run, or else its next one, has seen
// count events of a type (of any, if event is ""). It fails when that run is over
// before. The client need not exist yet.
func (d *Driver) Wait(ctx context.Context, agent string, event agui.Type, count int) error {
	return d.p.do(ctx, "wait", map[string]any{"agent": agent, "event": event, "count": count}, nil)
}

// Abort aborts the client's run, as an application's stop button does.
func (d *Driver) Abort(ctx context.Context, agent string) error {
	return d.p.do(ctx, "abort", map[string]any{"agent": agent}, nil)
}

// Detach makes the client stop reading, as one does that goes to another page.
func (d *Driver) Detach(ctx context.Context, agent string) error {
	return d.p.do(ctx, "detach", map[string]any{"agent": agent}, nil)
}

// Drop forgets the client.
func (d *Driver) Drop(ctx context.Context, agent string) error {
	return d.p.do(ctx, "drop", map[string]any{"agent": agent}, nil)
}

// Frames is a response body of these events.
func Frames(events ...[]byte) *string {
	var b strings.Builder
	for _, e := range events {
		b.WriteString("data: ")
		b.Write(e)
		b.WriteString("\n\n")
	}
	s := b.String()
	return &s
}
