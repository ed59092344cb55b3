package engine

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite" // to look into the file behind the log's back

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/source"
)

// marker is in all that the deleted thread says.
const marker = "unmistakable"

// tellsAll leaves traces wherever a turn can.
func tellsAll(ctx context.Context, s *fakeSession, t source.Turn) (source.StopReason, error) {
	title := marker + " title"
	s.o.Observe(source.Fact{Title: &title, Diagnostic: marker + " diagnostic", Commands: &[]source.Command{{Name: marker}}})
	s.o.Observe(source.Fact{Line: &source.Line{FromAgent: true, Text: []byte(marker)}})
	t.Handler.OnThoughtChunk(marker)
	t.Handler.OnMessageChunk(marker)
	agentstream.Send(t.Handler, agentstream.Plan{Entries: []agentstream.PlanEntry{{Content: marker}}})
	t.Handler.OnToolCall("big", marker)
	t.Handler.OnToolCallUpdate("big", strings.Repeat(marker, 10<<10), agentstream.ToolCallStatusCompleted)
	t.Handler.OnToolCall(marker, marker)
	got := put(ctx, t, source.Request{ToolCallID: marker, Title: marker, Kind: "edit", Options: []source.Option{
		{ID: marker, Name: marker, Kind: "allow_always"}, {ID: "no", Name: "No", Kind: "reject_once"},
	}})
	if _, err := await(ctx, got); err != nil {
		return "", err
	}
	t.Handler.OnToolCallUpdate(marker, marker, agentstream.ToolCallStatusCompleted)
	return source.EndTurn, nil
}

// TestDeleteLeavesNothing looks into every table of the database for a thread that
// was deleted: at rest, with a run that is open, waiting or queued, and after it
// was compacted.
func TestDeleteLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	log, err := sqlite.Open(path, sqlite.Options{Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, log, map[string]script{
		marker + " tell": tellsAll, marker + " wait": untilCancelled(marker), "wait": untilCancelled("x"),
	}, func(o *Options) { o.Record = true })
	w.start("kept", "r1", "hello")
	w.settled("kept", "r1")
	for i, state := range []string{"idle", "open", "waiting", "queued", "compacted"} {
		thread := fmt.Sprint(marker, "/", i)
		w.start(thread, marker+"1", marker+" tell")
		if state == "waiting" {
			w.settled(thread, marker+"1")
		} else {
			w.approveNext(thread)
			w.free(thread)
		}
		switch state {
		case "open", "queued":
			w.start(thread, marker+"2", marker+" wait")
		case "compacted":
			if err := log.Compact(bg, thread, w.cursor(thread)); err != nil {
				t.Fatal(err)
			}
		}
		if state == "queued" {
			r := w.request(thread, marker+"3", marker+" wait")
			r.Enqueue = true
			if _, err := w.Start(bg, r); err != nil {
				t.Fatal(err)
			}
		}
		if state == "idle" {
			if _, err := w.Configure(bg, thread, ThreadPatch{Title: ptr(marker)}); err != nil {
				t.Fatal(err)
			}
		}
		if state != "idle" && state != "compacted" {
			if err := w.Delete(bg, thread, false); code(err) != "run_active" {
				t.Errorf("%s: deleting without force: %v", state, err)
			}
		}
		if err := w.Delete(bg, thread, true); err != nil {
			t.Fatalf("%s: %v", state, err)
		}
		if _, err := w.Thread(bg, thread); code(err) != "thread_unknown" {
			t.Errorf("%s: afterwards: %v", state, err)
		}
	}
	if err := w.Delete(bg, marker+" that never was", true); code(err) != "thread_unknown" {
		t.Errorf("a thread that never was: %v", err)
	}
	w.close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	scour(t, path)
}

// approveNext waits for the thread's next request and allows it for good.
func (w *world) approveNext(thread string) {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	for f, err := range w.RequestEvents(ctx, eventlog.Cursor{}) {
		if err != nil {
			w.tb.Fatal(err)
		}
		r, _, err := decode[Request](f.Data, nil)
		if err != nil {
			w.tb.Fatal(err)
		}
		if r.Thread == thread && r.State == "pending" {
			yes := true
			if _, err := w.Resolve(bg, r.ID, Answer{Approved: &yes, OptionID: marker, By: marker}); err != nil {
				w.tb.Fatal(err)
			}
			return
		}
	}
	w.tb.Fatal("nothing is asked")
}

// scour looks for the marker in every value of every table.
func scour(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	for _, table := range column(t, db, "SELECT name FROM sqlite_schema WHERE type = 'table'") {
		rows, err := db.Query("SELECT * FROM " + string(table))
		if err != nil {
			t.Fatal(err)
		}
		names, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values, at := make([]sql.RawBytes, len(names)), make([]any, len(names))
			for i := range values {
				at[i] = &values[i]
			}
			if err := rows.Scan(at...); err != nil {
				t.Fatal(err)
			}
			for i, v := range values {
				if bytes.Contains(v, []byte(marker)) {
					t.Errorf("%s.%s of a row has %.200q", table, names[i], v)
				}
			}
		}
		if err := rows.Err(); err != nil {
			t.Error(err)
		}
		_ = rows.Close()
	}
	// What is packed cannot be read like this: nothing but the threads' that are
	// left may be there.
	if n := column(t, db, "SELECT count(*) FROM packed"); string(n[0]) != "0" {
		t.Errorf("%s packed rows are left", n[0])
	}
}

func column(t *testing.T, db *sql.DB, query string) (out [][]byte) {
	t.Helper()
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var v []byte
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

func ptr[T any](v T) *T { return &v }
