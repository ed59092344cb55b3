package harness

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// Result is how a command ended.
type Result struct {
	Code           int
	Stdout, Stderr string
}

// Command runs the binary to its end with the environment of Environment(home),
// stdin as its input, and no terminal.
func Command(t testing.TB, home, stdin string, args ...string) Result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, Binary(t), args...)
	cmd.Dir, cmd.Env, cmd.Stdin = home, Environment(home), strings.NewReader(stdin)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Result{Code: cmd.ProcessState.ExitCode(), Stdout: out.String(), Stderr: errs.String()}
}

// Command runs the binary on the server's data folder.
func (s *Server) Command(args ...string) Result {
	s.t.Helper()
	return Command(s.t, s.Home, "", append(args, "--data", s.Data)...)
}
