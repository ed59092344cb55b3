package guides_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

// module makes a module of somebody else that requires this one, with what is in
// the checkout and the module cache.
func module(t *testing.T, dir string) {
	t.Helper()
	here, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(here, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	const path = "github.com/agentstream-go/agentstream"
	text := strings.Replace(string(mod), "module "+path, "module example.com/guide", 1)
	text += "\nrequire " + path + " v0.0.0\nreplace " + path + " => " + here + "\n"
	sum, err := os.ReadFile(filepath.Join(here, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"go.mod": text, "go.sum": string(sum)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPrograms(t *testing.T) {
	harness.Require(t)
	for _, blocks := range run(t, "go") {
		for _, b := range blocks {
			t.Run(b.String(), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				module(t, dir)
				port := freePort(t)
				text := at(b.text, map[string]string{"7117": port})
				if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				gofmt := exec.Command("gofmt", "-l", "main.go")
				gofmt.Dir = dir
				if out, err := gofmt.CombinedOutput(); err != nil || len(out) > 0 {
					t.Errorf("%s is not formatted: %v", b, err)
				}
				build := exec.Command("go", "build", "-mod=mod", "-o", "program", ".")
				build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local")
				if out, err := build.CombinedOutput(); err != nil {
					t.Fatalf("%s does not compile: %v\n%s", b, err, out)
				}
				home := t.TempDir()
				ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
				defer cancel()
				cmd := exec.CommandContext(ctx, filepath.Join(dir, "program"))
				cmd.Dir, cmd.Env = home, append(environment(t, home), "AGENTSTREAM_DEMO_PACE=0")
				if strings.Contains(b.text, "http.ListenAndServe(") {
					serves(t, cmd, "http://127.0.0.1:"+port)
					return
				}
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", b, err, out)
				}
				b.expect(t, string(out))
			})
		}
	}
}

// serves starts a program that does not end by itself, and asks it.
func serves(t *testing.T, cmd *exec.Cmd, url string) {
	t.Helper()
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill(); <-ended }()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		req, _ := http.NewRequest("POST", url+"/agui/demo", strings.NewReader(`{"threadId": "t", "runId": "r", "messages": [{"id": "u1", "role": "user", "content": "echo hello"}]}`))
		req.Header.Set("Authorization", "Bearer secret")
		req.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(req); err == nil {
			defer func() { _ = resp.Body.Close() }()
			if body := readAll(t, resp); resp.StatusCode != http.StatusOK || !strings.Contains(body, `"delta":"hello"`) {
				t.Errorf("%s: %s", resp.Status, body)
			}
			return
		}
		select {
		case <-ended:
			t.Fatalf("the program ended: %s", said.String())
		case <-tick.C:
		}
	}
}
