package torture_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/internal/proc"
	"github.com/agentstream-go/agentstream/server"
	"github.com/agentstream-go/agentstream/source/acp"
)

// clock is real time with jumps.
type clock struct{ ahead atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

func (c *clock) jump(by time.Duration) { c.ahead.Add(int64(by)) }

// inside is a server in this process: engines that follow each other on one log,
// behind one address.
type inside struct {
	t      *testing.T
	clock  clock
	log    *sqlite.Log
	agents []engine.Agent
	folder string
	mark   string
	logger *slog.Logger

	handler atomic.Pointer[server.Server]
	engine  *engine.Engine
	former  sync.WaitGroup // those that are being closed
}

const insideToken = "inside"

func newInside(t *testing.T, dir string) *inside {
	t.Helper()
	x := &inside{t: t, folder: t.TempDir(), mark: "torture" + filepath.Base(dir), logger: slog.New(slog.NewTextHandler(failing{t}, &slog.HandlerOptions{Level: slog.LevelError}))}
	var err error
	if x.log, err = sqlite.Open(filepath.Join(dir, "log.db"), sqlite.Options{Now: x.clock.now}); err != nil {
		t.Fatal(err)
	}
	demo := []string{harness.Binary(t), "acp-demo"}
	for _, a := range []acp.Command{
		{Name: "demo", Argv: demo, Env: map[string]string{"AGENTSTREAM_DEMO_PACE": "0"}},
		{Name: "steady", Argv: demo, Env: map[string]string{"AGENTSTREAM_DEMO_PACE": "400"}},
		{Name: "player", Argv: []string{playerBinary(t)}},
	} {
		a.Mark, a.Elicitation = x.mark, true
		x.agents = append(x.agents, engine.Agent{Name: a.Name, Source: &a, StartTimeout: -1, IdleTimeout: 300 * time.Millisecond})
	}
	x.begin(false)
	return x
}

// failing is where faults that the server reports of itself go.
type failing struct{ t *testing.T }

// Write implements io.Writer.
func (f failing) Write(line []byte) (int, error) {
	f.t.Errorf("the server reports: %s", line)
	return len(line), nil
}

// begin puts a new engine in the place of the one that is there, which does not
// know of it: either its leases are taken, or the clock has passed them.
func (x *inside) begin(shared bool) {
	e, err := engine.New(context.Background(), engine.Options{
		Log: x.log, Agents: x.agents, Cwd: x.folder, Shared: shared, Now: x.clock.now, Logger: x.logger,
		RequestTTL: 2 * time.Second, ShutdownTimeout: 100 * time.Millisecond,
		Retention: engine.Retention{CompactAfter: time.Second, CollapseAfter: -1},
	})
	if err != nil {
		x.t.Error(err)
		return
	}
	former := x.engine
	x.engine = e
	x.handler.Store(server.New(e, &server.Options{Token: insideToken, Verify: true, Logger: x.logger}))
	if former != nil {
		x.former.Go(func() { x.end(former) })
	}
}

func (x *inside) end(e *engine.Engine) {
	if err := e.Close(context.Background()); err != nil {
		x.t.Error(err)
	}
}

// close ends the last engine, and looks for what is left.
func (x *inside) close() {
	x.former.Wait()
	x.end(x.engine)
	if err := x.log.Close(); err != nil {
		x.t.Error(err)
	}
	if left := proc.Find(x.mark); len(left) > 0 {
		x.t.Errorf("processes are left: %v", left)
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; {
		left := ours()
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			x.t.Errorf("goroutines are left:\n%s", strings.Join(left, "\n\n"))
			return
		}
		<-tick.C
	}
}

// ours are the goroutines of what is tested.
func ours() (out []string) {
	buf := make([]byte, 1<<20)
	for _, stack := range bytes.Split(buf[:runtime.Stack(buf, true)], []byte("\n\n")) {
		if text := string(stack); !strings.Contains(text, "/e2e/") && !strings.Contains(text, "/internal/aguitest") &&
			(strings.Contains(text, "agentstream-go/") || strings.Contains(text, "database/sql") || strings.Contains(text, "modernc.org")) {
			out = append(out, text)
		}
	}
	return out
}

// Engines that lose their leases to others, and clocks that jump, make nobody see
// what is not so.
func TestTortureInside(t *testing.T) {
	p := drawn(t, shortRun/2)
	dir := t.TempDir()
	x := newInside(t, dir)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { x.handler.Load().ServeHTTP(w, r) }))
	w := newWorld(x.folder)
	w.several = true
	w.open(front.URL, insideToken)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.drive(t, w, func(thread string) { killAgent(proc.Find(x.mark), thread) })
	}()
	times := 0
	for _, e := range p.ends {
		x.clock.jump(e.jump / 2)
		if !w.comes(e.runs/2, e.events, done) {
			break
		}
		if x.clock.jump(e.jump); !e.kill {
			x.clock.jump(24 * time.Hour) // every lease has expired
		}
		x.begin(!e.kill)
		times++
	}
	<-done
	w.checkSamples(t)
	t.Logf("seed %d: %d threads, %d runs asked for, %d events seen; %d engines", p.seed, len(p.threads), w.begun.Load(), w.heard.Load(), times+1)
	w.close()
	front.Close()
	x.close()
	nothingBut(t, dir, "log.db")
}

// killAgent kills a thread's agent, which is known by its folder.
func killAgent(agents []int, thread string) {
	for _, pid := range agents {
		if dir := workingFolder(pid); filepath.Base(dir) == thread {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func workingFolder(pid int) string {
	dir, _ := filepath.EvalSymlinks(fmt.Sprintf("/proc/%d/cwd", pid)) // "": it has ended
	return dir
}
