package engine

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
)

// TestAgeingOnSQLite: while threads are compacted and collapsed under them, readers
// of every kind come to the same messages, and so does the next engine.
func TestAgeingOnSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	log, err := sqlite.Open(path, sqlite.Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	soon := func(o *Options) {
		o.Retention = Retention{CompactAfter: time.Nanosecond, CollapseAfter: 20 * time.Millisecond}
		o.Limits.ThreadBytes = 20000
	}
	w := newWorld(t, log, map[string]script{"call": callTools}, soon)
	ctx, cancel := context.WithCancel(bg)
	var runs, followers sync.WaitGroup
	for i := range 4 {
		id := fmt.Sprint("t", i)
		followers.Go(func() { follow(ctx, w, id) })
		runs.Go(func() {
			for n := range 12 {
				run := fmt.Sprint("r", n)
				s, err := w.Start(bg, w.requestOf(id, run, fmt.Sprint("u", n), "call"))
				if err != nil {
					t.Error(err)
					return
				}
				for _, err := range w.Join(bg, JoinRequest{Thread: id, Started: &s}) {
					if err != nil {
						t.Error(err)
					}
				}
				m, err := w.Messages(bg, id, 0, "")
				if err != nil || len(m.Messages) != 5*(n+1) {
					t.Errorf("%s: %d messages after %d runs, %v", id, len(m.Messages), n+1, err)
				}
				list := agui.NewList()
				for f, err := range w.Join(bg, JoinRequest{Thread: id}) {
					apply(t, list, f, err)
				}
				if diff := cmp.Diff(plain(m.Messages), plain(list.Messages())); diff != "" {
					t.Errorf("%s: who joins holds %s", id, diff)
				}
			}
		})
	}
	runs.Wait()
	cancel()
	followers.Wait()
	before := map[string][]any{}
	for i := range 4 {
		id := fmt.Sprint("t", i)
		before[id] = w.held(id)
	}
	w.close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if log, err = sqlite.Open(path, sqlite.Options{Exclusive: true}); err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	w = newWorld(t, log, nil, soon)
	defer w.close()
	for id, want := range before {
		if diff := cmp.Diff(want, w.held(id)); diff != "" {
			t.Errorf("%s, reopened: %s", id, diff)
		}
		deadline := time.Now().Add(time.Minute)
		for len(w.waitingFor(id)) > 0 && time.Now().Before(deadline) {
			<-time.After(5 * time.Millisecond)
		}
		if rec := w.record(id); rec.Floor == 0 || rec.Floor != rec.Last.ToSeq || len(w.logged(id)) != 3 {
			t.Errorf("%s is not collapsed: floor %d, %d records", id, rec.Floor, len(w.logged(id)))
		}
		w.verifyJoins(id, want)
	}
}

// waitingFor gives the keys under which a thread waits.
func (w *world) waitingFor(thread string) (keys []string) {
	for _, key := range w.waiting() {
		if key == keyCompact+thread || key == keyCollapse+thread {
			keys = append(keys, key)
		}
	}
	return keys
}

// follow reads the thread raw and live; one whose place is collapsed begins anew.
// In the end it holds what the thread does.
func follow(ctx context.Context, w *world, thread string) {
	list, last := agui.NewList(), eventlog.Cursor{}
	for {
		gone := false
		for f, err := range w.Events(ctx, thread, last, EventOptions{}) {
			if own := (*Error)(nil); errors.As(err, &own) && own.Code == "cursor_gone" {
				gone = true
				break
			}
			apply(w.tb, list, f, err)
			if err == nil {
				last, err = eventlog.ParseCursor(f.ID)
			}
			if err != nil {
				return
			}
		}
		if !gone {
			break
		}
		list, last = agui.NewList(), eventlog.Cursor{}
	}
	at := eventlog.Cursor{}
	for at != last { // what came after the follower was told to end
		var err error
		for f, e := range w.Events(bg, thread, last, EventOptions{NoWait: true}) {
			if code(e) == "cursor_gone" {
				list, last = agui.NewList(), eventlog.Cursor{}
				break
			}
			apply(w.tb, list, f, e)
			if last, err = eventlog.ParseCursor(f.ID); err != nil {
				w.tb.Error(err)
				return
			}
		}
		at = w.cursor(thread)
	}
	m, err := w.Messages(bg, thread, 0, "")
	if err != nil {
		w.tb.Error(err)
	}
	if diff := cmp.Diff(plain(m.Messages), plain(list.Messages())); diff != "" {
		w.tb.Errorf("%s: who followed holds %s", thread, diff)
	}
}

func apply(tb testing.TB, list *agui.List, f Frame, err error) {
	tb.Helper()
	if err != nil {
		tb.Error(err)
		return
	}
	e, err := agui.Decode(f.Data)
	if err != nil {
		tb.Error(err)
		return
	}
	list.Apply(e)
}
