package guides_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

// A server of one document ends when the next one begins, as in a terminal, and
// with the shell.
const prelude = `
set -euo pipefail
serving=
settle() { if [ -n "$serving" ]; then kill "$serving" 2>/dev/null || true; wait "$serving" || true; serving=; fi; }
trap settle EXIT
begun() { # a server says when it may be asked
	for _ in $(seq 600); do grep -q 'listening on' "$1" && return; kill -0 "$serving" || break; sleep 0.1; done
	cat "$1"; return 1
}
`

// script makes one shell script of a document's blocks. A command that serves goes
// to the background: a reader gives it a terminal of its own.
func script(blocks []block) string {
	var s strings.Builder
	s.WriteString(prelude)
	for i, b := range blocks {
		fmt.Fprintf(&s, "printf '\\n@@%d\\n'\n", i)
		for _, line := range strings.SplitAfter(b.text, "\n") {
			if strings.HasPrefix(line, "agentstream serve") {
				line, _, _ = strings.Cut(line, " #")
				log := fmt.Sprintf(`"$HOME/serve-%d.log"`, i)
				fmt.Fprintf(&s, "settle; %s > %s 2>&1 & serving=$!; begun %s; cat %s\n", strings.TrimSpace(line), log, log, log)
			} else {
				s.WriteString(line)
			}
		}
	}
	return s.String()
}

func TestCommands(t *testing.T) {
	harness.Require(t)
	for name, blocks := range run(t, "sh") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			text := at(script(blocks), map[string]string{"7117": freePort(t)})
			if err := os.WriteFile(filepath.Join(home, "guide.sh"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
			defer cancel()
			cmd := exec.CommandContext(ctx, "bash", filepath.Join(home, "guide.sh"))
			cmd.WaitDelay = time.Second // what it left behind holds its output
			cmd.Env = append(environment(t, home), "AGENTSTREAM_LISTEN="+listenOf(text), "AGENTSTREAM_DEMO_PACE=0")
			if cmd.Dir = filepath.Join(home, "project"); os.Mkdir(cmd.Dir, 0o700) != nil {
				t.Fatal("no folder to work in")
			}
			out, err := cmd.CombinedOutput()
			parts := strings.Split(string(out), "\n@@")[1:]
			for i, part := range parts {
				_, printed, _ := strings.Cut(part, "\n")
				blocks[i].expect(t, printed)
			}
			if err != nil {
				where := "the beginning"
				if n := len(parts); n > 0 {
					where = blocks[n-1].String()
				}
				t.Fatalf("%s: %v\n%s", where, err, out)
			}
		})
	}
}

// listenOf is the address that the document's own commands name, else any.
func listenOf(text string) string {
	if i := strings.Index(text, "127.0.0.1:"); i >= 0 {
		rest := text[i+len("127.0.0.1:"):]
		if n := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); n > 0 {
			return "127.0.0.1:" + rest[:n]
		}
	}
	return "127.0.0.1:0"
}
