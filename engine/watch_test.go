package engine

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Who waits for another list of threads gets it at each change that shows, and
// what there is when the time is up.
func TestWatchThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": untilCancelled("x"), "ask": asks("c")})
		defer w.close()
		first, err := w.WatchThreads(bg, ThreadQuery{}, "")
		if err != nil || len(first.Threads) != 0 || first.Cursor == "" {
			t.Fatalf("%+v, %v", first, err)
		}
		at := first.Cursor
		after := func(what string, do func()) Thread {
			t.Helper()
			got := make(chan ThreadPage, 1)
			go func(since string) {
				page, err := w.WatchThreads(bg, ThreadQuery{}, since)
				if err != nil {
					t.Error(err)
				}
				got <- page
			}(at)
			synctest.Wait()
			select {
			case page := <-got:
				t.Fatalf("%s: before it there is %+v", what, page)
			default:
			}
			do()
			page := <-got
			if page.Cursor == at {
				t.Errorf("%s: the cursor is the same", what)
			}
			at = page.Cursor
			if len(page.Threads) == 0 {
				return Thread{}
			}
			return page.Threads[0]
		}
		// What comes together may be seen in two steps.
		until := func(what string, holds func(Thread) bool) {
			t.Helper()
			ctx, cancel := context.WithTimeout(bg, time.Hour)
			defer cancel()
			for page, err := w.Threads(ctx, ThreadQuery{}); ; page, err = w.WatchThreads(ctx, ThreadQuery{}, at) {
				at = page.Cursor
				if err != nil || ctx.Err() != nil {
					t.Fatalf("%s: %+v, %v", what, page, err)
				}
				if len(page.Threads) > 0 && holds(page.Threads[0]) {
					return
				}
			}
		}
		if got := after("a run begins", func() { w.start("t", "r1", "go") }); got.State != "running" {
			t.Errorf("%+v", got)
		}
		if got := after("a title", func() { title := "new"; _, _ = w.Configure(bg, "t", ThreadPatch{Title: &title}) }); got.Title != "new" {
			t.Errorf("%+v", got)
		}
		after("it ends", func() { _, _ = w.Cancel(bg, "t", "r1") })
		until("it has ended", func(got Thread) bool { return got.State == "idle" && got.LastRun.State == RunCancelled })
		after("a question", func() { w.start("t", "r2", "ask") })
		until("it waits", func(got Thread) bool { return got.State == "waiting" && got.Pending == 1 })
		after("an answer", func() { _, _ = w.Resolve(bg, w.pending()[0].ID, Answer{OptionID: "yes"}) })
		until("it goes on to its end", func(got Thread) bool {
			return got.State == "idle" && got.Pending == 0 && got.LastRun.State == RunFinished
		})
		w.pass(time.Second)
		if page, _ := w.Threads(bg, ThreadQuery{}); page.Cursor != at {
			at = page.Cursor // the run's end came after the answer
		}
		after("it is deleted", func() { _ = w.Delete(bg, "t", false) }) // or it waits for ever
		ctx, cancel := context.WithTimeout(bg, time.Minute)
		defer cancel()
		began := time.Now()
		if page, err := w.WatchThreads(ctx, ThreadQuery{}, at); err != nil || page.Cursor != at || time.Since(began) != time.Minute {
			t.Errorf("%+v, %v after %s", page, err, time.Since(began))
		}
	})
}

// A retry says which run it tries again, queued or not.
func TestParentOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": untilCancelled("x")})
		defer w.close()
		w.start("t", "r1", "go")
		queued := w.request("t", "r2", "again")
		queued.Input.ParentRunID, queued.Enqueue = "r1", true
		s, err := w.Start(bg, queued)
		if err != nil || s.Run.Parent != "r1" {
			t.Fatalf("%+v, %v", s, err)
		}
		if _, err := w.Cancel(bg, "t", "r1"); err != nil {
			t.Fatal(err)
		}
		w.settled("t", "r2")
		retry := w.request("t", "r3", "once more")
		retry.Input.ParentRunID = "r2"
		if s, err = w.Start(bg, retry); err != nil || s.Run.Parent != "r2" {
			t.Fatalf("%+v, %v", s, err)
		}
		w.settled("t", "r3")
		runs, err := w.Runs(bg, "t")
		if err != nil || len(runs) != 3 || runs[0].Parent != "" || runs[1].Parent != "r1" || runs[2].Parent != "r2" {
			t.Errorf("%+v, %v", runs, err)
		}
	})
}
