//go:build linux || darwin

package proc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const habitVariable = "PROC_TEST_HABIT"

func TestMain(m *testing.M) {
	if habit := os.Getenv(habitVariable); habit != "" {
		behave(habit)
		return
	}
	os.Exit(m.Run())
}

// behave is what the child does: each habit is one that agents have. A child
// says "ready" when its habit is in place.
func behave(habit string) {
	forever := time.After(time.Hour)
	ready := func() { fmt.Println("ready", os.Getpid()) }
	switch habit {
	case "polite":
		ready()
		io.Copy(io.Discard, os.Stdin)
	case "ignores the end of stdin":
		ready()
		<-forever
	case "ignores SIGTERM":
		signal.Ignore(syscall.SIGTERM)
		ready()
		<-forever
	case "ends on SIGTERM":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		ready()
		<-c
		os.Exit(7)
	case "leaves a daemon":
		spawn("ignores SIGTERM", true)
		ready()
		io.Copy(io.Discard, os.Stdin)
	case "leaves children":
		for range 5 {
			spawn("ignores SIGTERM", false)
		}
		ready()
		io.Copy(io.Discard, os.Stdin)
	case "forks many":
		for range 8 {
			spawn("leaves a daemon", true)
		}
		ready()
		<-forever
	case "dies at once":
		fmt.Fprintln(os.Stderr, "cannot find my configuration")
		os.Exit(3)
	case "floods stderr":
		for i := range 50_000 {
			fmt.Fprintln(os.Stderr, "line", i, "of a lot of noise")
		}
		ready()
		io.Copy(io.Discard, os.Stdin)
	case "prints its environment":
		for _, entry := range os.Environ() {
			fmt.Println(entry)
		}
	}
}

func spawn(habit string, daemon bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), habitVariable+"="+habit)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: daemon}
	out, _ := cmd.StdoutPipe()
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
	}
	bufio.NewReader(out).ReadString('\n')
}

func start(t *testing.T, habit string, change func(*Spec)) *Process {
	t.Helper()
	dir := t.TempDir() // also for the counters of a run with -cover
	spec := Spec{
		Argv: []string{os.Args[0]}, Dir: dir, Env: map[string]string{habitVariable: habit, "GOCOVERDIR": dir},
		InputGrace: 50 * time.Millisecond, TermGrace: 50 * time.Millisecond,
	}
	if change != nil {
		change(&spec)
	}
	p, err := Start(spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Stop() })
	return p
}

func ready(t *testing.T, p *Process) {
	t.Helper()
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "ready") {
		t.Fatalf("%q, %v; stderr: %s", line, err, p.Stderr())
	}
}

func TestStopLeavesNothing(t *testing.T) {
	long := func(s *Spec) { s.InputGrace, s.TermGrace = time.Minute, time.Minute }
	termOnly := func(s *Spec) { s.TermGrace = time.Minute }
	for habit, tt := range map[string]struct {
		change func(*Spec)
		exit   string
	}{
		"polite":                   {long, "exit status 0"},
		"ignores the end of stdin": {termOnly, "signal: terminated"},
		"ends on SIGTERM":          {termOnly, "exit status 7"},
		"ignores SIGTERM":          {nil, "signal: killed"},
		"leaves a daemon":          {long, "exit status 0"},
		"leaves children":          {long, "exit status 0"},
		"forks many":               {nil, ""},
		"floods stderr":            {long, "exit status 0"},
	} {
		t.Run(habit, func(t *testing.T) {
			p := start(t, habit, tt.change)
			ready(t, p)
			if n := len(Find(p.Mark())); n == 0 {
				t.Fatal("the mark is not found while the process runs")
			}
			if err := p.Stop(); err != nil {
				t.Error(err)
			}
			if pids := Find(p.Mark()); len(pids) > 0 {
				t.Errorf("left: %v", pids)
			}
			if tt.exit != "" && p.Exit() != tt.exit {
				t.Errorf("exit %q, want %q", p.Exit(), tt.exit)
			}
		})
	}
}

func TestKillWaitsForNoGrace(t *testing.T) {
	p := start(t, "ignores SIGTERM", func(s *Spec) { s.InputGrace, s.TermGrace = time.Hour, time.Hour })
	ready(t, p)
	if err := p.Kill(); err != nil || p.Exit() != "signal: killed" {
		t.Errorf("%v, exit %q", err, p.Exit())
	}
	if err := p.Stop(); err != nil {
		t.Error("a second end:", err)
	}
}

func TestDiesAtOnce(t *testing.T) {
	p := start(t, "dies at once", nil)
	<-p.Done()
	if p.Exit() != "exit status 3" || p.Stderr() != "cannot find my configuration" {
		t.Errorf("exit %q, stderr %q", p.Exit(), p.Stderr())
	}
}

func TestStderrIsDrainedAndItsEndKept(t *testing.T) {
	p := start(t, "floods stderr", nil)
	ready(t, p) // comes only if stderr was drained
	p.Stdin.Close()
	<-p.Done()
	got := p.Stderr()
	if !strings.HasPrefix(got, "line ") || !strings.HasSuffix(got, "line 49999 of a lot of noise") || len(got) > tailSize {
		t.Errorf("%d bytes: %.40s … %s", len(got), got, got[max(0, len(got)-40):])
	}
}

// What a killed server leaves is found by the mark's beginning, and nothing
// else is.
func TestSweepByTheBeginningOfTheMark(t *testing.T) {
	mine := start(t, "leaves a daemon", func(s *Spec) { s.Mark = "folder-1" })
	other := start(t, "ignores the end of stdin", func(s *Spec) { s.Mark = "folder-12" })
	ready(t, mine)
	ready(t, other)
	if n := len(Find("folder-1")); n != 2 {
		t.Errorf("%d processes found, want 2", n)
	}
	if err := errors.Join(Sweep(""), Sweep("folder-1")); err != nil {
		t.Fatal(err)
	}
	<-mine.Done()
	if n := len(Find("folder-1")); n != 0 || other.Exit() != "" {
		t.Errorf("%d left; the other one: %q", n, other.Exit())
	}
}

func TestEnvironmentOfTheChild(t *testing.T) {
	t.Setenv("SECRET_TOKEN", "s3cr3t")
	t.Setenv("WANTED_KEY", "k")
	t.Setenv("LC_ALL", "C.UTF-8")
	p := start(t, "prints its environment", func(s *Spec) { s.InheritEnv = []string{"WANTED_KEY"} })
	out, err := io.ReadAll(p.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"WANTED_KEY=k\n", "LC_ALL=C.UTF-8\n", MarkVariable + "=" + p.Mark(), "PATH="} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(string(out), "s3cr3t") {
		t.Error("the secret went through")
	}
}

func TestMissingProgram(t *testing.T) {
	for _, argv := range [][]string{{"no-such-agent-here"}, {"/no/such/agent"}} {
		if _, err := Start(Spec{Argv: argv, Env: map[string]string{"PATH": ".:/nowhere"}}); !errors.Is(err, ErrNotFound) {
			t.Errorf("%v: %v", argv, err)
		}
	}
	if _, err := Start(Spec{}); err == nil {
		t.Error("no command is no error")
	}
	if _, err := Start(Spec{Argv: []string{os.Args[0]}, Dir: "/no/such/folder"}); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("a missing folder: %v", err)
	}
}

// Nothing of the package outlives Stop.
func TestNoGoroutineIsLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		p := start(t, "leaves a daemon", nil)
		ready(t, p)
		p.Stop()
	}
	for deadline := time.Now().Add(30 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
}

func ExampleStart() {
	p, err := Start(Spec{Argv: []string{"cat"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	io.WriteString(p.Stdin, "hello\n")
	line, _ := bufio.NewReader(p.Stdout).ReadString('\n')
	fmt.Print(line)
	fmt.Println(p.Stop(), p.Exit())
	// Output:
	// hello
	// <nil> exit status 0
}

func TestEnviron(t *testing.T) {
	got := environ([]string{"PATH=/bin", "HOME=/h", "KEY=1", "XDG_DATA_HOME=/x", "LCX=1", "https_proxy=p", "TZ=UTC", "odd", MarkVariable + "=outer"},
		map[string]string{"HOME": "/other", "NEW": "n"}, []string{"KEY"})
	want := "HOME=/other KEY=1 NEW=n PATH=/bin TZ=UTC XDG_DATA_HOME=/x https_proxy=p"
	if s := strings.Join(got, " "); s != want {
		t.Errorf("got %s\nwant %s", s, want)
	}
}

func TestTail(t *testing.T) {
	whole := tail{max: 20}
	for i := range 10 {
		whole.Write([]byte("line " + strconv.Itoa(i) + "\n"))
	}
	if got := whole.String(); got != "line 8\nline 9" {
		t.Errorf("%q", got)
	}
	one := tail{max: 4}
	one.Write([]byte("a\xffbcdefgh"))
	if got := one.String(); got != "efgh" {
		t.Errorf("%q", got)
	}
}
