package doctor_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

// machine is a home folder and a folder of commands, which is all of PATH.
type machine struct {
	t    *testing.T
	home string
	bin  string
	env  []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	harness.Require(t)
	m := &machine{t: t, home: t.TempDir(), bin: t.TempDir()}
	m.env = []string{"PATH=" + m.bin}
	return m
}

// command puts a script on PATH; the shell itself is not there.
func (m *machine) command(name, script string) {
	m.file(filepath.Join(m.bin, name), "#!/bin/sh\n"+script+"\n", 0o700)
}

// acp puts an agent on PATH that speaks ACP: the demo under another name.
func (m *machine) acp(name string) {
	m.command(name, `case "$1" in --version) echo `+name+` 9.8.7;; *) exec `+harness.Binary(m.t)+` acp-demo;; esac`)
}

func (m *machine) file(path, text string, mode os.FileMode) {
	m.t.Helper()
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.home, path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		m.t.Fatal(err)
	}
}

// run runs a command on the machine to its end.
func (m *machine) run(args ...string) harness.Result {
	m.t.Helper()
	cmd := exec.CommandContext(m.t.Context(), harness.Binary(m.t), args...)
	cmd.Dir, cmd.Env = m.home, harness.Environment(m.home, m.env...)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); cmd.ProcessState == nil {
		m.t.Fatal(err)
	}
	return harness.Result{Code: cmd.ProcessState.ExitCode(), Stdout: out.String(), Stderr: errs.String()}
}

func (m *machine) json(out any, code int, args ...string) {
	m.t.Helper()
	r := m.run(args...)
	if r.Code != code {
		m.t.Errorf("%v: exit code %d, want %d\n%s", args, r.Code, code, r.Stderr)
	}
	if err := json.Unmarshal([]byte(r.Stdout), out); err != nil {
		m.t.Fatalf("%v: %v\n%s", args, err, r.Stdout)
	}
}

type listed struct{ Name, Type, State, Version, Path, Install string }

func (m *machine) agent(name string) (found listed) {
	m.t.Helper()
	var list []listed
	m.json(&list, 0, "agents", "--json")
	i := slices.IndexFunc(list, func(a listed) bool { return a.Name == name })
	if i < 0 {
		m.t.Fatalf("%s is not listed", name)
	}
	return list[i]
}

func TestAgentsOnAnEmptyMachine(t *testing.T) {
	m := newMachine(t)
	var list []listed
	m.json(&list, 0, "agents", "--json")
	for _, a := range list {
		if a.Name == "demo" {
			if a.State != "ready" {
				t.Errorf("%+v", a)
			}
		} else if a.State != "missing" || a.Install == "" || a.Path != "" || a.Type != "acp" {
			t.Errorf("%+v", a)
		}
	}
	for _, name := range []string{"demo", "claude", "codex", "gemini", "opencode"} {
		if !slices.ContainsFunc(list, func(a listed) bool { return a.Name == name }) {
			t.Errorf("%s is not listed", name)
		}
	}
	r := m.run("run", "gemini", "hello")
	if r.Code != 5 || strings.Count(strings.TrimSpace(r.Stderr), "\n") != 0 || !strings.Contains(r.Stderr, "npm install -g @google/gemini-cli") {
		t.Errorf("exit code %d: %s", r.Code, r.Stderr)
	}
}

// The states of an agent, as files and variables make them.
func TestAgentStates(t *testing.T) {
	m := newMachine(t)
	m.acp("gemini")
	m.acp("opencode")
	path := func(name string) string { return filepath.Join(m.bin, name) }
	want := listed{Name: "gemini", Type: "acp", State: "auth_required", Version: "9.8.7", Path: path("gemini")}
	if d := cmp.Diff(want, m.agent("gemini")); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(listed{Name: "opencode", Type: "acp", State: "ready", Version: "9.8.7", Path: path("opencode")}, m.agent("opencode")); d != "" {
		t.Error(d)
	}
	text := m.run("agents").Stdout
	if !strings.Contains(text, "auth_required") || strings.Contains(text, "s3cret") {
		t.Errorf("%s", text)
	}
	m.env = append(m.env, "GEMINI_API_KEY=s3cret")
	if a := m.agent("gemini"); a.State != "ready" {
		t.Errorf("with a key: %+v", a)
	}
	for _, args := range [][]string{{"agents"}, {"agents", "--json"}, {"doctor"}, {"doctor", "--json"}} {
		if r := m.run(args...); strings.Contains(r.Stdout+r.Stderr, "s3cret") {
			t.Errorf("%v tells the key", args)
		}
	}
}

type report struct {
	OK     bool
	Checks []struct {
		Name, Detail, Fix string
		OK, Optional      bool
	}
}

func (r report) check(t *testing.T, name string, ok bool, text string) {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name {
			if c.OK != ok || !strings.Contains(c.Detail+" "+c.Fix, text) {
				t.Errorf("%s: %+v, want %v with %q", name, c, ok, text)
			}
			return
		}
	}
	t.Errorf("there is no check %q", name)
}

func TestDoctor(t *testing.T) {
	m := newMachine(t)
	m.command("node", "echo v12.1.0")
	m.file(filepath.Join(m.bin, "claude-agent-acp"), "#!/usr/bin/env node\n", 0o700)
	// Whatever else listens on the usual port is no matter of the test.
	m.file(".config/agentstream/config.yaml", "listen: 127.0.0.1:0\n", 0o600)

	var r report
	m.json(&r, 0, "doctor", "--json", "--data", "data")
	if !r.OK {
		t.Errorf("%+v", r)
	}
	r.check(t, "node", false, "Node.js 22")
	r.check(t, "git", false, "install git")
	r.check(t, "agent claude", false, "auth login")
	r.check(t, "agent gemini", false, "npm install -g @google/gemini-cli")
	r.check(t, "token", true, "first start")

	m.file("data/token", "s3cret", 0o644)
	m.file("data/agentstream.db", strings.Repeat("no database ", 400), 0o600)
	r = report{}
	m.json(&r, 1, "doctor", "--json", "--data", "data")
	r.check(t, "token", false, "chmod 600")
	r.check(t, "database", false, "move")
	text := m.run("doctor", "--data", "data")
	if text.Code != 1 || !strings.Contains(text.Stdout, "FAIL") || strings.Contains(text.Stdout, "s3cret") {
		t.Errorf("exit code %d\n%s", text.Code, text.Stdout)
	}

	m.file("bad.yaml", "agents: [\n", 0o600)
	r = report{}
	m.json(&r, 1, "doctor", "--json", "--config", "bad.yaml", "--data", "other")
	r.check(t, "configuration", false, "bad.yaml")
	if code := m.run("doctor", "surplus").Code; code != 2 {
		t.Errorf("exit code %d", code)
	}
}

// A server offers what is on PATH beside the demo, and what it offers runs.
func TestServeOffersWhatItFinds(t *testing.T) {
	m := newMachine(t)
	m.acp("opencode")
	s := harness.Start(t, harness.Env(m.env...))
	var out struct{ Agents []listed }
	s.Get("/v1/agents", &out)
	states := map[string]string{}
	for _, a := range out.Agents {
		states[a.Name] = a.State
	}
	if states["demo"] != "ready" || states["opencode"] != "ready" || states["claude"] != "missing" {
		t.Errorf("%v", states)
	}
	thread := harness.ID(t, "thread")
	if run := s.WaitRun(thread, s.Run(thread, "opencode", "echo hello there").ID); run.State != "finished" {
		t.Errorf("%+v", run)
	}
	var doctor report
	r := s.Command("doctor", "--json")
	if err := json.Unmarshal([]byte(r.Stdout), &doctor); err != nil || r.Code != 0 {
		t.Fatalf("exit code %d, %v\n%s", r.Code, err, r.Stdout)
	}
	doctor.check(t, "server", true, s.URL)
	doctor.check(t, "database", true, "running server")
}

// Agents that cannot be used end a run with what helps, and with their own code.
func TestRunSaysWhatHelps(t *testing.T) {
	m := newMachine(t)
	m.command("gemini", "echo 'a line before' >&2; echo 'the last words' >&2; exit 7")
	m.env = append(m.env, "GEMINI_API_KEY=s3cret")
	r := m.run("run", "gemini", "hello")
	if r.Code == 0 || !strings.Contains(r.Stderr, "the last words") || strings.Contains(r.Stderr, "s3cret") {
		t.Errorf("exit code %d: %s", r.Code, r.Stderr)
	}
	if r := m.run("run", "nobody", "hello"); r.Code != 5 || !strings.Contains(r.Stderr, "nobody") {
		t.Errorf("exit code %d: %s", r.Code, r.Stderr)
	}
}
