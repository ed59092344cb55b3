package catalog

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// versionTimeout bounds how long one agent may take to tell its version. Tests
// give more, because their machine may be busy.
var versionTimeout = 5 * time.Second

// Versions gives the list with the versions filled in, all asked at the same
// time, five seconds each at most. What npm installed is read from its
// package.json; other agents are run with --version, never in ACP mode. What
// cannot be told stays empty.
func Versions(ctx context.Context, list []Found) []Found {
	list = slices.Clone(list)
	var asked sync.WaitGroup
	for i := range list {
		if f := &list[i]; f.Path != "" {
			asked.Go(func() { f.Version = version(ctx, *f) })
		}
	}
	asked.Wait()
	return list
}

func version(ctx context.Context, f Found) string {
	if v := packageVersion(f.Path); v != "" {
		return v
	}
	if f.version == nil {
		return ""
	}
	return runVersion(ctx, f.Path, f.version...)
}

// packageVersion reads the package.json that the executable belongs to.
func packageVersion(path string) string {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	for dir, up := filepath.Dir(path), 0; up < 4 && dir != filepath.Dir(dir); dir, up = filepath.Dir(dir), up+1 {
		data, err := os.ReadFile(filepath.Join(dir, "package.json"))
		if err != nil {
			continue
		}
		var p struct{ Name, Version string }
		if json.Unmarshal(data, &p) == nil && p.Name != "" && p.Version != "" {
			return p.Version
		}
	}
	return ""
}

var versionText = regexp.MustCompile(`\d+\.\d+(\.\d+)*([-+][0-9A-Za-z.-]+)?`)

// runVersion runs the command with no input and a small environment, and finds
// the version in what it prints.
func runVersion(ctx context.Context, path string, args ...string) string {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = smallEnv()
	cmd.Dir = os.TempDir()
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe
	killGroup(cmd)
	out := &head{left: 4 << 10}
	cmd.Stdout, cmd.Stderr = out, out
	if cmd.Run() != nil && ctx.Err() != nil {
		return ""
	}
	return versionText.FindString(out.text.String())
}

// smallEnv is what a program needs to find itself, and no key.
func smallEnv() []string {
	var env []string
	for _, name := range []string{"PATH", "HOME", "USER", "LANG", "TMPDIR", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT"} {
		if v, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+v)
		}
	}
	return env
}

// head keeps the beginning of what is written to it.
type head struct {
	text strings.Builder
	left int
}

func (h *head) Write(p []byte) (int, error) {
	n := min(len(p), h.left)
	h.text.Write(p[:n])
	h.left -= n
	return len(p), nil
}
