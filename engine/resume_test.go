package engine

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestResumeOfWhatIsOver: answers to requests that were settled, have expired or
// belong to a turn long gone are taken and change nothing; so are those that lack
// some of what is asked.
func TestResumeOfWhatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"go": asks("c1"), "both": two})
		defer w.close()
		settle := map[string]func(thread, id string){
			"settled": func(_, id string) {
				if _, err := w.Resolve(bg, id, Answer{Approved: yes()}); err != nil {
					t.Fatal(err)
				}
			},
			"expired": func(string, string) { w.pass(25 * time.Hour) },
			"cancelled": func(thread, _ string) {
				if _, err := w.Cancel(bg, thread, "r1"); err != nil {
					t.Fatal(err)
				}
			},
		}
		for thread, f := range settle {
			w.stream(w.start(thread, "r1", "go"))
			p, err := w.Requests(bg, thread, "pending")
			if err != nil || len(p) != 1 {
				t.Fatalf("%s: %v, %v", thread, p, err)
			}
			f(thread, p[0].ID)
			w.free(thread)
			before := w.record(thread).Runs
			entry := approve(p[0].ID, `{"approved":true}`)
			s, err := w.Start(bg, w.answer(thread, "late", entry))
			if err != nil || !s.Attached || !s.Resumed || w.record(thread).Runs != before {
				t.Errorf("%s: %+v, %v", thread, s, err)
			}
			if conflict := len(s.Conflicts) > 0; conflict != (thread != "settled") {
				t.Errorf("%s: a conflict is told: %v", thread, conflict)
			}
			// With a new message it is a run like any other.
			r := w.request(thread, "next", "hi")
			r.Input.Resume = append(r.Input.Resume, entry)
			if s, err := w.Start(bg, r); err != nil || s.Attached {
				t.Errorf("%s, with a message: %+v, %v", thread, s, err)
			}
			if run := w.settled(thread, "next"); run.State != RunFinished {
				t.Errorf("%s, with a message: %+v", thread, run)
			}
		}
		if _, err := w.Start(bg, w.answer("nowhere", "r1", approve("q1", `{"approved":true}`))); code(err) != "unknown_interrupt" {
			t.Errorf("in a thread that is not there: %v", err)
		}

		// One of two is answered: the other goes on waiting.
		w.stream(w.start("part", "r1", "both"))
		p, err := w.Requests(bg, "part", "pending")
		if err != nil || len(p) != 2 {
			t.Fatalf("%v, %v", p, err)
		}
		s, err := w.Start(bg, w.answer("part", "r2", approve(p[1].ID, `{"approved":true}`)))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.stream(s); got[len(got)-1] != "finished interrupt" {
			t.Errorf("%q", got)
		}
		if left, _ := w.Requests(bg, "part", "pending"); len(left) != 1 || left[0].ID != p[0].ID {
			t.Errorf("left: %+v", left)
		}
		if s, err = w.Start(bg, w.answer("part", "r3", approve(p[0].ID, `{"approved":true}`))); err != nil {
			t.Fatal(err)
		}
		if got := w.stream(s); got[len(got)-1] != `finished {"stopReason":"end_turn"}` {
			t.Errorf("%q", got)
		}
	})
}
