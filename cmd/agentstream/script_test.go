package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"agentstream": main})
}

// patience is how long anything that must happen may take on a loaded machine.
const patience = 2 * time.Minute

// environment is the key of the variables that the setup has made.
type environment struct{}

// The scripts run the command as people and scripts do. Beside testscript's own
// commands they have:
//
//	exits CODE PROGRAM ARGS…   run it, and want this very exit code
//	until PATTERN SIGNAL CODE PROGRAM ARGS…   run it, send the signal at the
//	    first line of stdout or stderr that matches, and want the exit code;
//	    SIGNAL& sends it to what runs in the background
//	waitfor FILE…              until the files are there
//	lines FILE N               the file, or stdout, has so many lines
//	mode FILE PERM             the file's rights, in octal
//	capture NAME PATTERN       the variable is what the group matches in stdout
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "config"))
			e.Setenv("AGENTSTREAM_DATA", filepath.Join(e.WorkDir, "data"))
			e.Setenv("AGENTSTREAM_DEMO_PACE", "0")
			e.Setenv("AGENTSTREAM_LISTEN", "127.0.0.1:0")
			e.Values[environment{}] = e.Vars
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "until": until, "waitfor": waitfor, "lines": countLines, "mode": mode, "capture": capture,
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	code := 0
	if errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: until PATTERN SIGNAL CODE PROGRAM ARGS…")
	}
	pattern, err := regexp.Compile(args[0])
	ts.Check(err)
	name, others := strings.CutSuffix(args[1], "&")
	sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "KILL": os.Kill}[name]
	cmd := exec.Command(args[3], args[4:]...)
	for _, kv := range ts.Value(environment{}).([]string) {
		cmd.Env = append(cmd.Env, kv)
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			cmd.Path = filepath.Join(filepath.SplitList(path)[0], args[3])
			cmd.Err = nil
		}
	}
	cmd.Dir = ts.Getenv("WORK")
	r, w := io.Pipe()
	cmd.Stdout, cmd.Stderr = w, w
	ts.Check(cmd.Start())
	timer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	ended := make(chan error, 1)
	go func() {
		ended <- cmd.Wait()
		_ = w.Close()
	}()
	told := false
	for lines := bufio.NewReader(r); ; {
		line, err := lines.ReadString('\n')
		ts.Logf("%s", line)
		if !told && pattern.MatchString(line) {
			told = true
			targets := []*exec.Cmd{cmd}
			if others {
				targets = ts.BackgroundCmds()
			}
			for _, c := range targets {
				ts.Check(c.Process.Signal(sig))
			}
		}
		if err != nil {
			break
		}
	}
	<-ended
	if code := cmd.ProcessState.ExitCode(); !told || strconv.Itoa(code) != args[2] {
		ts.Fatalf("pattern seen: %v; exit code %d, want %s", told, code, args[2])
	}
}

func waitfor(ts *testscript.TestScript, neg bool, files []string) {
	end := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for _, f := range files {
		for {
			_, err := os.Stat(ts.MkAbs(f))
			if (err == nil) != neg {
				break
			}
			if time.Now().After(end) {
				ts.Fatalf("waited in vain for %s", f)
			}
			<-tick.C
		}
	}
}

func countLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines FILE N")
	}
	if n := bytes.Count([]byte(ts.ReadFile(args[0])), []byte("\n")); strconv.Itoa(n) != args[1] {
		ts.Fatalf("%s has %d lines, want %s", args[0], n, args[1])
	}
}

func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode FILE PERM")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := strconv.FormatUint(uint64(info.Mode().Perm()), 8); got != args[1] {
		ts.Fatalf("%s has rights %s, want %s", args[0], got, args[1])
	}
}

func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME PATTERN")
	}
	m := regexp.MustCompile(args[1]).FindStringSubmatch(ts.ReadFile("stdout"))
	if len(m) != 2 {
		ts.Fatalf("nothing matches %s", args[1])
	}
	ts.Setenv(args[0], m[1])
}
