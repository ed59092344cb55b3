package guides_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

const frontends = root + "/e2e/frontends"

// node runs a program of Node, and gives what it prints.
func node(t *testing.T, dir string, env []string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// pages writes each block into a file beside the packages of e2e/frontends.
func pages(t *testing.T, blocks map[string][]block) (dir string, files map[string]block) {
	t.Helper()
	packages, err := filepath.Abs(frontends)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(packages, "node_modules")); err != nil {
		t.Fatal("the packages are not installed: make clients")
	}
	dir, files = t.TempDir(), map[string]block{}
	if err := os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for name, list := range blocks {
		for _, b := range list {
			file := fmt.Sprintf("%s-%d.%s", strings.TrimSuffix(filepath.Base(name), ".md"), b.line, b.lang)
			files[file] = b
			if err := os.WriteFile(filepath.Join(dir, file), []byte(b.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, files
}

// Each component and script stands the same checks as the project's own.
func TestTypes(t *testing.T) {
	harness.Require(t)
	t.Parallel()
	dir, files := pages(t, run(t, "ts", "tsx"))
	packages, _ := filepath.Abs(frontends)
	config, _ := json.Marshal(map[string]any{
		"extends": filepath.Join(packages, "tsconfig.json"),
		"compilerOptions": map[string]any{
			"moduleDetection": "force",
			"paths": map[string]any{
				"@agentstream/client": []string{filepath.Join(packages, "../../clients/typescript/src/index.ts")},
				"@ag-ui/client":       []string{filepath.Join(packages, "node_modules/@ag-ui/client")},
				"rxjs":                []string{filepath.Join(packages, "node_modules/rxjs")},
			},
		},
		"include": []string{dir + "/*.ts", dir + "/*.tsx"},
	})
	if err := os.WriteFile(filepath.Join(dir, "tsconfig.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := node(t, dir, nil, "node_modules/typescript/bin/tsc", "-p", "."); err != nil {
		for file, b := range files {
			out = strings.ReplaceAll(out, file, file+" ("+b.String()+")")
		}
		t.Errorf("%v\n%s", err, out)
	}
}

// What prints something is run on a server of its own.
func TestScripts(t *testing.T) {
	harness.Require(t)
	t.Parallel()
	script, err := filepath.Abs("bundle.mjs")
	if err != nil {
		t.Fatal(err)
	}
	dir, files := pages(t, run(t, "ts"))
	s := harness.Start(t)
	count := 0
	for file, b := range files {
		if b.want == "" {
			continue
		}
		count++
		path := filepath.Join(dir, file)
		text := strings.ReplaceAll(b.text, "http://127.0.0.1:7117", s.URL)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := node(t, dir, nil, script, path, path+".mjs"); err != nil {
			t.Fatalf("%s: %v\n%s", b, err, out)
		}
		out, err := node(t, dir, []string{"AGENTSTREAM_TOKEN=" + s.Token}, path+".mjs")
		if err != nil {
			t.Errorf("%s: %v\n%s", b, err, out)
		}
		b.expect(t, out)
	}
	if count == 0 {
		t.Error("no script says what it prints")
	}
}
