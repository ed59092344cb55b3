package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/eventlogtest"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
)

func TestConformance(t *testing.T) {
	eventlogtest.Run(t, eventlogtest.Store{
		Open: func(dir string, now func() time.Time) (eventlog.Log, error) {
			return sqlite.Open(filepath.Join(dir, "test.db"), sqlite.Options{Now: now})
		},
		Shared: true,
	})
}

func ExampleOpen() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	log, err := sqlite.Open(filepath.Join(dir, "agentstream.db"), sqlite.Options{})
	if err != nil {
		panic(err)
	}
	defer log.Close()

	ctx := context.Background()
	c, err := log.Append(ctx, eventlog.Batch{
		Thread: "thread",
		Events: []eventlog.Event{{Kind: eventlog.KindEvent, Run: "run", Data: []byte("hello")}, {Kind: eventlog.KindNote, Data: []byte("by the way")}},
		Put:    []eventlog.Entry{{Key: "state", Value: []byte("running")}},
	})
	fmt.Println(c.Seq, err)
	for r, err := range log.After(ctx, "thread", eventlog.Cursor{}) {
		fmt.Println(r.Cursor.Seq, r.Kind, string(r.Data), err)
		if r.Cursor == c {
			break
		}
	}
	// Output:
	// 2 <nil>
	// 1 1 hello <nil>
	// 2 2 by the way <nil>
}

// TestOddPaths has names that mean something in the URI that SQLite is given.
func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a b", "a?mode=memory", "a#b", "a%20b", "é", "a&_pragma=x", "file:x"} {
		dir := t.TempDir()
		path := filepath.Join(dir, name)
		l := openAt(t, path)
		if err := appendText(l, "t", name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("%q: %v", name, err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		if err != nil || len(files) != 1 || files[0] != path {
			t.Errorf("%q: there are the files %q, %v", name, files, err)
		}
		wantTexts(t, openAt(t, path), "t", name)
	}
}

func TestOnlyTheOwnerReads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	l := openAt(t, path)
	if err := appendText(l, "t", "secret"); err != nil {
		t.Fatal(err)
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Error(err)
		} else if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", info.Name(), info.Mode())
		}
	}
}

// TestWALStaysShort writes without a pause, which would let it grow for ever if
// only checkpoints beside the writer were made.
func TestWALStaysShort(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 80 MB")
	}
	path := filepath.Join(t.TempDir(), "db")
	l := openAt(t, path)
	data := make([]byte, 20_000)
	var most atomic.Int64
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for n := range 500 {
				batch := eventlog.Batch{Thread: fmt.Sprint("t", w), Events: []eventlog.Event{{Data: data}}}
				if _, err := l.Append(context.Background(), batch); err != nil {
					t.Error(err)
					return
				}
				if n%50 == 0 {
					if info, err := os.Stat(path + "-wal"); err == nil {
						most.Store(max(most.Load(), info.Size()))
					}
				}
			}
		})
	}
	wg.Wait()
	t.Logf("at most %d MiB", most.Load()>>20)
	if most.Load() > 128<<20 {
		t.Errorf("the write-ahead log has grown to %d MiB", most.Load()>>20)
	}
}

// TestJournalMoves checks that records come to lie together.
func TestJournalMoves(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "db"))
	for i := range 300 {
		events := slices.Repeat([]eventlog.Event{{Data: make([]byte, 1000)}}, 10)
		if _, err := l.Append(t.Context(), eventlog.Batch{Thread: fmt.Sprint("t", i%3), Events: events}); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := l.Number("SELECT count(*) FROM segments")
	journal, err2 := l.Number("SELECT coalesce(sum(length(data)), 0) FROM journal")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	// 3 MB, of which at most 1 MiB is left in the journal, in rows of 64 KiB.
	if rows < 30 || rows > 60 || journal > 1<<20 {
		t.Errorf("%d segments, %d bytes in the journal", rows, journal)
	}
	for range 1100 {
		if err := appendText(l, "u", "little"); err != nil {
			t.Fatal(err)
		}
	}
	if n := number(t, l, "SELECT count(*) FROM journal"); n > 1024 {
		t.Errorf("the journal has %d rows", n)
	}
}

// TestIdle checks that nothing runs for readers that wait.
func TestIdle(t *testing.T) {
	for _, exclusive := range []bool{true, false} {
		l, err := sqlite.Open(filepath.Join(t.TempDir(), "db"), sqlite.Options{Exclusive: exclusive})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan struct{})
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				for range l.After(ctx, "t", eventlog.Cursor{}) {
					got <- struct{}{}
				}
			})
		}
		if err := appendText(l, "t", "a"); err != nil {
			t.Fatal(err)
		}
		for range 10 {
			<-got
		}
		if l.Watching() == exclusive || l.Topics() != 1 {
			t.Errorf("exclusive %v: watching %v, %d topics", exclusive, l.Watching(), l.Topics())
		}
		cancel()
		wg.Wait()
		if l.Topics() != 0 {
			t.Errorf("without readers there are %d topics", l.Topics())
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOpenAtOnce has many make the same file.
func TestOpenAtOnce(t *testing.T) {
	for range 5 {
		path := filepath.Join(t.TempDir(), "db")
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				l, err := sqlite.Open(path, sqlite.Options{})
				if err != nil {
					t.Errorf("open: %v", err)
					return
				}
				if err := errors.Join(appendText(l, "t", fmt.Sprint(i)), l.Close()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		l := openAt(t, path)
		if c, err := l.Append(t.Context(), eventlog.Batch{Thread: "t"}); err != nil || c.Seq != 8 {
			t.Errorf("the last record is %v, %v", c, err)
		}
	}
}

// TestCancelledInTheQueue cancels a batch that waits for the transaction before.
func TestCancelledInTheQueue(t *testing.T) {
	l := openAt(t, filepath.Join(t.TempDir(), "db"))
	release := l.HoldLock()
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error)
	go func() {
		_, err := l.Append(ctx, eventlog.Batch{Thread: "t", Events: []eventlog.Event{{Data: []byte("cancelled")}}})
		done <- err
	}()
	why := errors.New("why")
	cancel(why)
	if err := <-done; err != why {
		t.Errorf("got %v", err)
	}
	release()
	if err := appendText(l, "t", "next"); err != nil {
		t.Fatal(err)
	}
	wantTexts(t, l, "t", "next")
}
