package torture_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

// lanes is how many threads live at once.
const lanes = 8

// shortRun is how many runs there are unless AGENTSTREAM_TORTURE says otherwise.
const shortRun = 60

// A server that is killed again and again loses nothing that anybody has seen, and
// leaves nothing but what is asked of it.
func TestTorture(t *testing.T) {
	p := drawn(t, shortRun)
	temp := t.TempDir()
	s := harness.Start(t, harness.Flags("--verify"), harness.Env("TMPDIR="+temp), harness.Config(fmt.Sprintf(`
shutdown_timeout: 100ms
request_ttl: 2s
retention: { compact_after: 1s }
agents:
  player: { command: [%q], idle_timeout: 300ms }
  steady: { command: [%q, acp-demo], env: { AGENTSTREAM_DEMO_PACE: "400" }, idle_timeout: 300ms }
`, playerBinary(t), harness.Binary(t))))
	w := newWorld(s.Cwd)
	defer w.close()
	w.open(s.URL, s.Token)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.drive(t, w, func(thread string) { killAgent(s.Agents(), thread) })
	}()
	ended := violence(t, p.ends, w, s, done)
	<-done
	w.checkSamples(t)
	t.Logf("seed %d: %d threads, %d runs asked for, %d events seen; the server was ended %d times", p.seed, len(p.threads), w.begun.Load(), w.heard.Load(), ended)
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.NothingLeft()
	nothingBut(t, s.Data, "agentstream.db", "lock", "token")
	nothingBut(t, temp)
}

// drawn is the plan that the environment asks for, else a short one.
func drawn(t *testing.T, short uint64) *plan {
	t.Helper()
	harness.Require(t)
	sessions := recordings(t)
	p := newPlan(number(t, "AGENTSTREAM_SEED", defaultSeed), int(number(t, "AGENTSTREAM_TORTURE", short)), sessions)
	t.Logf("AGENTSTREAM_SEED=%d", p.seed)
	if only := os.Getenv("AGENTSTREAM_TORTURE_THREAD"); only != "" {
		p.threads = []threadPlan{newThread(p.seed, int(number(t, "AGENTSTREAM_TORTURE_THREAD", 0)), sessions)}
	}
	return p
}

// drive carries the plan out, several threads at a time, and checks each.
func (p *plan) drive(t *testing.T, w *world, kill func(thread string)) {
	desk, next := newDesk(w, p.seed), make(chan threadPlan)
	listening, hangUp := context.WithCancel(t.Context())
	var hearing sync.WaitGroup
	hearing.Go(func() { desk.listen(listening) })
	var group sync.WaitGroup
	for range lanes {
		group.Go(func() {
			for th := range next {
				if err := th.prepare(w.folder); err != nil {
					t.Error(err)
				}
				d := newDriver(w, p.seed, th, kill)
				err := d.run(t.Context())
				faults, log, checked := d.check(t.Context())
				if th.n%5 == 0 {
					w.sample(d, log)
				}
				if err != nil || checked != nil || len(faults) > 0 {
					all := strings.Join(faults, "\n")
					t.Errorf("AGENTSTREAM_SEED=%d AGENTSTREAM_TORTURE_THREAD=%d\n%v\n%v\n%s\n%slog:\n%s", p.seed, th.n, err, checked, all, th, around(log, all))
				}
			}
		})
	}
	for _, th := range p.threads {
		if t.Failed() {
			break
		}
		next <- th
	}
	close(next)
	group.Wait()
	if faults, err := desk.check(t.Context()); err != nil || len(faults) > 0 {
		t.Errorf("%v\n%s", err, strings.Join(faults, "\n"))
	}
	hangUp()
	hearing.Wait()
}

// violence ends the server and starts it again, as planned, until all is done.
func violence(t *testing.T, ends []end, w *world, s *harness.Server, done <-chan struct{}) (times int) {
	for _, e := range ends {
		if !w.comes(e.runs, e.events, done) {
			break
		}
		if e.kill {
			w.shut()
			s.Kill()
		} else {
			if code := s.Stop(); code != 0 {
				t.Errorf("exit code %d", code)
			}
			w.shut() // only now: who comes while it stops is to be told so
		}
		s.Restart()
		w.open(s.URL, s.Token)
		times++
	}
	return times
}

// comes waits until so many runs more have begun, and then so many events more have
// reached somebody; false: all is done before.
func (w *world) comes(runs, events int, done <-chan struct{}) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for _, x := range []struct {
		of   *atomic.Int64
		more int
	}{{&w.begun, runs}, {&w.heard, events}} {
		for at := x.of.Load(); x.of.Load() < at+int64(x.more); {
			select {
			case <-done:
				return false
			case <-tick.C:
			}
		}
	}
	return true
}

func nothingBut(t *testing.T, dir string, want ...string) {
	t.Helper()
	left := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if path != dir {
			left[e.Name()] = true
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range want {
		delete(left, name)
	}
	if len(left) > 0 {
		t.Errorf("left in %s: %v", dir, left)
	}
}
