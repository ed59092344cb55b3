package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// Require skips the test unless the whole binary is to be tested.
func Require(t testing.TB) {
	t.Helper()
	if os.Getenv("AGENTSTREAM_E2E") != "1" {
		t.Skip("AGENTSTREAM_E2E=1 runs this against the whole binary")
	}
}

var binary = sync.OnceValues(build)

// Binary is the path of the binary under test, built once for a test process.
// Without AGENTSTREAM_E2E=1 it skips the test.
func Binary(t testing.TB) string {
	t.Helper()
	Require(t)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// build compiles into a place that all test processes share, one at a time, and
// keeps the result under its checksum: what another process runs is never replaced.
func build() (string, error) {
	if path := os.Getenv("AGENTSTREAM_BIN"); path != "" {
		return filepath.Abs(path)
	}
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	of := sha256.Sum256([]byte(root))
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("agentstream-e2e-%d-%x", os.Getuid(), of[:4]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	unlock, err := lock(filepath.Join(dir, "lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	latest := filepath.Join(dir, "agentstream")
	cmd := exec.Command("go", "build", "-o", latest, "./cmd/agentstream")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return keep(latest)
}

func keep(latest string) (string, error) {
	in, err := os.Open(latest)
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, in); err != nil {
		return "", err
	}
	dir := filepath.Join(filepath.Dir(latest), hex.EncodeToString(sum.Sum(nil)[:6]))
	path := filepath.Join(dir, filepath.Base(latest))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	out, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o700)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, in)
	if err = errors.Join(err, out.Close()); err != nil {
		return "", err
	}
	return path, os.Rename(path+".new", path)
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("go.mod not found")
		}
		dir = up
	}
	return "", err
}
