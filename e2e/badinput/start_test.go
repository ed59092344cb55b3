package badinput

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// failure is an agent that cannot be used, and what is said of it.
type failure struct {
	command string // of the configuration, instead of a habit
	play    func(*agent)
	code    string
	says    []string // parts of the message
}

var failures = map[string]failure{
	"missing":    {command: `no-such-agent-anywhere, --acp`, code: "agent_missing", says: []string{"no-such-agent-anywhere"}},
	"no program": {command: "FILE", code: "agent_start_failed", says: []string{"permission denied"}},
	"no binary":  {command: "SCRIPT", code: "agent_start_failed", says: []string{"exec format error"}},
	"a folder":   {command: `/etc`, code: "agent_start_failed", says: []string{"/etc"}},
	"exits at once": {code: "agent_start_failed", says: []string{"exit status 3", "no configuration found"}, play: func(*agent) {
		fmt.Fprintln(os.Stderr, "no configuration found")
		os.Exit(3)
	}},
	"exits cleanly":  {code: "agent_start_failed", says: []string{"exit status 0"}, play: func(*agent) { os.Exit(0) }},
	"closes stdout":  {code: "agent_start_failed", says: []string{"closed its output"}, play: func(a *agent) { _ = os.Stdout.Close(); a.listen() }},
	"never answers":  {code: "timeout", says: []string{"said nothing for 2s", "initialize"}, play: func(a *agent) { a.listen() }},
	"talks HTML":     {code: "agent_start_failed", says: []string{"exit status 1"}, play: func(a *agent) { a.write("<html>\n<h1>Log in</h1>\n", nil); os.Exit(1) }},
	"refuses":        {code: "agent_error", says: []string{"initialize", "not today"}, play: first(`"error":{"code":-32603,"message":"not today"}`)},
	"version two":    {code: "agent_protocol", says: []string{"version 2"}, play: first(`"result":{"protocolVersion":2,"capabilities":{}}`)},
	"no version":     {code: "agent_protocol", says: []string{"version"}, play: first(`"result":{}`)},
	"null for all":   {code: "agent_protocol", says: []string{"version"}, play: first(`"result":null`)},
	"version a word": {code: "agent_protocol", says: []string{"version"}, play: first(`"result":{"protocolVersion":"latest"}`)},
	"nameless": {code: "agent_protocol", says: []string{"session without an id"}, play: func(a *agent) {
		first(`"result":{"protocolVersion":1}`)(a)
		first(`"result":{"sessionId":null}`)(a)
		a.listen()
	}},
	"wants a login": {code: "auth_required", says: []string{"asks for a login"}, play: func(a *agent) {
		first(`"result":{"protocolVersion":1}`)(a)
		first(`"error":{"code":-32000,"message":"Authentication required"}`)(a)
		a.listen()
	}},
}

// first answers one request with the members given.
func first(members string) func(*agent) {
	return func(a *agent) {
		if m, err := a.next(); err == nil {
			a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", m.ID, members), nil)
		}
	}
}

// listen reads until its input ends.
func (a *agent) listen() {
	for _, err := a.next(); err == nil; _, err = a.next() {
		continue
	}
}

// An agent that cannot be used fails its run, clearly, for both clients; the
// next one works, and what runs beside it does not notice.
func TestAgentsThatDoNotStart(t *testing.T) {
	harness.Require(t)
	s := server(t, "")
	other := bystander(t, s)
	t.Run("all", func(t *testing.T) {
		for name, f := range failures {
			for _, v := range aguitest.Versions {
				t.Run(name+"/"+string(v), func(t *testing.T) {
					t.Parallel()
					s := s.For(t)
					c := s.Client(v, agentName(name), harness.ID(t, "thread"))
					r := c.Say("go")
					checkClient(t, s, c, r)
					if r.RunError == nil || r.RunError.Code != f.code {
						t.Fatalf("%+v", r)
					}
					for _, part := range f.says {
						if !strings.Contains(r.RunError.Message, part) {
							t.Errorf("%q does not say %q", r.RunError.Message, part)
						}
					}
				})
			}
		}
	})
	other()
}

// bystander is a run that must be untouched by all that happens until the
// function is called.
func bystander(t *testing.T, s *harness.Server) func() {
	t.Helper()
	thread := harness.ID(t, "bystander")
	run := s.Run(thread, "demo", "list, then wait 600")
	reader := s.Events(thread, "")
	return func() {
		t.Helper()
		if r := s.Runs(thread)[0]; r.State != engine.RunRunning {
			t.Errorf("the run beside it: %+v", r)
		}
		s.Post("/v1/runs/"+run.ID+"/cancel?threadId="+thread, nil, nil)
		events := reader.Until(harness.Ended)
		if log := s.Log(thread); len(log) != len(events) {
			t.Errorf("its reader got %d events of %d", len(events), len(log))
		}
		if r := s.WaitRun(thread, run.ID); r.State != engine.RunCancelled {
			t.Errorf("the run beside it ended so: %+v", r)
		}
		checkThread(t, s, thread)
	}
}

// The same from the command line: one line on stderr and the code for it.
func TestRunOfAgentsThatDoNotStart(t *testing.T) {
	harness.Require(t)
	home := t.TempDir()
	path := filepath.Join(home, "config.yaml")
	if err := os.WriteFile(path, []byte(config(t)), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, code := range map[string]int{"missing": 5, "wants a login": 5, "exits at once": 1, "never answers": 3, "version two": 1} {
		r := harness.Command(t, home, "", "run", agentName(name), "go", "--config", path, "--data", filepath.Join(home, "data"))
		text := strings.TrimSpace(r.Stderr)
		if r.Code != code || r.Stdout != "" || !strings.Contains(text, failures[name].says[0]) {
			t.Errorf("%s: exit %d, want %d; stdout %q, stderr:\n%s", name, r.Code, code, r.Stdout, text)
		}
	}
}

// need skips the test where a program is missing or a command fails.
func need(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v %s", strings.Join(argv, " "), err, out)
	}
}
