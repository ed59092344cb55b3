package leaks

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
)

const roleVariable = "LEAKS_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(roleVariable) {
	case "":
		os.Exit(m.Run())
	case "agent":
		agent(false)
	case "parent":
		agent(true)
	case "wrapper":
		wrap()
	case "child": // keeps its parent's pipes, ignores all that can be ignored, in a session of its own
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		<-time.After(time.Hour)
	}
}

// agent says in its turn who is there ("pid AGENT PARENT CHILD"), and ends it only
// when it is cancelled.
func agent(children bool) {
	child := 0
	if children {
		child = start("child", true).Process.Pid
	}
	in := bufio.NewReader(os.Stdin)
	var prompt json.RawMessage
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		switch _ = json.Unmarshal(line, &m); m.Method {
		case "initialize":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1}}`+"\n", m.ID)
		case "session/new":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}`+"\n", m.ID)
		case "session/cancel":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`+"\n", prompt)
		case "session/prompt":
			prompt = slices.Clone(m.ID)
			fmt.Printf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"pid %d %d %d"}}}}`+"\n",
				os.Getpid(), os.Getppid(), child)
		}
	}
}

// wrap is a launcher: it passes its own files on and waits.
func wrap() { _ = start("parent", false).Wait() }

func start(role string, session bool) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: session}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	return cmd
}

// starts is how many agents are started and ended by force.
func starts(t *testing.T) int {
	text := os.Getenv("AGENTSTREAM_LEAKS")
	if text == "" {
		return 200
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("AGENTSTREAM_LEAKS: %v", err)
	}
	return n
}

const (
	lanes = 12 // agents that live at once
	slack = 32 // goroutines and files that connections of clients and of the database make up
)

// Agents that are killed, alone or with what started them or what they started,
// and servers that are killed with them, leave no process, no goroutine, no file
// and no lock.
func TestViolentEnds(t *testing.T) {
	harness.Require(t)
	if runtime.GOOS != "linux" {
		t.Skip("processes are looked up in /proc")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := "shutdown_timeout: 100ms\nagents:\n"
	for _, role := range []string{"agent", "parent", "wrapper"} {
		config += fmt.Sprintf("  %s: { command: [%q], env: { %s: %s, GOCOVERDIR: /nonexistent }, idle_timeout: 1ms }\n", role, self, roleVariable, role)
	}
	s := harness.Start(t, harness.Config(config))
	violent(t, s, 2*lanes, "warm") // what is opened once and kept
	s.NothingLeft()
	files, routines := names(t, s.Data), 0
	s.WaitFor("the server to be at rest", func() bool {
		before := routines
		routines = metric(t, s, "agentstream_goroutines")
		return metric(t, s, "agentstream_runs_open") == 0 && before == routines
	})
	open := descriptors(t, s)
	n := starts(t)
	t.Logf("%d goroutines and %d open files at rest; %d starts", routines, open, n)
	for part := range 4 {
		violent(t, s, n/4, fmt.Sprint("part", part))
		s.NothingLeft()
		s.WaitFor("goroutines and open files to be as they were", func() bool {
			return metric(t, s, "agentstream_goroutines") <= routines+slack && descriptors(t, s) <= open+slack
		})
		restart(t, s, part)
		s.NothingLeft()
		if d := cmp.Diff(files, names(t, s.Data)); d != "" {
			t.Errorf("files in the data folder:\n%s", d)
		}
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got, want := names(t, s.Data), []string{"agentstream.db", "lock", "token"}; !slices.Equal(got, want) {
		t.Errorf("the stopped server's files: %q", got)
	}
	s.Restart() // its lock is free
}

// ends are the ways in which a turn is ended.
var ends = []func(agent, parent, child int) []int{
	func(agent, _, _ int) []int { return []int{agent} },
	func(_, parent, _ int) []int { return []int{parent} },
	func(_, _, child int) []int { return []int{child} },
	func(agent, parent, child int) []int { return []int{child, agent, parent} },
}

func violent(t *testing.T, s *harness.Server, count int, part string) {
	t.Helper()
	var wg sync.WaitGroup
	for lane := range lanes {
		wg.Go(func() {
			for i := lane; i < count; i += lanes {
				one(t, s, i, fmt.Sprintf("%s-%d", part, i))
			}
		})
	}
	wg.Wait()
}

// one starts an agent, kills what is to be killed and waits for the run's end. An
// agent that has only lost its child goes on, and is cancelled.
func one(t *testing.T, s *harness.Server, i int, thread string) {
	how := i / 3 % len(ends)
	role := []string{"agent", "parent", "wrapper"}[i%3]
	run := s.Run(thread, role, "go")
	agent, parent, child := family(s, thread)
	server := s.PID()
	survives := true
	for _, pid := range ends[how](agent, parent, child) {
		if pid > 1 && pid != server && (pid != parent || role == "wrapper") {
			survives = survives && pid == child
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	want := engine.RunFailed
	if survives {
		want = engine.RunCancelled
		s.Post("/v1/runs/"+run.ID+"/cancel?threadId="+thread, nil, nil)
	}
	if got := s.WaitRun(thread, run.ID); got.State != want {
		t.Errorf("%s, end %d: %+v", role, how, got)
	}
}

// family waits for the agent to say who it is.
func family(s *harness.Server, thread string) (agent, parent, child int) {
	s.WaitFor("the agent to speak", func() bool {
		for _, e := range s.Log(thread) {
			if _, text, ok := strings.Cut(string(e.Data), `"pid `); ok {
				_, err := fmt.Sscan(text[:strings.IndexByte(text, '"')], &agent, &parent, &child)
				return err == nil
			}
		}
		return false
	})
	return agent, parent, child
}

// restart ends the server in mid-turn, by force or not, and starts it again.
func restart(t *testing.T, s *harness.Server, part int) {
	t.Helper()
	for _, role := range []string{"agent", "parent", "wrapper"} {
		thread := fmt.Sprintf("restart%d-%s", part, role)
		s.Run(thread, role, "go")
		family(s, thread)
	}
	if part%2 == 0 {
		s.Kill()
	} else {
		s.Stop()
	}
	s.Restart()
}

func names(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func descriptors(t *testing.T, s *harness.Server) int {
	t.Helper()
	left := 0
	for _, name := range names(t, fmt.Sprintf("/proc/%d/fd", s.PID())) {
		// Connections come and go with who asks.
		if to, err := os.Readlink(filepath.Join(fmt.Sprintf("/proc/%d/fd", s.PID()), name)); err == nil && !strings.HasPrefix(to, "socket:") {
			left++
		}
	}
	return left
}

func metric(t *testing.T, s *harness.Server, name string) int {
	t.Helper()
	for line := range strings.Lines(string(s.Do("GET", "/metrics", nil).Body)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			f, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				t.Fatal(err)
			}
			return int(f)
		}
	}
	t.Fatalf("no metric %s", name)
	return 0
}
