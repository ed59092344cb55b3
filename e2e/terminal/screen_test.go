package terminal_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

const patience = time.Minute

// screen is a terminal of 70 columns and 40 rows in which one command runs.
type screen struct {
	t      *testing.T
	socket string
	dir    string
}

// open runs a command line of the binary, which the shell sees as agentstream.
func open(t *testing.T, command string, env ...string) *screen {
	t.Helper()
	harness.Require(t)
	tmux, err := exec.LookPath("tmux")
	if err != nil {
		t.Skip("tmux is not installed; make test installs it")
	}
	dir, err := os.MkdirTemp("", "term") // short, for the socket's sake
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, socket: filepath.Join(dir, "s"), dir: dir}
	t.Cleanup(func() {
		_ = s.command("kill-server").Run()
		_ = os.RemoveAll(dir)
	})
	script := fmt.Sprintf("agentstream() { %s \"$@\"; }\ncd %s\n%s\ncode=$?; echo; echo \"ended with $code\"; read -r line", harness.Binary(t), dir, command)
	start := s.command("-f", "/dev/null", "new-session", "-d", "-x", "70", "-y", "40", "bash", "--norc", "-c", script)
	start.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm-256color", "LANG=C.UTF-8",
		"AGENTSTREAM_DATA=" + filepath.Join(dir, "data"), "AGENTSTREAM_DEMO_PACE=0",
	}, env...)
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", tmux, err, out)
	}
	return s
}

func (s *screen) command(args ...string) *exec.Cmd {
	return exec.Command("tmux", append([]string{"-S", s.socket}, args...)...)
}

// keys presses keys by tmux's names; a text is what its letters are.
func (s *screen) keys(keys ...string) {
	s.t.Helper()
	if out, err := s.command(append([]string{"send-keys"}, keys...)...).CombinedOutput(); err != nil {
		s.t.Fatalf("send-keys: %v: %s", err, out)
	}
}

func (s *screen) capture(flags ...string) string {
	out, err := s.command(append([]string{"capture-pane", "-p"}, flags...)...).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimRight(string(out), "\n")
}

// shows waits until the screen matches, and gives it.
func (s *screen) shows(pattern string, flags ...string) string {
	s.t.Helper()
	want := regexp.MustCompile(pattern)
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	var last string
	for end := time.Now().Add(patience); time.Now().Before(end); <-ticker.C {
		if last = s.capture(flags...); want.MatchString(last) {
			return last
		}
	}
	s.t.Fatalf("the screen never matched %q; it shows:\n%s", pattern, last)
	return ""
}

// lacks fails if the text is on the screen.
func (s *screen) lacks(text, shown string) {
	s.t.Helper()
	if strings.Contains(shown, text) {
		s.t.Errorf("the screen shows %q:\n%s", text, shown)
	}
}
