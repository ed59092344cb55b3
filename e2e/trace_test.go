package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strings"
)

// trace follows what a server asks of the kernel, as strace -f -y prints it, and
// says what it sent to a reader before it was safe. A piece of text that mark finds is
// safe once a sync of the log's write-ahead file has returned that was begun after
// the write that had it.
type trace struct {
	mark *regexp.Regexp

	began   map[string]string   // thread: the call that is not over
	during  map[string][]string // thread: what was written when its sync began
	written map[string]bool     // in the file, perhaps not on the disk
	safe    map[string]bool
	sent    map[string]bool
	early   []string
	syncs   int
}

func newTrace(mark string) *trace {
	return &trace{
		mark: regexp.MustCompile(mark), began: map[string]string{}, during: map[string][]string{},
		written: map[string]bool{}, safe: map[string]bool{}, sent: map[string]bool{},
	}
}

var (
	aCall   = regexp.MustCompile(`^(\d+) +(\w+)\(\d+<([^>]*)>`)
	resumed = regexp.MustCompile(`^(\d+) +<\.\.\. (\w+) resumed>`)
)

func (tr *trace) read(r io.Reader) error {
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			tr.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (tr *trace) line(line string) {
	if m := resumed.FindStringSubmatch(line); m != nil {
		tr.end(m[1], tr.began[m[1]], line)
		delete(tr.began, m[1])
		return
	}
	m := aCall.FindStringSubmatch(line)
	if m == nil {
		return
	}
	call := m[2] + " " + m[3] + "\x00" + line
	tr.begin(m[1], call)
	if strings.Contains(line, "<unfinished ...>") {
		tr.began[m[1]] = call
		return
	}
	tr.end(m[1], call, line)
}

func (tr *trace) parse(call string) (name, file, text string) {
	head, text, _ := strings.Cut(call, "\x00")
	name, file, _ = strings.Cut(head, " ")
	return name, file, text
}

func (tr *trace) begin(thread, call string) {
	name, file, text := tr.parse(call)
	switch {
	case isSync(name):
		tr.during[thread] = nil
		for mark := range tr.written {
			tr.during[thread] = append(tr.during[thread], mark)
		}
	case isSocket(file):
		for _, mark := range tr.mark.FindAllString(text, -1) {
			if !tr.sent[mark] && !tr.safe[mark] {
				tr.early = append(tr.early, mark)
			}
			tr.sent[mark] = true
		}
	}
}

func (tr *trace) end(thread, call, line string) {
	name, file, text := tr.parse(call)
	switch {
	case !strings.HasSuffix(file, "-wal"):
	case isSync(name):
		if strings.HasSuffix(strings.TrimSpace(line), "= 0") {
			tr.syncs++
			for _, mark := range tr.during[thread] {
				tr.safe[mark] = true
			}
		}
	case strings.Contains(name, "write"):
		for _, mark := range tr.mark.FindAllString(text, -1) {
			tr.written[mark] = true
		}
	}
}

func isSync(name string) bool { return name == "fsync" || name == "fdatasync" }

func isSocket(file string) bool {
	return strings.HasPrefix(file, "socket:") || strings.HasPrefix(file, "TCP")
}

// verdict says what is wrong; enough is how many marks must have been sent.
func (tr *trace) verdict(enough int) error {
	switch {
	case len(tr.early) > 0:
		return fmt.Errorf("%d of %d events went out before they were on the disk, the first was %q", len(tr.early), len(tr.sent), tr.early[0])
	case len(tr.sent) < enough:
		return fmt.Errorf("only %d events were seen going out, not %d: the trace proves nothing", len(tr.sent), enough)
	}
	return nil
}
