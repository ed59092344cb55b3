package engine

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/source"
)

func openSQLite(tb testing.TB) *sqlite.Log {
	tb.Helper()
	l, err := sqlite.Open(filepath.Join(tb.TempDir(), "log.db"), sqlite.Options{Exclusive: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	return l
}

// TestOnSQLite runs many threads at once, with approvals and cancels, on the
// store that is the default, and leaves nothing behind.
func TestOnSQLite(t *testing.T) {
	before := runtime.NumGoroutine()
	log := openSQLite(t)
	idle := runtime.NumGoroutine()
	w := newWorld(t, log, map[string]script{"ask": asks("c"), "wait": untilCancelled("x")}, func(o *Options) { o.Limits.Processes = 64 })
	var wg sync.WaitGroup
	for i := range 24 {
		wg.Go(func() {
			id := fmt.Sprint("t", i)
			text := []string{"hi", "ask", "wait"}[i%3]
			s, err := w.Start(bg, w.requestOf(id, "r1", "u", text))
			if err != nil {
				t.Error(err)
				return
			}
			switch text {
			case "wait":
				if run, err := w.Cancel(bg, id, "r1"); err != nil || run.State != RunCancelled {
					t.Errorf("%+v, %v", run, err)
				}
			case "ask":
				w.stream(s)
				p, err := w.Requests(bg, id, "pending")
				if err != nil || len(p) != 1 {
					t.Errorf("%d pending, %v", len(p), err)
					return
				}
				r := w.requestOf(id, "r2", "u", text)
				r.Input.Resume = append(r.Input.Resume, approve(p[0].ID, `{"approved":true}`))
				if s, err = w.Start(bg, r); err != nil {
					t.Error(err)
				}
			}
			w.stream(s)
		})
	}
	wg.Wait()
	w.close()
	deadline := time.Now().Add(30 * time.Second)
	for runtime.NumGoroutine() > idle && time.Now().Before(deadline) {
		runtime.Gosched()
	}
	if n := runtime.NumGoroutine(); n > idle {
		t.Errorf("%d goroutines, %d without an engine, %d without a log", n, idle, before)
	}
}

// TestReopenedSQLite: a thread that was made by one engine is read by the next.
func TestReopenedSQLite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.db")
	var want Messages
	for i := range 3 {
		log, err := sqlite.Open(path, sqlite.Options{Exclusive: true})
		if err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, log, nil)
		w.n = 10 * i
		if i > 0 {
			if got, err := w.Messages(bg, "t", 0, ""); err != nil || len(got.Messages) != 2*i || got.Cursor != want.Cursor {
				t.Errorf("%d: %d messages as of %s, %v", i, len(got.Messages), got.Cursor, err)
			}
		}
		w.stream(w.start("t", fmt.Sprint("r", i), strings.Repeat("long ", 20_000)))
		w.free("t")
		want, _ = w.Messages(bg, "t", 0, "")
		w.close()
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStoredListIsWhatTheLogSays: opening a thread by its stored list gives the
// same as folding everything.
func TestStoredListIsWhatTheLogSays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemlog()
		w := newWorld(t, log, map[string]script{"ask": asks("c")})
		for i := range 20 {
			w.stream(w.start("t", fmt.Sprint("r", i), strings.Repeat("x", 10_000)))
			w.free("t")
		}
		log.mu.Lock()
		stored := len(log.threads["t"].keys[keyList])
		log.mu.Unlock()
		if stored < 64<<10 {
			t.Errorf("the stored list has %d bytes", stored)
		}
		w.close()
		w = newWorld(t, log, nil)
		w.close() // verifies
	})
}

// flood is a source that says n chunks a turn.
type flood int

func (f flood) Open(context.Context, source.Options) (source.Session, error) { return f, nil }
func (flood) ID() string                                                     { return "" }
func (flood) Close() error                                                   { return nil }
func (f flood) Run(_ context.Context, t source.Turn) (source.StopReason, error) {
	for range f {
		t.Handler.OnMessageChunk("twelve bytes")
	}
	return source.EndTurn, nil
}

// BenchmarkChunk is a chunk's way from the source into the log, in memory and on
// disk.
func BenchmarkChunk(b *testing.B) {
	for name, open := range map[string]func() eventlog.Log{
		"memory": func() eventlog.Log { return &discard{newMemlog()} },
		"sqlite": func() eventlog.Log { return openSQLite(b) },
	} {
		b.Run(name, func(b *testing.B) {
			e, err := New(bg, Options{Log: open(), Agents: []Agent{{Name: "flood", Source: flood(b.N)}}, Cwd: b.TempDir()})
			if err != nil {
				b.Fatal(err)
			}
			defer e.Close(bg)
			b.ReportAllocs()
			b.ResetTimer()
			_, err = e.Start(bg, StartRequest{Agent: "flood", Input: agui.Input{ThreadID: "t", RunID: "r", Messages: []agui.Message{user("u", "go")}}})
			if err != nil {
				b.Fatal(err)
			}
			c := e.use("t")
			defer c.release()
			if t := c.open(); t != nil {
				<-t.done
			}
		})
	}
}

// discard is a log that keeps no events, to measure what stands before it.
type discard struct{ *memlog }

func (d *discard) Append(ctx context.Context, b eventlog.Batch) (eventlog.Cursor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if b.Thread == "" {
		return eventlog.Cursor{}, nil
	}
	t := d.thread(b.Thread)
	t.trimmed += uint64(len(b.Events))
	return t.head(), nil
}

// FuzzResume: whatever a client posts, only approved: true approves.
func FuzzResume(f *testing.F) {
	for _, s := range []string{`{"approved":true}`, `{"approved":false}`, `{"Approved":1}`, `null`, `[true]`, `{"optionId":"yes"}`, `{"approved":true,"optionId":"no"}`} {
		f.Add(s, "resolved")
	}
	f.Fuzz(func(t *testing.T, payload, status string) {
		r := approve("i", payload)
		r.Status = status
		q := source.Request{Options: yesNo}
		a := resumed(r, false)
		chosen, err := choose(q, a)
		if err != nil {
			chosen = source.Refuse(q)
		}
		if allows := chosen.OptionID == "yes" || chosen.OptionID == "always"; allows != (a.Approved != nil && *a.Approved && err == nil && a.OptionID != "no") {
			t.Errorf("%s: %+v", payload, chosen)
		}
		if chosen.OptionID != "no" && (status != "resolved" || !strings.Contains(payload, "true")) {
			t.Errorf("%s %s approves", status, payload)
		}
		_ = contentParts(agui.Message{Content: []byte(payload)})
	})
}

// Who asks while the server stops, when the log is closed already, is told so: it
// is no fault, and there is somewhere to come again.
func TestRequestsMeetAClosedLog(t *testing.T) {
	log := openSQLite(t)
	w := newWorld(t, log, nil)
	w.start("thread", "run", "hi")
	w.settled("thread", "run")
	w.close()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	frames := func(seq iter.Seq2[Frame, error]) (last error) {
		for _, err := range seq {
			last = err
		}
		return last
	}
	title, cursor := "a title", eventlog.Cursor{Gen: 1, Seq: 1}
	for what, ask := range map[string]func() error{
		"cancel":    func() error { _, err := w.Cancel(bg, "thread", "run"); return err },
		"configure": func() error { _, err := w.Configure(bg, "thread", ThreadPatch{Title: &title}); return err },
		"delete":    func() error { return w.Delete(bg, "thread", false) },
		"events":    func() error { return frames(w.Events(bg, "thread", eventlog.Cursor{}, EventOptions{})) },
		"grants":    func() error { _, err := w.Grants(bg, "thread"); return err },
		"history":   func() error { _, err := w.History(bg, "thread", "openai"); return err },
		"join":      func() error { return frames(w.Join(bg, JoinRequest{Thread: "thread"})) },
		"messages":  func() error { _, err := w.Messages(bg, "thread", 0, ""); return err },
		"request":   func() error { _, err := w.Engine.Request(bg, "q"); return err },
		"requests":  func() error { _, err := w.Requests(bg, "", ""); return err },
		"resolve":   func() error { _, err := w.Resolve(bg, "q", Answer{OptionID: "yes"}); return err },
		"revoke":    func() error { return w.Revoke(bg, "g") },
		"rounds":    func() error { _, _, err := w.Rounds(bg, "thread"); return err },
		"run":       func() error { _, err := w.Run(bg, "thread", "run"); return err },
		"runs":      func() error { _, err := w.Runs(bg, "thread"); return err },
		"seek":      func() error { return w.Seek(bg, "thread", cursor) },
		"start":     func() error { _, err := w.Start(bg, w.request("thread", "next", "hi")); return err },
		"thread":    func() error { _, err := w.Thread(bg, "thread"); return err },
		"threads":   func() error { _, err := w.Threads(bg, ThreadQuery{}); return err },
	} {
		if err := ask(); code(err) != "draining" {
			t.Errorf("%s: %v", what, err)
		}
	}
}
