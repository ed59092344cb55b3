package guides_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

// block is a fenced piece of a document.
type block struct {
	file string // relative to the root
	line int
	lang string
	text string
	want string // what it prints, if the document says so
	skip string // why it is not run
}

func (b block) String() string { return fmt.Sprintf("%s:%d", b.file, b.line) }

var (
	notRun = regexp.MustCompile(`^<!-- not run: (.+) -->$`)
	fence  = regexp.MustCompile("^```(.*)$")
)

// blocksOf reads a document. A text block belongs to what stands before it.
func blocksOf(name, text string) (blocks []block, err error) {
	var open *block
	skip := ""
	for i, line := range strings.Split(text, "\n") {
		mark := fence.FindStringSubmatch(line)
		switch {
		case open == nil && mark != nil:
			open = &block{file: name, line: i + 1, lang: mark[1], skip: skip}
		case open != nil && mark != nil:
			if n := len(blocks); open.lang == "text" && n > 0 && blocks[n-1].want == "" {
				blocks[n-1].want = open.text
			} else if open.lang != "text" {
				blocks = append(blocks, *open)
			}
			open, skip = nil, ""
		case open != nil:
			open.text += line + "\n"
		case strings.TrimSpace(line) != "":
			skip = ""
			if m := notRun.FindStringSubmatch(line); m != nil {
				skip = m[1]
			}
		}
	}
	if open != nil {
		return nil, fmt.Errorf("%s: the block does not end", *open)
	}
	return blocks, nil
}

const root = "../.."

// documents are the README and the guides, with what they hold.
func documents(t *testing.T) map[string][]block {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "docs/guides/*.md"))
	if err != nil || len(names) == 0 {
		t.Fatal("no guides", err)
	}
	all := map[string][]block{}
	for _, name := range append(names, filepath.Join(root, "README.md")) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		short, _ := filepath.Rel(root, name)
		if all[short], err = blocksOf(filepath.ToSlash(short), string(data)); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// run are the blocks in these languages that are not excepted, by document.
func run(t *testing.T, langs ...string) map[string][]block {
	t.Helper()
	chosen := map[string][]block{}
	for name, blocks := range documents(t) {
		for _, b := range blocks {
			for _, lang := range langs {
				if b.lang == lang && b.skip == "" {
					chosen[name] = append(chosen[name], b)
				}
			}
		}
	}
	if len(chosen) == 0 {
		t.Fatalf("no guide has a block in %v", langs)
	}
	return chosen
}

func TestEveryBlockIsTried(t *testing.T) {
	tried := map[string]bool{"sh": true, "go": true, "ts": true, "tsx": true, "yaml": true, "nginx": true, "ini": true}
	for _, blocks := range documents(t) {
		for _, b := range blocks {
			if b.skip != "" {
				t.Logf("%s is not run: %s", b, b.skip)
			} else if !tried[b.lang] {
				t.Errorf("%s: nothing tries a block in %q", b, b.lang)
			}
		}
	}
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	dropped = regexp.MustCompile("[^\\w\\- ]")
)

// anchors are the names that a reader's browser gives to the headings.
func anchors(text string) map[string]bool {
	all := map[string]bool{"": true}
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		all[strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-")] = true
	}
	return all
}

func TestLinksLeadSomewhere(t *testing.T) {
	for name := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			file := filepath.Join(root, filepath.Dir(name), target)
			if target == "" {
				file = filepath.Join(root, name)
			}
			if data, err := os.ReadFile(file); err != nil {
				t.Errorf("%s: %v", name, err)
			} else if !anchors(string(data))[anchor] {
				t.Errorf("%s: %s has no such heading", name, m[1])
			}
		}
	}
}

func TestBlocksOf(t *testing.T) {
	blocks, err := blocksOf("a.md", "A\n\n```sh\nls\n```\n\nprints\n\n```text\nb\n```\n\n<!-- not run: no key -->\n```go\nx\n```\n<!-- not run: far -->\nB\n```sh\nps\n```\n")
	if err != nil || len(blocks) != 3 {
		t.Fatal(blocks, err)
	}
	if b := blocks[0]; b.lang != "sh" || b.text != "ls\n" || b.want != "b\n" || b.skip != "" || b.line != 3 {
		t.Errorf("%+v", b)
	}
	if blocks[1].skip != "no key" || blocks[2].skip != "" {
		t.Errorf("the comment is of the block that follows it: %+v", blocks[1:])
	}
	if _, err := blocksOf("a.md", "```sh\nls\n"); err == nil {
		t.Error("a block without an end is no error")
	}
}

var (
	digits = regexp.MustCompile(`[0-9]+`)
	spaces = regexp.MustCompile(`\s+`)
)

// expect checks that what was printed has the lines that the document shows.
func (b block) expect(t *testing.T, printed string) {
	t.Helper()
	got := strings.Split(printed, "\n")
	for _, line := range strings.Split(strings.TrimSpace(b.want), "\n") {
		if line = strings.TrimSpace(line); line == "" || line == "…" {
			continue
		}
		form := regexp.QuoteMeta(line)
		form = digits.ReplaceAllString(form, `[0-9]+`)
		form = strings.ReplaceAll(form, "…", ".*")
		form = "^" + spaces.ReplaceAllString(form, `\s+`) + "$"
		at := -1
		for i, one := range got {
			if regexp.MustCompile(form).MatchString(strings.TrimSpace(one)) {
				at = i
				break
			}
		}
		if at < 0 {
			t.Errorf("%s: the document shows %q here, but what came is\n%s", b, line, printed)
			return
		}
		got = got[at+1:]
	}
}

// at is the text of a block with the addresses that it names moved to ports that
// are free here.
func at(text string, ports map[string]string) string {
	for from, to := range ports {
		text = strings.ReplaceAll(text, "127.0.0.1:"+from, "127.0.0.1:"+to)
	}
	return text
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// environment is that of a person who has just installed the binary.
func environment(t *testing.T, home string) []string {
	t.Helper()
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(harness.Binary(t), filepath.Join(bin, "agentstream")); err != nil && !os.IsExist(err) {
		t.Fatal(err)
	}
	return append(harness.Environment(home), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}
