package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
)

func openAt(t *testing.T, path string) *sqlite.Log {
	t.Helper()
	l, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func appendText(l *sqlite.Log, thread, text string) error {
	_, err := l.Append(context.Background(), eventlog.Batch{Thread: thread, Events: []eventlog.Event{{Data: []byte(text)}}})
	return err
}

// wantKind checks the kind, the path in the message and that it says what to do.
func wantKind(t *testing.T, err, kind error, path string) {
	t.Helper()
	if !errors.Is(err, kind) {
		t.Errorf("got %v, want %v", err, kind)
		return
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok || e.Path != path || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "; ") {
		t.Errorf("the message does not say what, why and what to do: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	changed := func(name, change string) string {
		path := filepath.Join(dir, name)
		l := openAt(t, path)
		if err := errors.Join(l.Exec(change), l.Close()); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, c := range map[string]struct {
		path string
		kind error
	}{
		"text":            {write("text", strings.Repeat("this is no database\n", 500)), sqlite.ErrNotDatabase},
		"another program": {changed("other", "PRAGMA application_id = 42"), sqlite.ErrNotDatabase},
		"a newer version": {changed("newer", "PRAGMA user_version = 99"), sqlite.ErrNewer},
		"no folder":       {filepath.Join(dir, "missing", "db"), sqlite.ErrAccess},
		"a folder":        {dir, sqlite.ErrAccess},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := os.ReadFile(c.path)
			l, err := sqlite.Open(c.path, sqlite.Options{})
			if err == nil {
				_ = l.Close()
			}
			wantKind(t, err, c.kind, c.path)
			if after, _ := os.ReadFile(c.path); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestLocked(t *testing.T) {
	defer sqlite.SetBusyTimeout(sqlite.SetBusyTimeout(50))
	path := filepath.Join(t.TempDir(), "db")
	l, other := openAt(t, path), openAt(t, path)
	if err := appendText(l, "t", "before"); err != nil {
		t.Fatal(err)
	}
	release := other.HoldLock()
	wantKind(t, appendText(l, "t", "meanwhile"), sqlite.ErrLocked, path)
	release()
	if err := appendText(l, "t", "after"); err != nil {
		t.Errorf("after the lock was released: %v", err)
	}
	wantTexts(t, l, "t", "before", "after")
}

func wantTexts(t *testing.T, l *sqlite.Log, thread string, want ...string) {
	t.Helper()
	var got []string
	err := l.View(context.Background(), thread, func(v eventlog.View) error {
		for r, err := range v.Records(0, 0) {
			if err != nil {
				return err
			}
			got = append(got, string(r.Data))
		}
		return nil
	})
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %.100q, %v, want %.100q", got, err, want)
	}
}

// TestFull fills the disk with one batch among others: it alone is refused.
func TestFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	l := openAt(t, path)
	if err := l.Exec("PRAGMA max_page_count = 200"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	var big error
	for i := range 20 {
		wg.Go(func() {
			if i == 10 {
				big = appendText(l, "big", strings.Repeat("x", 2<<20))
			} else if err := appendText(l, fmt.Sprint("t", i), "small"); err != nil {
				t.Errorf("a small batch: %v", err)
			}
		})
	}
	wg.Wait()
	wantKind(t, big, sqlite.ErrFull, path)
	wantTexts(t, l, "big")
	wantTexts(t, l, "t3", "small")
	if err := l.Exec("PRAGMA max_page_count = 100000"); err != nil {
		t.Fatal(err)
	}
	if err := appendText(l, "big", "now"); err != nil {
		t.Errorf("when there is space again: %v", err)
	}
	wantTexts(t, l, "big", "now")
}

// TestDamage changes one byte of what is stored, in the journal and in a segment.
func TestDamage(t *testing.T) {
	for name, size := range map[string]int{"journal": 100, "segment": 2 << 20} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "db")
			l := openAt(t, path)
			if err := errors.Join(appendText(l, "t", "needle"+strings.Repeat("x", size)), l.Close()); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			i := bytes.LastIndex(data, []byte("needle"))
			if i < 0 {
				t.Fatal("what was stored is not in the file")
			}
			data[i] ^= 1
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			l = openAt(t, path)
			for r, err := range l.After(t.Context(), "t", eventlog.Cursor{}) {
				wantKind(t, err, sqlite.ErrDamaged, path)
				if err == nil {
					t.Fatalf("a damaged record was read: %.20q", r.Data)
				}
			}
			err = l.View(t.Context(), "t", func(v eventlog.View) error {
				for _, err := range v.Records(0, 0) {
					if err != nil {
						return err
					}
				}
				return nil
			})
			wantKind(t, err, sqlite.ErrDamaged, path)
		})
	}
}

func TestTruncated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	l := openAt(t, path)
	for range 100 {
		if err := appendText(l, "t", strings.Repeat("x", 50_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, 1<<20); err != nil {
		t.Fatal(err)
	}
	l, err := sqlite.Open(path, sqlite.Options{})
	if err != nil {
		wantKind(t, err, sqlite.ErrDamaged, path)
		return
	}
	defer l.Close()
	for _, err := range l.After(t.Context(), "t", eventlog.Cursor{}) {
		if err != nil {
			wantKind(t, err, sqlite.ErrDamaged, path)
			return
		}
	}
}
