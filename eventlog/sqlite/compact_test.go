package sqlite_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
)

// say appends n chunks as agents make them, some a batch.
func say(t testing.TB, l *sqlite.Log, thread string, n int) (last eventlog.Cursor) {
	t.Helper()
	var batch []eventlog.Event
	for i := range n {
		batch = append(batch, eventlog.Event{Kind: 1, Run: "run", Data: chunk(i)})
		if len(batch) < 100 && i+1 < n {
			continue
		}
		c, err := l.Append(t.Context(), eventlog.Batch{Thread: thread, Events: batch})
		if err != nil {
			t.Fatal(err)
		}
		last, batch = c, batch[:0]
	}
	return last
}

func chunk(i int) []byte {
	return fmt.Appendf(nil, `{"type":"TEXT_MESSAGE_CONTENT","timestamp":%d,"messageId":"m-0123456789","delta":"word %d "}`, 1730000000000+i*37, i*7919%1000)
}

func number(t *testing.T, l *sqlite.Log, query string) int64 {
	t.Helper()
	n, err := l.Number(query)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCompactSteps compacts more and more of a thread: rows stay big and few.
func TestCompactSteps(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "db"))
	const n = 20_000
	last := say(t, l, "t", n)
	for i := range uint64(20) {
		upTo := eventlog.Cursor{Gen: last.Gen, Seq: (i + 1) * n / 20}
		if err := l.Compact(t.Context(), "t", upTo); err != nil {
			t.Fatal(err)
		}
	}
	if left := number(t, l, "SELECT count(*) FROM segments"); left != 0 {
		t.Errorf("%d segments are not packed", left)
	}
	// 2.2 MB of records at 256 KiB a row.
	if rows := number(t, l, "SELECT count(*) FROM packed"); rows < 8 || rows > 18 {
		t.Errorf("there are %d packed rows", rows)
	}
	if size := number(t, l, "SELECT sum(length(data)) FROM packed"); size > 300_000 {
		t.Errorf("%d chunks take %d bytes", n, size)
	}
	before := number(t, l, "PRAGMA data_version")
	if err := l.Compact(t.Context(), "t", last); err != nil || number(t, l, "PRAGMA data_version") != before {
		t.Errorf("a compaction with nothing to do wrote, or %v", err)
	}
}

// TestCompactEnds stops a compaction between its steps.
func TestCompactEnds(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "db"))
	last := say(t, l, "t", 10_000)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Compact(ctx, "t", last); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := l.Size(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("size: %v", err)
	}
	if err := l.Compact(t.Context(), "t", last); err != nil {
		t.Error(err)
	}
}

// TestCompactMeetsOthers has the plan of a step go stale before it is carried
// out, by a trim, a deletion and another compaction.
func TestCompactMeetsOthers(t *testing.T) {
	for name, other := range map[string]func(*sqlite.Log, eventlog.Cursor) error{
		"trim": func(l *sqlite.Log, c eventlog.Cursor) error {
			return l.Trim(context.Background(), "t", eventlog.Cursor{Gen: c.Gen, Seq: 500}, []eventlog.Event{{Data: []byte("cut")}})
		},
		"deletion": func(l *sqlite.Log, _ eventlog.Cursor) error {
			return l.DeleteThread(context.Background(), "t", 0, eventlog.Batch{})
		},
		"compaction": func(l *sqlite.Log, c eventlog.Cursor) error { return l.Compact(context.Background(), "t", c) },
		"nothing":    func(*sqlite.Log, eventlog.Cursor) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			l := openAt(t, filepath.Join(t.TempDir(), "db"))
			last := say(t, l, "t", 1000)
			stale, err := l.PlanToPack("t", last)
			if err != nil {
				t.Fatal(err)
			}
			if err := other(l, last); err != nil {
				t.Fatal(err)
			}
			packed, err := stale()
			if err != nil || packed != (name == "nothing") {
				t.Errorf("it was packed: %v, %v", packed, err)
			}
			want := map[string]int{"trim": 501, "deletion": 0, "compaction": 1000, "nothing": 1000}[name]
			n := 0
			err = l.View(t.Context(), "t", func(v eventlog.View) error {
				for r, err := range v.Records(0, 0) {
					if err != nil {
						return err
					}
					if n++; name != "trim" && !bytes.Equal(r.Data, chunk(n-1)) {
						t.Errorf("record %d is %s", n, r.Data)
					}
				}
				return nil
			})
			if err != nil || n != want {
				t.Errorf("%d records, want %d, %v", n, want, err)
			}
		})
	}
}

// TestMigration opens a file of the first version.
func TestMigration(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	l := openAt(t, path)
	last := say(t, l, "t", 5000)
	if err := errors.Join(l.Exec("DROP TABLE packed; PRAGMA user_version = 1"), l.Close()); err != nil {
		t.Fatal(err)
	}
	l = openAt(t, path)
	if err := l.Compact(t.Context(), "t", last); err != nil {
		t.Fatal(err)
	}
	n := 0
	for r, err := range l.After(t.Context(), "t", eventlog.Cursor{}) {
		if err != nil || !bytes.Equal(r.Data, chunk(n)) {
			t.Fatalf("record %d: %s, %v", n+1, r.Data, err)
		}
		if n++; r.Cursor == last {
			break
		}
	}
	if v := number(t, l, "PRAGMA user_version"); v != 2 {
		t.Errorf("the version is %d", v)
	}
}

// TestPackedDamage changes one byte of a packed segment.
func TestPackedDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	l := openAt(t, path)
	last := say(t, l, "t", 3000)
	if err := l.Compact(t.Context(), "t", last); err != nil {
		t.Fatal(err)
	}
	if err := l.Exec("UPDATE packed SET data = CAST(substr(data, 1, 1000) || x'00' || substr(data, 1002) AS BLOB)"); err != nil {
		t.Fatal(err)
	}
	for r, err := range l.After(t.Context(), "t", eventlog.Cursor{}) {
		wantKind(t, err, sqlite.ErrDamaged, path)
		if err == nil {
			t.Fatalf("a damaged record was read: %.20q", r.Data)
		}
	}
	// Where something is to be joined to it or cut from it, it is found as well.
	last = say(t, l, "t", 100)
	wantKind(t, l.Compact(t.Context(), "t", last), sqlite.ErrDamaged, path)
	wantKind(t, l.Trim(t.Context(), "t", eventlog.Cursor{Gen: last.Gen, Seq: 10}, nil), sqlite.ErrDamaged, path)
}
