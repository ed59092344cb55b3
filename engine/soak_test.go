package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// seed is fixed, so that a failure can be had again; the environment overrides it.
func seed(t *testing.T) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(os.Getenv("AGENTSTREAM_SEED"), 10, 64)
	if err != nil {
		n = 1
	}
	t.Logf("AGENTSTREAM_SEED=%d", n)
	return n
}

// erratic is an agent that does anything that an agent may do.
func erratic(r *rand.Rand) script {
	return func(ctx context.Context, _ *fakeSession, tn source.Turn) (source.StopReason, error) {
		var waits []<-chan source.Answer
		calls := 0
		for range r.IntN(12) {
			id := fmt.Sprint("c", r.IntN(calls+1))
			switch r.IntN(9) {
			case 0, 1:
				tn.Handler.OnMessageChunk(fmt.Sprint("text ", r.IntN(100), " "))
			case 2:
				tn.Handler.OnThoughtChunk("hm ")
			case 3:
				calls++
				tn.Handler.OnToolCall(fmt.Sprint("c", calls), "do")
			case 4:
				tn.Handler.OnToolCallArgsSnapshot(id, fmt.Sprintf(`{"n":%d}`, r.IntN(3)))
			case 5:
				tn.Handler.OnToolCallUpdate(id, "result", agentstream.ToolCallStatusCompleted)
			case 6:
				q := source.Request{ToolCallID: id, Title: "do", Kind: "execute", Options: yesNo}
				if calls == 0 {
					q.ToolCallID = ""
				}
				waits = append(waits, put(ctx, tn, q))
			case 7:
				agentstream.Send(tn.Handler, agentstream.Plan{Entries: []agentstream.PlanEntry{{Content: "x"}}})
			default:
				select {
				case <-time.After(time.Duration(r.IntN(300)) * time.Millisecond):
				case <-ctx.Done():
					return "", context.Cause(ctx)
				}
			}
		}
		for _, got := range waits {
			if r.IntN(4) > 0 {
				if _, err := await(ctx, got); err != nil {
					return "", err
				}
			}
		}
		if r.IntN(5) == 0 {
			return "", &source.Error{Code: source.CodeAgentExited, Message: "it died"}
		}
		return source.EndTurn, nil
	}
}

// TestAnythingGoes drives threads by random requests, answers, cancels, crashes
// and restarts; verify then checks every promise on each thread.
func TestAnythingGoes(t *testing.T) {
	first := seed(t)
	states := map[RunState]int{}
	collapsed := 0 // threads, and not to their end
	for n := range uint64(25) {
		synctest.Test(t, func(t *testing.T) {
			r := rand.New(rand.NewPCG(first, n))
			var log eventlog.Log = newMemlog()
			var old []func(*Options)
			if n%2 > 0 { // what is over gets old at once
				log, old = newSmalllog(), append(old, func(o *Options) {
					o.Retention = Retention{CompactAfter: 20 * time.Millisecond, CollapseAfter: 300 * time.Millisecond}
				})
			}
			scripts := map[string]script{}
			for i := range 40 {
				scripts[fmt.Sprint("p", i)] = erratic(rand.New(rand.NewPCG(first+1, n*100+uint64(i))))
			}
			w := newWorld(t, log, scripts, old...)
			var dead []*world
			seen := map[string]map[string]bool{} // messages, by thread
			for i := range 40 {
				thread := fmt.Sprint("t", r.IntN(3))
				w = anything(w, r, thread, i, &dead, old)
				if w.keeps(seen); t.Failed() {
					t.Fatalf("seed %d, world %d, step %d", first, n, i)
				}
				<-time.After(time.Duration(r.IntN(200)) * time.Millisecond)
			}
			for range 5 { // what was queued begins when what is open ends
				for _, turn := range w.turns() {
					turn.cancel(errCancelled)
					<-turn.done
				}
				synctest.Wait()
			}
			w.close()
			for _, d := range dead {
				if err := d.Close(bg); err != nil {
					t.Error(err)
				}
			}
			w.count(states)
			for _, id := range []string{"t0", "t1", "t2"} {
				if rec := w.record(id); rec != nil && rec.Floor > 0 && rec.Floor < w.cursor(id).Seq {
					collapsed++
				}
			}
			if n := len(w.conversations); n > 0 {
				t.Errorf("%d conversations are still in use", n)
			}
			if p := w.pending(); len(p) > 0 {
				t.Errorf("%d requests are pending and nothing runs", len(p))
			}
			if t.Failed() {
				t.Fatalf("seed %d, world %d", first, n)
			}
		})
	}
	if collapsed == 0 {
		t.Error("nothing was collapsed")
	}
	for _, s := range []RunState{RunFinished, RunFailed, RunCancelled, RunInterrupted, RunLost} {
		if states[s] == 0 {
			t.Errorf("no run ended as %s: %v", s, states)
		}
	}
}

// keeps checks that every message is still there that was there before.
func (w *world) keeps(seen map[string]map[string]bool) {
	w.tb.Helper()
	for _, thread := range []string{"t0", "t1", "t2"} {
		m, err := w.Messages(bg, thread, 0, "")
		if err != nil && code(err) != "thread_unknown" {
			w.tb.Errorf("%s: %v", thread, err)
			return
		}
		if err != nil {
			delete(seen, thread)
			continue
		}
		made := w.record(thread).CreatedAt.String()
		now := ids(listOf(m.Messages))
		for id := range seen[thread] {
			if seen[thread][made] && !now[id] && id != made {
				w.tb.Errorf("%s: the message %s is gone", thread, id)
			}
		}
		now[made] = true
		seen[thread] = now
	}
}

func listOf(messages []agui.Message) *agui.List {
	l := agui.NewList()
	l.Add(messages...)
	return l
}

// count adds up how runs have ended.
func (w *world) count(states map[RunState]int) {
	page, _ := w.Threads(bg, ThreadQuery{})
	for _, th := range page.Threads {
		runs, _ := w.Runs(bg, th.ID)
		for _, run := range runs {
			states[run.State]++
		}
	}
}

// anything does one thing and gives the engine to go on with.
func anything(w *world, r *rand.Rand, thread string, i int, dead *[]*world, old []func(*Options)) *world {
	w.tb.Helper()
	var err error
	run := fmt.Sprint("r", i)
	switch r.IntN(10) {
	case 0, 1, 2, 3:
		q := w.request(thread, run, fmt.Sprint("p", i))
		q.Enqueue = r.IntN(2) == 0
		_, err = w.Start(bg, q)
	case 4, 5:
		if p := w.pending(); len(p) > 0 {
			_, err = w.Resolve(bg, p[r.IntN(len(p))].ID, Answer{OptionID: []string{"yes", "no"}[r.IntN(2)]})
		}
	case 6:
		if p, _ := w.Requests(bg, thread, ""); len(p) > 0 {
			entry := approve(p[r.IntN(len(p))].ID, `{"approved":true}`)
			if r.IntN(3) == 0 {
				entry.Status = "cancelled"
			}
			q := w.request(thread, run)
			if r.IntN(3) == 0 {
				q = w.request(thread, run, fmt.Sprint("p", i))
			}
			q.Input.Resume = []agui.Resume{entry}
			_, err = w.Start(bg, q)
		}
	case 7:
		if th, e := w.Thread(bg, thread); e == nil && th.LastRun != nil {
			_, err = w.Cancel(bg, thread, th.LastRun.ID)
		}
	case 8:
		if r.IntN(2) == 0 {
			*dead = append(*dead, w) // it lives on, but has lost all its leases
		} else if err := w.Close(bg); err != nil {
			w.tb.Error(err)
		}
		next := newWorld(w.tb, w.log, w.agent.scripts, old...)
		next.n = w.n
		return next
	default:
		if r.IntN(4) == 0 {
			err = w.Delete(bg, thread, r.IntN(2) == 0)
		}
	}
	var refusal *Error
	if err != nil && (!errors.As(err, &refusal) || refusal.Code == "internal" || refusal.Code == "storage") {
		w.tb.Errorf("step %d: %v", i, err)
	}
	return w
}
