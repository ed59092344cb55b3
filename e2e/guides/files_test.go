package guides_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

func readAll(t *testing.T, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

func TestConfigurationFiles(t *testing.T) {
	harness.Require(t)
	for _, blocks := range run(t, "yaml") {
		for _, b := range blocks {
			file := filepath.Join(t.TempDir(), "config.yaml")
			if err := os.WriteFile(file, []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if r := harness.Command(t, t.TempDir(), "", "agents", "--config", file); r.Code != 0 {
				t.Errorf("%s: %s", b, r.Stderr)
			}
			if err := os.WriteFile(file, []byte(b.text+"permisions: {}\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if r := harness.Command(t, t.TempDir(), "", "agents", "--config", file); r.Code == 0 {
				t.Errorf("%s: a key that does not exist passes too", b)
			}
		}
	}
}

func TestUnits(t *testing.T) {
	harness.Require(t)
	for _, blocks := range run(t, "ini") {
		for _, b := range blocks {
			for _, line := range []string{"KillMode=mixed", "NoNewPrivileges=yes", "StateDirectory=", "TimeoutStopSec="} {
				if !strings.Contains(b.text, "\n"+line) {
					t.Errorf("%s has no %s", b, line)
				}
			}
			if _, err := exec.LookPath("systemd-analyze"); err != nil {
				t.Skip("systemd-analyze is not installed")
			}
			// Here there are neither that user nor that path.
			text := strings.ReplaceAll(b.text, "/usr/local/bin/agentstream", harness.Binary(t))
			text = strings.ReplaceAll(text, "User=agentstream", "User=daemon")
			file := filepath.Join(t.TempDir(), "agentstream.service")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command("systemd-analyze", "verify", "--man=no", file).CombinedOutput()
			for _, line := range strings.Split(string(out), "\n") {
				if strings.Contains(line, "agentstream.service") {
					t.Errorf("%s: %s", b, line)
				}
			}
			if err != nil && len(out) == 0 {
				t.Error(err)
			}
		}
	}
}

func TestNginx(t *testing.T) {
	harness.Require(t)
	for _, blocks := range run(t, "nginx") {
		for _, b := range blocks {
			for _, line := range []string{"proxy_http_version 1.1;", "proxy_buffering off;", "proxy_set_header Host $http_host;"} {
				if !strings.Contains(b.text, line) {
					t.Errorf("%s has no %s", b, line)
				}
			}
			nginx, err := exec.LookPath("nginx")
			if err != nil {
				t.Skip("nginx is not installed")
			}
			s := harness.Start(t, harness.Flags("--allow-host", "agents.example.com"))
			port := freePort(t)
			begin(t, nginx, at(b.text, map[string]string{"7117": s.URL[strings.LastIndex(s.URL, ":")+1:], "8080": port}))
			stream(t, s, "http://127.0.0.1:"+port)
		}
	}
}

// begin runs nginx in front, in a folder of its own, until the test ends.
func begin(t *testing.T, nginx, site string) {
	t.Helper()
	dir := t.TempDir()
	conf := "daemon off; master_process off; pid " + dir + "/pid; error_log " + dir + "/error.log;\nevents {}\nhttp {\naccess_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		conf += kind + "_temp_path " + dir + "/" + kind + ";\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "nginx.conf"), []byte(conf+site+"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(nginx, "-p", dir, "-c", filepath.Join(dir, "nginx.conf"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
		if log, _ := os.ReadFile(filepath.Join(dir, "error.log")); t.Failed() {
			t.Logf("%s", log)
		}
	})
}

// stream asks through the proxy for an answer that goes on until it is cancelled.
// Its beginning arrives before its end only if nothing on the way holds it back.
func stream(t *testing.T, s *harness.Server, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	send := func(host string) (*http.Response, error) {
		req, _ := http.NewRequestWithContext(ctx, "POST", url+"/agui/demo", strings.NewReader(`{"threadId": "proxied", "runId": "r", "messages": [{"id": "u1", "role": "user", "content": "slow 600"}]}`))
		req.Host = host
		req.Header.Set("Authorization", "Bearer "+s.Token)
		req.Header.Set("Content-Type", "application/json")
		return http.DefaultClient.Do(req)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	resp, err := send("agents.example.com")
	for ; err != nil && ctx.Err() == nil; resp, err = send("agents.example.com") {
		<-tick.C // nginx is about to listen
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	heard := false
	for lines.Scan() {
		if !heard && strings.Contains(lines.Text(), "TEXT_MESSAGE_CONTENT") {
			heard = true
			cancelled := s.Command("cancel", "r")
			if cancelled.Code != 0 {
				t.Fatal(cancelled.Stderr)
			}
		}
	}
	if err := lines.Err(); err != nil || !heard {
		t.Errorf("%s: the stream through the proxy broke off: %v", resp.Status, err)
	}
	if foreign, err := send("other.example.com"); err != nil {
		t.Error(err)
	} else if body := readAll(t, foreign); !strings.Contains(body, "foreign_host") {
		t.Errorf("a name that is not allowed passes: %s", body)
	}
}
