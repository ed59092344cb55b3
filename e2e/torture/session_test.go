package torture_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/recordings/player"
	"github.com/agentstream-go/agentstream/e2e/recordings/recorded"
)

// recordings are the sessions that agents can play: none without AGENTSTREAM_TRACES.
func recordings(t *testing.T) (out []*recorded.Session) {
	t.Helper()
	dir := os.Getenv("AGENTSTREAM_TRACES")
	if dir == "" {
		return nil
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	for _, file := range files {
		sessions, err := recorded.Sessions(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sessions {
			if s.Opening == "session/new" && !s.Draft {
				out = append(out, s)
			}
		}
	}
	return out
}

// playerBinary builds the agent that plays them.
func playerBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "player")
	cmd := exec.Command("go", "build", "-o", path, "../recordings/player/agent")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return path
}

// prepare makes the thread's folder, with what its agent plays.
func (th threadPlan) prepare(folder string) error {
	dir := filepath.Join(folder, fmt.Sprint("thread-", th.n))
	if err := os.Mkdir(dir, 0o700); err != nil || th.session == nil {
		return err
	}
	return player.Write(dir, th.session.Steps)
}
