package agentstream_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// layers says for each package which of the project's packages it may import;
// "x/..." stands for x and all beneath. The longest row that matches counts. A
// package that has no row may import the root alone. Tests may import anything:
// a scenario crosses the joints.
var layers = []struct {
	folder string
	may    string
}{
	{".", ""},
	{"agentstreamtest", "."},
	{"agui", ""},
	{"round", ". agui"},
	{"eventlog", ""},
	{"eventlog/...", "eventlog"},
	{"source", "."},
	{"source/...", ". source internal/..."},
	{"source/sourcetest", ". source agentstreamtest internal/..."},
	{"source/agui", ". source agui internal/..."},
	{"source/all", ". source/..."},
	{"engine", ". agui round eventlog source internal/..."},
	{"server", ". agui engine eventlog source internal/... web"},
	{"web", ""},
	{"internal/...", "."},
	{"internal/blob", "agui"},
	{"internal/aguitest", ". agui internal/..."},
	{"internal/demoagent", ". internal/acpwire"},
	{"internal/catalog", ". source source/all internal/..."},
	{"internal/join", "agui"},
	{"internal/join/jointest", "agui internal/..."},
	{"internal/neutral", ". agui"},
	{"internal/term", ". source"},
	{"cmd/...", "./..."},
	{"e2e/...", "./..."},
	{"bench/...", "./..."},
}

func matches(pattern, folder string) bool {
	base, deep := strings.CutSuffix(pattern, "/...")
	if !deep {
		return folder == pattern
	}
	return base == "." || folder == base || strings.HasPrefix(folder, base+"/")
}

func allowedIn(folder string) string {
	best, may := -1, "."
	for _, row := range layers {
		if n := len(strings.TrimSuffix(row.folder, "/...")); matches(row.folder, folder) && n >= best {
			best, may = n, row.may
		}
	}
	return may
}

func TestLayers(t *testing.T) {
	for _, f := range tree(t) {
		if f.isTest() {
			continue
		}
		may := strings.Fields(allowedIn(f.folder()))
		ours, _ := f.imports()
		for _, p := range ours {
			if !slices.ContainsFunc(may, func(m string) bool { return matches(m, p) }) {
				t.Errorf("%s imports %s; a package in %s may import: %s", f.name, p, f.folder(), strings.Join(may, ", "))
			}
		}
	}
}

func TestTheContractNeedsNothing(t *testing.T) {
	for _, f := range tree(t) {
		if f.folder() != "." || f.isTest() {
			continue
		}
		_, others := f.imports()
		for _, p := range others {
			if !isStandard(p) {
				t.Errorf("%s imports %s", f.name, p)
			}
		}
	}
}

// users returns the folders whose code (not tests) imports what is asked for.
func users(t *testing.T, of func(p string) bool) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, f := range tree(t) {
		if f.isTest() {
			continue
		}
		ours, others := f.imports()
		if i := slices.IndexFunc(append(ours, others...), of); i >= 0 {
			found[f.folder()] = f.name
		}
	}
	return found
}

func only(t *testing.T, what string, of func(p string) bool, may ...string) {
	t.Helper()
	for folder, file := range users(t, of) {
		if !slices.ContainsFunc(may, func(m string) bool { return matches(m, folder) }) {
			t.Errorf("%s: %s; only %s may", file, what, strings.Join(may, ", "))
		}
	}
}

func TestOnlyOneListNamesConcreteSources(t *testing.T) {
	only(t, "names a concrete source", func(p string) bool {
		return strings.HasPrefix(p, "source/") && p != "source/all" && p != "source/sourcetest"
	}, "source/...", "bench/...")
	for _, f := range tree(t) {
		ours, _ := f.imports()
		for _, p := range ours {
			if kind, ok := strings.CutPrefix(f.folder(), "source/"); ok && kind != "all" && !f.isTest() &&
				strings.HasPrefix(p, "source/") && !matches("source/"+strings.Split(kind, "/")[0]+"/...", p) {
				t.Errorf("%s imports %s: sources do not know each other", f.name, p)
			}
		}
	}
}

func TestOnlyTheEngineKnowsRoundsAndTheLog(t *testing.T) {
	rounds := users(t, func(p string) bool { return matches("round/...", p) })
	for folder, file := range users(t, func(p string) bool { return matches("eventlog/...", p) }) {
		if rounds[folder] != "" && folder != "engine" && !matches("cmd/...", folder) && !matches("e2e/...", folder) {
			t.Errorf("%s and %s: %s knows both rounds and the log", file, rounds[folder], folder)
		}
	}
}

func TestOnlyCommandsWire(t *testing.T) {
	only(t, "picks a store", func(p string) bool { return matches("eventlog/sqlite", p) }, "cmd/...", "e2e/...", "bench/...")
	only(t, "picks the sources", func(p string) bool { return p == "source/all" }, "cmd/...", "e2e/...", "internal/catalog")
}

// heavy modules reach only those who need them.
func TestHeavyModulesStayWhereTheyAreNeeded(t *testing.T) {
	for prefix, may := range map[string][]string{
		"github.com/cloudwego/eino": {"round/...", "engine", "server", "source/eino", "cmd/...", "bench/..."},
		"modernc.org/sqlite":        {"eventlog/sqlite", "bench/..."},
		"github.com/spf13/cobra":    {"cmd/..."},
		"testing":                   {"agentstreamtest", "eventlog/eventlogtest", "source/sourcetest", "internal/...", "e2e/...", "bench/..."},
	} {
		only(t, fmt.Sprintf("imports %s", prefix), func(p string) bool { return p == prefix || strings.HasPrefix(p, prefix+"/") && prefix != "testing" }, may...)
	}
}
