package catalog

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// box is a made-up machine: a folder of commands, a home folder and variables.
type box struct {
	t    *testing.T
	bin  string
	home string
	env  map[string]string
}

func newBox(t *testing.T) *box {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the commands of the test are shell scripts")
	}
	return &box{t: t, bin: t.TempDir(), home: t.TempDir(), env: map[string]string{}}
}

func (b *box) machine() Machine {
	return Machine{
		Getenv: func(k string) string { return b.env[k] },
		LookPath: func(name string) (string, error) {
			path := filepath.Join(b.bin, name)
			if _, err := os.Stat(path); err != nil {
				return "", exec.ErrNotFound
			}
			return path, nil
		},
		Stat: os.Stat, ReadFile: os.ReadFile, Home: b.home, OS: "linux",
	}
}

// command puts a script on the machine's PATH.
func (b *box) command(name, script string) string {
	b.t.Helper()
	return b.put(filepath.Join(b.bin, name), "#!/bin/sh\n"+script+"\n", 0o755)
}

func (b *box) file(name, text string) { b.put(filepath.Join(b.home, name), text, 0o600) }

func (b *box) put(path, text string, mode os.FileMode) string {
	b.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		b.t.Fatal(err)
	}
	return path
}

func (b *box) find(name string) Found {
	b.t.Helper()
	list := Find(b.machine())
	i := slices.IndexFunc(list, func(f Found) bool { return f.Name == name })
	if i < 0 {
		b.t.Fatalf("%s is not in the catalog", name)
	}
	return list[i]
}

func TestFindOnAnEmptyMachine(t *testing.T) {
	b := newBox(t)
	list := Find(b.machine())
	if len(list) < 12 {
		t.Errorf("%d agents are known, want 12 or more", len(list))
	}
	for _, f := range list {
		if f.State != Missing || f.Install == "" || f.Path != "" || f.Argv != nil || f.Login != "" || f.Type != "acp" {
			t.Errorf("%+v", f)
		}
	}
}

func TestCatalogIsSound(t *testing.T) {
	names := map[string]bool{}
	for _, a := range known {
		if names[a.name] {
			t.Errorf("%s stands twice", a.name)
		}
		names[a.name] = true
		if len(a.commands) == 0 || a.install == "" || a.login == "" || len(a.keys) == 0 {
			t.Errorf("%s is not complete", a.name)
		}
		for _, p := range a.logins {
			if !strings.HasPrefix(p.folder, "~") || filepath.IsAbs(p.file) {
				t.Errorf("%s: %+v is not under the home folder", a.name, p)
			}
		}
	}
}

func TestStateIsJudgedFromSigns(t *testing.T) {
	for _, c := range []struct {
		name, agent, command string
		env, files           map[string]string
		want                 State
		why                  string
	}{
		{"key", "claude", "claude-agent-acp", map[string]string{"ANTHROPIC_API_KEY": "s3cret"}, nil, Ready, "ANTHROPIC_API_KEY is set"},
		{"nothing", "claude", "claude-agent-acp", nil, nil, AuthRequired, "no login was found"},
		{"older name", "claude", "claude-code-acp", nil, nil, AuthRequired, "no login"},
		{"login file", "claude", "claude-agent-acp", nil, map[string]string{".claude/.credentials.json": `{"a":"s3cret"}`}, Ready, ".credentials.json"},
		{"empty login file", "claude", "claude-agent-acp", nil, map[string]string{".claude/.credentials.json": "{}"}, AuthRequired, "no login"},
		{"account in settings", "claude", "claude-agent-acp", nil, map[string]string{".claude.json": `{"oauthAccount":{}}`}, Ready, ".claude.json"},
		{"settings without account", "claude", "claude-agent-acp", nil, map[string]string{".claude.json": `{"theme":"dark"}`}, AuthRequired, "no login"},
		{"moved config folder", "codex", "codex-acp", map[string]string{"CODEX_HOME": "HOME/elsewhere"}, map[string]string{"elsewhere/auth.json": `{"x":1}`}, Ready, "elsewhere/auth.json"},
		{"moved away", "codex", "codex-acp", map[string]string{"CODEX_HOME": "HOME/elsewhere"}, map[string]string{".codex/auth.json": `{"x":1}`}, AuthRequired, "no login"},
		{"xdg", "kilo", "kilo", map[string]string{"XDG_DATA_HOME": "HOME/d"}, map[string]string{"d/kilo/auth.json": `{"x":1}`}, Ready, "d/kilo/auth.json"},
		{"free models", "opencode", "opencode", nil, nil, Ready, "models that need none"},
		{"gemini", "gemini", "gemini", nil, map[string]string{".gemini/oauth_creds.json": `{"x":1}`}, Ready, "oauth_creds"},
		{"copilot", "copilot", "copilot", nil, map[string]string{".copilot/config.json": `{"logged_in_users":[1]}`}, Ready, "config.json"},
		{"goose", "goose", "goose", nil, map[string]string{".config/goose/config.yaml": "GOOSE_PROVIDER: openai\n"}, Ready, "config.yaml"},
		{"needs another command", "pi", "pi-acp", map[string]string{"OPENAI_API_KEY": "s3cret"}, nil, Missing, "pi, which pi-acp runs"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBox(t)
			b.command(c.command, "exit 1")
			for k, v := range c.env {
				b.env[k] = strings.Replace(v, "HOME", b.home, 1)
			}
			for k, v := range c.files {
				b.file(k, v)
			}
			f := b.find(c.agent)
			if f.State != c.want || !strings.Contains(f.Why, c.why) {
				t.Errorf("state %s, because %q; want %s, %q", f.State, f.Why, c.want, c.why)
			}
			if (f.Login != "") != (f.State == AuthRequired) || (f.Install != "") != (f.State == Missing) {
				t.Errorf("login %q and install %q with %s", f.Login, f.Install, f.State)
			}
			if strings.Contains(fmt.Sprintf("%+v", f), "s3cret") {
				t.Errorf("a secret got out: %+v", f)
			}
		})
	}
}

func TestFoundSaysHowToStart(t *testing.T) {
	b := newBox(t)
	path := b.command("gemini", "exit 1")
	b.env["GEMINI_API_KEY"] = "s3cret"
	f := b.find("gemini")
	if diff := cmp.Diff([]string{path, "--acp"}, f.Argv); diff != "" {
		t.Error(diff)
	}
	if f.Auth != "gemini-api-key" || !slices.Contains(f.InheritEnv, "GEMINI_API_KEY") || f.LoginHint != "gemini" {
		t.Errorf("%+v", f)
	}
	delete(b.env, "GEMINI_API_KEY")
	b.env["GOOGLE_GENAI_USE_VERTEXAI"] = "true"
	if f := b.find("gemini"); f.Auth != "vertex-ai" {
		t.Errorf("auth %q", f.Auth)
	}
}

func TestVersions(t *testing.T) {
	b := newBox(t)
	b.command("gemini", `echo "Gemini CLI v0.61.0-rc.1 (x)"; echo key=$GEMINI_API_KEY`)
	b.command("opencode", "exec sleep 600")
	b.command("goose", "echo oops >&2; exit 1")
	b.command("codex-acp", "echo must not be run > "+filepath.Join(b.home, "ran"))
	b.put(filepath.Join(b.bin, "node_modules/@agentclientprotocol/claude-agent-acp/package.json"), `{"name":"x","version":"0.101.0"}`, 0o600)
	js := b.put(filepath.Join(b.bin, "node_modules/@agentclientprotocol/claude-agent-acp/dist/index.js"), "#!/usr/bin/env node\n", 0o755)
	if err := os.Symlink(js, filepath.Join(b.bin, "claude-agent-acp")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond) // opencode hangs
	defer cancel()
	got := map[string]string{}
	for _, f := range Versions(ctx, Find(b.machine())) {
		if f.Path != "" {
			got[f.Name] = f.Version
		}
	}
	if _, err := os.Stat(filepath.Join(b.home, "ran")); err == nil {
		t.Error("an agent that cannot be asked was run")
	}
	delete(got, "gemini") // under load it may not be done in time; asked alone below
	want := map[string]string{"claude": "0.101.0", "opencode": "", "goose": "", "codex": ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestVersionText(t *testing.T) {
	b := newBox(t)
	for _, c := range []struct{ script, want string }{
		{`echo "Gemini CLI v0.61.0-rc.1 (x)"`, "0.61.0-rc.1"},
		{`echo 2026.01.17-d239e66`, "2026.01.17-d239e66"},
		{`echo "tool, version 1.2" >&2`, "1.2"},
		{`yes`, ""},
		{`true`, ""},
	} {
		script := c.script
		if script == "yes" {
			script = "yes | head -c 1000000" // much more than is kept
		}
		if got := runVersion(t.Context(), b.command("agent", script), "--version"); got != c.want {
			t.Errorf("%s: %q, want %q", c.script, got, c.want)
		}
	}
}

func TestHere(t *testing.T) {
	if m := Here(); m.OS != runtime.GOOS || len(Find(m)) != len(known) {
		t.Errorf("%+v", m)
	}
}

func TestMain(m *testing.M) {
	versionTimeout = time.Minute
	os.Exit(m.Run())
}
