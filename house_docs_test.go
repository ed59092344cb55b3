package agentstream_test

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func expand(ranges []string) map[string]bool {
	ids := map[string]bool{}
	for _, r := range ranges {
		var letter rune
		var from, to int
		if n, _ := fmt.Sscanf(r, "%c%d-%d", &letter, &from, &to); n == 2 {
			to = from
		}
		for i := from; i <= to; i++ {
			ids[fmt.Sprintf("%c%d", letter, i)] = true
		}
	}
	return ids
}

var (
	caseRow = regexp.MustCompile(`(?m)^\| ([HQS]\d+) \| (.+) \| (.*)\|$`)
	quoted  = regexp.MustCompile("`([^`]+)`")
)

// Every case is there once, and names tests and scenarios that exist.
func TestCasesNameTheirTests(t *testing.T) {
	text := read(t, "docs/cases.md")
	want := expand([]string{"H1-55", "Q1-35", "S1-80"})
	tests := testNames(t)
	for _, row := range caseRow.FindAllStringSubmatch(text, -1) {
		id, named := row[1], quoted.FindAllStringSubmatch(row[3], -1)
		if !want[id] {
			t.Errorf("%s stands in docs/cases.md twice, or should not", id)
		}
		delete(want, id)
		if named == nil {
			t.Errorf("%s in docs/cases.md names no test", id)
		}
		for _, n := range named {
			if !tests[n[1]] && !exists(n[1]) {
				t.Errorf("%s in docs/cases.md names %s, which does not exist", id, n[1])
			}
		}
	}
	for id := range want {
		t.Errorf("%s is missing in docs/cases.md", id)
	}
}

// testNames holds folder.TestName for every test, fuzz target and example.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	form := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)
	for _, f := range tree(t) {
		if f.isTest() {
			for _, m := range form.FindAllStringSubmatch(f.text, -1) {
				names[f.folder()+"."+m[1]] = true
				names[strings.TrimPrefix(f.folder()+"."+m[1], ".")] = true
			}
		}
	}
	return names
}

func exists(name string) bool {
	if strings.Contains(name, "..") || path.Ext(name) == "" {
		return false
	}
	_, err := os.Stat(filepath.FromSlash(name))
	return err == nil
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Every module that a file imports stands in the design's table, with a reason.
func TestDependenciesHaveReasons(t *testing.T) {
	var modules []string
	for _, m := range regexp.MustCompile(`(?m)^\s(\S+\.\S+/\S+) v\S+`).FindAllStringSubmatch(read(t, "go.mod"), -1) {
		modules = append(modules, m[1])
	}
	reasons := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| [^|]+ \\| [^|]{20,} \\|$").FindAllStringSubmatch(read(t, "docs/design.md"), -1) {
		reasons[m[1]] = true
	}
	used := map[string]string{}
	for _, f := range tree(t) {
		_, others := f.imports()
		for _, p := range others {
			if m := moduleOf(p, modules); m != "" && !matches("bench/...", f.folder()) {
				used[m] = f.name
			} else if m == "" && !isStandard(p) && !matches("bench/...", f.folder()) {
				t.Errorf("%s imports %s, which go.mod does not require", f.name, p)
			}
		}
	}
	for m, file := range used {
		if !reasons[m] {
			t.Errorf("%s uses %s, which has no reason in docs/design.md", file, m)
		}
	}
	for _, line := range strings.Split(read(t, "go.mod"), "\n") {
		f := strings.Fields(line)
		if len(f) >= 2 && slices.Contains(modules, f[0]) && !strings.Contains(line, "// indirect") && !reasons[f[0]] {
			t.Errorf("go.mod requires %s, which has no reason in docs/design.md", f[0])
		}
	}
}

func moduleOf(p string, modules []string) (longest string) {
	for _, m := range modules {
		if (p == m || strings.HasPrefix(p, m+"/")) && len(m) > len(longest) {
			longest = m
		}
	}
	return longest
}

// The words are put together here, so that this file does not hold them.
var unwanted = map[string]*regexp.Regexp{
	"an absolute path of one machine": regexp.MustCompile(`(^|[^\w.$~}/-])/(` + "wo" + `rk/(main|shared)|` + "ro" + `ot/\w|Users/\w)`),
	"a mark of unfinished work":       regexp.MustCompile(`\b(TO` + `DO|FIX` + `ME|XX` + `X)\b`),
	"a registry's address":            regexp.MustCompile(`https?://[^/"\s]*(artifact` + `ory|nex` + `us|verdac` + `cio|devpi|go` + `proxy)`),
}

var textFiles = []string{".go", ".md", ".mod", ".sh", ".yml", ".yaml", ".json", ".js", ".mjs", ".ts", ".tsx", ".css", ".html", ".txt", ".txtar", ""}

func TestTheTreeIsCleanOfMachinesAndMarks(t *testing.T) {
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains(skipped, d.Name()) && d.Name() != "testdata":
			return filepath.SkipDir
		case d.IsDir() || !slices.Contains(textFiles, filepath.Ext(name)) || filepath.Ext(name) == "" && !strings.HasSuffix(name, "file") && !strings.Contains(name, ".ci"):
			return nil
		}
		text := read(t, name)
		lock := filepath.Base(name) == "package-lock.json"
		for n, line := range strings.Split(text, "\n") {
			for what, form := range unwanted {
				if form.MatchString(line) && !lock {
					t.Errorf("%s:%d has %s: %.120s", name, n+1, what, line)
				}
			}
			if lock && strings.Contains(line, `"resolved": "http`) {
				t.Errorf("%s:%d resolves to a registry of one place", name, n+1)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
