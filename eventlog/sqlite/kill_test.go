package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
)

// childPath, in the environment, makes the test binary append for ever.
const childPath = "AGENTSTREAM_TEST_SQLITE_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childPath); path != "" {
		child(path)
	}
	os.Exit(m.Run())
}

// child appends from several goroutines, compacts what it has appended, and says what was acknowledged: thread,
// cursor and text, one write a line.
func child(path string) {
	l, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for w := range 8 {
		go func() {
			for n := 0; ; n++ {
				thread, text := fmt.Sprint("t", w/2), fmt.Sprintf("%d-%d", w, n)
				c, err := l.Append(context.Background(), eventlog.Batch{
					Thread: thread,
					Events: []eventlog.Event{{Data: []byte(text + strings.Repeat(" ", n*37%2000))}},
					Put:    []eventlog.Entry{{Key: fmt.Sprint("last", w), Value: []byte(text)}},
				})
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				_, _ = os.Stdout.WriteString(fmt.Sprintln(thread, c, text))
			}
		}()
	}
	for n := 0; ; n++ {
		thread := fmt.Sprint("t", n%4)
		var head eventlog.Cursor
		err := l.View(context.Background(), thread, func(v eventlog.View) (err error) {
			head, err = v.Head()
			return err
		})
		if err == nil && head.Seq > 0 {
			err = l.Compact(context.Background(), thread, head)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// TestKill kills a process that appends and compacts, several times on one file, and
// looks for everything that was acknowledged.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	acknowledged := map[string]map[eventlog.Cursor]string{}
	total := 0
	for round := range 3 {
		total += runUntilKilled(t, path, 500+700*round, acknowledged)
		l := openAt(t, path)
		for thread, want := range acknowledged {
			checkAcknowledged(t, l, thread, want)
		}
		if n, err := l.Number("SELECT count(*) FROM packed"); n == 0 || err != nil {
			t.Errorf("%d segments are packed, %v: the child was to compact", n, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d acknowledged events were there after three kills", total)
}

// runUntilKilled kills the child after so many lines and reads the rest of them.
func runUntilKilled(t *testing.T, path string, lines int, acknowledged map[string]map[eventlog.Cursor]string) (n int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	for in := bufio.NewScanner(out); in.Scan(); n++ {
		if n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		f := strings.Fields(in.Text())
		if len(f) != 3 {
			continue // cut by the kill
		}
		c, err := eventlog.ParseCursor(f[1])
		if err != nil {
			continue
		}
		if acknowledged[f[0]] == nil {
			acknowledged[f[0]] = map[eventlog.Cursor]string{}
		}
		if was, twice := acknowledged[f[0]][c]; twice {
			t.Errorf("%s %v was given to %s and to %s", f[0], c, was, f[2])
		}
		acknowledged[f[0]][c] = f[2]
	}
	if n < lines {
		t.Errorf("the child ended by itself after %d lines", n)
	}
	return n
}

func checkAcknowledged(t *testing.T, l *sqlite.Log, thread string, want map[eventlog.Cursor]string) {
	t.Helper()
	seq, found := uint64(0), 0
	err := l.View(context.Background(), thread, func(v eventlog.View) error {
		for r, err := range v.Records(0, 0) {
			if err != nil {
				return err
			}
			if seq++; r.Cursor.Seq != seq {
				t.Errorf("%s: record %d comes after %d", thread, r.Cursor.Seq, seq-1)
				return nil
			}
			if text := want[r.Cursor]; text != "" {
				found++
				if got := strings.TrimRight(string(r.Data), " "); got != text {
					t.Errorf("%s %v is %q, acknowledged was %q", thread, r.Cursor, got, text)
				}
			}
		}
		return nil
	})
	if err != nil || found != len(want) {
		t.Errorf("%s: %d of %d acknowledged events are there, %v", thread, found, len(want), err)
	}
}
