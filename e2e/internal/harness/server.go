package harness

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/internal/proc"
)

// Patience is how long a test waits for anything that must happen. It is generous,
// because machines under load are slow; nothing waits for it to pass.
const Patience = 2 * time.Minute

// Option changes how a server is started.
type Option func(*Server)

// Flags are more arguments of serve.
func Flags(args ...string) Option {
	return func(s *Server) { s.flags = append(s.flags, args...) }
}

// Env sets variables ("NAME=value") of the server's environment, which otherwise
// holds PATH, folders of the test's own and AGENTSTREAM_DEMO_PACE=0.
func Env(vars ...string) Option {
	return func(s *Server) { s.env = append(s.env, vars...) }
}

// Config is the text of the configuration file.
func Config(yaml string) Option { return func(s *Server) { s.config = yaml } }

// Data is the data folder, instead of one of the server's own.
func Data(dir string) Option { return func(s *Server) { s.Data = dir } }

// Cwd is the folder that the server is started in, instead of an empty one of its own.
func Cwd(dir string) Option { return func(s *Server) { s.Cwd = dir } }

// Wrap is a command, such as strace, that starts the server as its last arguments.
func Wrap(argv ...string) Option { return func(s *Server) { s.wrap = argv } }

// AllowFaults keeps faults that the server reports of itself from failing the test.
func AllowFaults() Option { return func(s *Server) { s.faults = true } }

// Server is a running `agentstream serve`. Its methods fail the test instead of
// giving an error. They may be called from several goroutines, except for those that
// start and end the process.
type Server struct {
	URL   string // without a slash at the end
	Token string
	Data  string // data folder
	Cwd   string // working folder
	Home  string // HOME of the server and its agents

	t      testing.TB
	flags  []string
	env    []string
	config string
	wrap   []string
	faults bool

	http   *http.Client
	cmd    *exec.Cmd
	out    *bufio.Reader
	stderr *console
	done   chan struct{} // the process has ended
}

// Start starts a server and waits until it listens. It is ended with the test, and
// then nothing of it may be left.
func Start(t testing.TB, options ...Option) *Server {
	t.Helper()
	s := newServer(t, options)
	s.start()
	t.Cleanup(s.finish)
	return s
}

func newServer(t testing.TB, options []Option) *Server {
	t.Helper()
	Require(t)
	dir := t.TempDir()
	s := &Server{t: t, stderr: &console{}, http: &http.Client{Transport: &http.Transport{}}}
	for _, o := range options {
		o(s)
	}
	for _, f := range []struct {
		path *string
		name string
	}{{&s.Data, "data"}, {&s.Cwd, "work"}, {&s.Home, "home"}} {
		if *f.path == "" {
			*f.path = filepath.Join(dir, f.name)
		}
		if err := os.MkdirAll(*f.path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "config.yaml")
	if err := os.WriteFile(path, []byte(s.config), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.config == "" {
		path = os.DevNull
	}
	s.flags = append([]string{"serve", "--listen", "127.0.0.1:0", "--data", s.Data, "--config", path}, s.flags...)
	return s
}

func (s *Server) start() {
	s.t.Helper()
	argv := append([]string{Binary(s.t)}, s.flags...)
	argv = append(append([]string(nil), s.wrap...), argv...)
	s.cmd = exec.Command(argv[0], argv[1:]...)
	s.cmd.Dir = s.Cwd
	s.cmd.Env = Environment(s.Home, s.env...)
	s.cmd.Stderr = s.stderr
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.out, s.done = bufio.NewReader(out), make(chan struct{})
	s.greeting()
}

// greeting reads the two lines that a server begins with.
func (s *Server) greeting() {
	s.t.Helper()
	lines := make(chan [2]string, 1)
	done := s.done
	go func() {
		var got [2]string
		for i := range got {
			got[i], _ = s.out.ReadString('\n')
		}
		lines <- got
		_, _ = io.Copy(io.Discard, s.out)
		_ = s.cmd.Wait()
		close(done)
	}()
	select {
	case got := <-lines:
		var ok bool
		if s.URL, ok = strings.CutPrefix(strings.TrimSpace(got[0]), "agentstream listening on "); !ok {
			s.t.Fatalf("the server did not start: %q\n%s", got, s.stderr)
		}
		_, s.Token, _ = strings.Cut(strings.TrimSpace(got[1]), "?token=")
	case <-time.After(Patience):
		_ = s.cmd.Process.Kill()
		s.t.Fatalf("the server does not say where it listens\n%s", s.stderr)
	}
}

// Environment is what the binary under test gets: PATH, folders below home, and
// no agents of this machine's user. Later variables win.
func Environment(home string, vars ...string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + os.TempDir(), "TERM=dumb", "LANG=C.UTF-8",
		"XDG_CONFIG_HOME=" + filepath.Join(home, ".config"), "XDG_DATA_HOME=" + filepath.Join(home, ".local", "share"),
		"AGENTSTREAM_DEMO_PACE=0",
	}
	return append(env, vars...)
}

// PID is the server's process id, as server.json tells it: the process that was
// started may be a wrapping command.
func (s *Server) PID() int {
	if len(s.wrap) == 0 {
		return s.cmd.Process.Pid
	}
	var info struct{ PID int }
	data, err := os.ReadFile(filepath.Join(s.Data, "server.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return s.cmd.Process.Pid // in a mount namespace of its own, where the wrapper has become the server
	}
	if err == nil {
		err = json.Unmarshal(data, &info)
	}
	if err != nil {
		s.t.Error(err)
	}
	return info.PID
}

// Signal sends a signal to the server.
func (s *Server) Signal(sig os.Signal) {
	s.t.Helper()
	if err := s.signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) signal(sig os.Signal) error {
	if len(s.wrap) == 0 {
		return s.cmd.Process.Signal(sig)
	}
	p, err := os.FindProcess(s.PID())
	if err != nil {
		return err
	}
	return p.Signal(sig)
}

// Wait waits for the process's end and gives its exit code, -1 if a signal ended it.
func (s *Server) Wait() int {
	s.t.Helper()
	select {
	case <-s.done:
		s.http.CloseIdleConnections()
		return s.cmd.ProcessState.ExitCode()
	case <-time.After(Patience):
		s.t.Fatal("the server does not end")
		return -1
	}
}

// Stop asks the server to stop, waits for it and gives its exit code.
func (s *Server) Stop() int {
	s.t.Helper()
	s.Signal(syscall.SIGTERM)
	return s.Wait()
}

// Kill ends the server as kill -9 does.
func (s *Server) Kill() {
	s.t.Helper()
	s.Signal(syscall.SIGKILL)
	s.Wait()
}

// Restart starts the server again on the same folder, after Stop or Kill. URL is
// another then.
func (s *Server) Restart(options ...Option) {
	s.t.Helper()
	for _, o := range options {
		o(s)
	}
	s.start()
}

// Running reports whether the process has not ended.
func (s *Server) Running() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// Console is what the server has printed on stderr so far, over all its starts.
func (s *Server) Console() string { return s.stderr.String() }

// finish ends the server and looks for what it left and what it complained of.
func (s *Server) finish() {
	s.http.CloseIdleConnections()
	if s.Running() {
		_ = s.signal(syscall.SIGTERM)
		select {
		case <-s.done:
		case <-time.After(Patience):
			s.t.Error("the server does not stop")
			_ = s.signal(syscall.SIGKILL)
			_ = s.cmd.Process.Kill()
			<-s.done
		}
	}
	s.NothingLeft()
	text := s.Console()
	for _, fault := range []string{"panic:", "DATA RACE", "stream broke a rule", "stream ended early", "level=ERROR"} {
		if !s.faults && strings.Contains(text, fault) {
			s.t.Errorf("the server reports a fault (%s)", fault)
		}
	}
	if s.t.Failed() && text != "" {
		s.t.Logf("stderr of the server:\n%s", text)
	}
}

// For is the server as it runs now, to be used by a subtest: that one fails if
// something goes wrong.
func (s *Server) For(t testing.TB) *Server {
	view := *s
	view.t = t
	return &view
}

// NothingLeft fails the test unless every process of the server's agents has
// ended, or ends now: the kernel tells agents of a killed server in its own time.
func (s *Server) NothingLeft() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		left := proc.Find(s.Mark())
		if len(left) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			s.t.Errorf("processes of the server's agents are left: %v", left)
			_ = proc.Sweep(s.Mark())
			return
		}
	}
}

// Agents gives the ids of the processes that the server's agents are.
func (s *Server) Agents() []int { return proc.Find(s.Mark()) }

// Mark is what the environment of every process of the server's agents begins
// with, under proc.MarkVariable: made from the data folder.
func (s *Server) Mark() string {
	sum := sha256.Sum256([]byte(s.Data))
	return hex.EncodeToString(sum[:8])
}
