package catalog

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func check(t *testing.T, r Report, name string) Check {
	t.Helper()
	for _, c := range r.Checks {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no check %q", name)
	return Check{}
}

func TestDoctorOnAHealthyMachine(t *testing.T) {
	b := newBox(t)
	b.command("node", "echo v22.1.0")
	b.command("git", "echo git version 2.39.5")
	b.command("gemini", "echo 0.61.0")
	b.env["GEMINI_API_KEY"] = "s3cret"
	b.put(filepath.Join(b.home, "data/token"), "t", 0o600)
	r := Doctor(t.Context(), Setup{Machine: b.machine(), Data: filepath.Join(b.home, "data"), Listen: "127.0.0.1:0",
		Agents: Find(b.machine()), OpenDB: func(context.Context, string) error { return nil }})
	if !r.OK {
		t.Errorf("%+v", r)
	}
	for name, detail := range map[string]string{
		"configuration": "none is needed", "data folder": "can be written", "token": "only you", "database": "opens",
		"server": "127.0.0.1:0 is free", "node": "version 22.1.0", "git": "version 2.39.5", "temporary folder": "can be written",
		"agent gemini": "version 0.61.0; GEMINI_API_KEY is set",
	} {
		if c := check(t, r, name); !c.OK || c.Fix != "" || !strings.Contains(c.Detail, detail) {
			t.Errorf("%s: %+v, want %q", name, c, detail)
		}
	}
	if c := check(t, r, "agent codex"); c.OK || !c.Optional || c.Fix != "npm install -g @agentclientprotocol/codex-acp" {
		t.Errorf("missing agent: %+v", c)
	}
	text, err := json.Marshal(r)
	if err != nil || strings.Contains(string(text), "s3cret") || !strings.HasPrefix(string(text), `{"ok":true,"checks":[{"name":"configuration","ok":true,"detail":`) {
		t.Errorf("%s, %v", text, err)
	}
}

func TestDoctorOnANewMachine(t *testing.T) {
	b := newBox(t)
	r := Doctor(t.Context(), Setup{Machine: b.machine(), Data: filepath.Join(b.home, "a/b"), OpenDB: func(context.Context, string) error {
		t.Error("the database is opened though there is none")
		return nil
	}})
	if !r.OK {
		t.Errorf("%+v", r)
	}
	if c := check(t, r, "data folder"); !strings.Contains(c.Detail, "will be made") {
		t.Errorf("%+v", c)
	}
	if c := check(t, r, "git"); c.OK || !c.Optional || c.Fix == "" {
		t.Errorf("%+v", c)
	}
	if _, err := os.Stat(filepath.Join(b.home, "a")); err == nil {
		t.Error("doctor made the data folder")
	}
}

func TestDoctorSaysWhatHelps(t *testing.T) {
	b := newBox(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	data := filepath.Join(b.home, "data")
	b.put(filepath.Join(data, "token"), "t", 0o644)
	b.command("node", "echo v12.0.0")
	b.put(filepath.Join(b.bin, "codex-acp"), "#!/usr/bin/env node\n", 0o755)
	r := Doctor(t.Context(), Setup{Machine: b.machine(), Data: data, Listen: busy.Addr().String(), Config: "c.yaml",
		ConfigError: errors.New("line 3: no such key"), Agents: Find(b.machine()),
		OpenDB: func(context.Context, string) error { return errors.New("malformed") }})
	if r.OK {
		t.Error("the report is fine")
	}
	for name, fix := range map[string]string{
		"configuration": "correct c.yaml", "token": "chmod 600", "database": "backup", "server": "--listen 127.0.0.1:0",
		"node": "Node.js 22", "agent codex": "codex login",
	} {
		if c := check(t, r, name); c.OK || !strings.Contains(c.Fix, fix) {
			t.Errorf("%s: %+v, want %q", name, c, fix)
		}
	}
	if info, _ := os.Stat(filepath.Join(data, "token")); info.Mode().Perm() != 0o644 {
		t.Error("doctor changed the token")
	}
}

func TestDoctorWithAServerRunning(t *testing.T) {
	b := newBox(t)
	r := Doctor(t.Context(), Setup{Machine: b.machine(), Data: b.home, Listen: "256.0.0.1:1", ServerURL: "http://127.0.0.1:7117",
		OpenDB: func(context.Context, string) error { return errors.New("locked") }})
	if c := check(t, r, "server"); !c.OK || !strings.Contains(c.Detail, "answers at http://127.0.0.1:7117") {
		t.Errorf("%+v", c)
	}
	if c := check(t, r, "database"); !c.OK {
		t.Errorf("%+v", c)
	}
}

func TestDoctorMissesNodeOnlyForAgentsThatNeedIt(t *testing.T) {
	b := newBox(t)
	s := Setup{Machine: b.machine(), Data: b.home}
	if c := s.node(t.Context()); !c.OK {
		t.Errorf("%+v", c)
	}
	b.put(filepath.Join(b.bin, "codex-acp"), "#!/usr/bin/env node\n", 0o755)
	s.Agents = Find(b.machine())
	if c := s.node(t.Context()); c.OK || !strings.Contains(c.Detail, "codex needs Node.js") {
		t.Errorf("%+v", c)
	}
}

func TestDataFolderThatCannotBeWritten(t *testing.T) {
	b := newBox(t)
	path := b.put(filepath.Join(b.home, "file"), "in the way", 0o600)
	s := Setup{Machine: b.machine(), Data: filepath.Join(path, "data")}
	if c := s.data(); c.OK || c.Fix == "" {
		t.Errorf("%+v", c)
	}
}
