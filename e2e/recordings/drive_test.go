package recordings_test

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/e2e/recordings/player"
	"github.com/agentstream-go/agentstream/engine"
)

// workers is how many sessions are driven at a time: most wait for a process to
// start.
const workers = 6

// playerFolder is where the player is, once it is built.
var playerFolder string

// playerBinary builds the player, a program of its own: to start the test binary so
// often, with the race detector at that, would take most of the time.
var playerBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "agentstream-player-")
	if err != nil {
		return "", err
	}
	playerFolder = dir
	path := filepath.Join(dir, "player")
	cmd := exec.Command("go", "build", "-o", path, "./player/agent")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if playerFolder != "" {
		_ = os.RemoveAll(playerFolder)
	}
	os.Exit(code)
}

// serve starts a server for the player. Below its working folder each session has
// one of its own.
func serve(t testing.TB, policy string, options ...harness.Option) *harness.Server {
	t.Helper()
	harness.Require(t)
	agent, err := playerBinary()
	if err != nil {
		t.Fatal(err)
	}
	agent = "    command: [" + agent + "]\n"
	config := "agents:\n  player:\n" + agent +
		"  gemini:\n" + agent + "    auth: gemini-api-key\n" +
		"permissions: { default: " + policy + " }\n"
	return harness.Start(t, append([]harness.Option{harness.Config(config), harness.Flags("--verify")}, options...)...)
}

// each runs a subtest for each session, several at a time.
func each(t *testing.T, sessions []*session, test func(t *testing.T, s *session)) {
	t.Helper()
	next := make(chan *session)
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for s := range next {
				t.Run(s.Name, func(t *testing.T) { test(t, s) })
			}
		})
	}
	for _, s := range sessions {
		next <- s
	}
	close(next)
	wg.Wait()
}

// driver leads a session through a thread as its user did.
type driver struct {
	t      *testing.T
	s      *harness.Server
	dir    string
	agent  string
	thread string

	// answer says what a request is answered with, by its number in the session;
	// an empty option leaves it to the recorded cancellation.
	answer func(n int, r engine.Request) (option string)

	asked []string // requests by number
	live  *live
}

func newDriver(t *testing.T, srv *harness.Server, s *session) *driver {
	t.Helper()
	d := &driver{t: t, s: srv.For(t), agent: "player", thread: harness.ID(t, "thread")}
	d.dir = filepath.Join(srv.Cwd, d.thread)
	if s.Agent == "gemini" {
		d.agent = "gemini"
	}
	d.answer = func(n int, _ engine.Request) string {
		if n < len(s.Replies) {
			return s.Replies[n].Option
		}
		return ""
	}
	s.write(t, d.dir)
	return d
}

// say sends a prompt and leads its turn to the end.
func (d *driver) say(prompt string) engine.Run {
	d.t.Helper()
	for _, why := range []string{player.FileCancel, player.FileStuck} {
		_ = os.Remove(filepath.Join(d.dir, why)) // it may be there from a turn that ended otherwise
	}
	var run engine.Run
	d.s.Post(harness.ThreadPath(d.thread, "/runs"), map[string]any{"agent": d.agent, "input": prompt, "cwd": d.dir}, &run)
	if d.live == nil {
		d.live = follow(d.s, d.thread)
	}
	cancelled := map[string]bool{}
	var now engine.Thread
	ends, looks := -1, 0
	d.s.WaitFor("the end of the turn", func() bool {
		stop := d.signalled(player.FileCancel) || d.signalled(player.FileStuck)
		n := d.live.ends()
		if looks++; n == ends && !stop && looks%20 != 0 {
			return false // nothing has happened that the thread would show
		}
		ends, now = n, engine.Thread{}
		d.s.Get(harness.ThreadPath(d.thread, ""), &now)
		if now.Pending > 0 {
			d.answerAll()
		}
		if now.State != "idle" && stop && !cancelled[now.LastRun.ID] {
			cancelled[now.LastRun.ID] = true
			d.cancel(now.LastRun.ID)
		}
		return now.State == "idle"
	})
	return *now.LastRun
}

func (d *driver) signalled(why string) bool {
	_, err := os.Stat(filepath.Join(d.dir, why))
	return err == nil
}

func (d *driver) cancel(run string) {
	d.s.Post("/v1/runs/"+url.PathEscape(run)+"/cancel?threadId="+url.QueryEscape(d.thread), nil, nil)
}

func (d *driver) requests() []engine.Request {
	var out struct{ Requests []engine.Request }
	d.s.Get("/v1/requests?threadId="+url.QueryEscape(d.thread), &out)
	return out.Requests
}

func (d *driver) answerAll() {
	for _, r := range d.requests() {
		n := slices.Index(d.asked, r.ID)
		if n < 0 {
			n = len(d.asked)
			d.asked = append(d.asked, r.ID)
		}
		if r.State != "pending" {
			continue
		}
		if option := d.answer(n, r); option != "" {
			got := d.s.Do("POST", "/v1/requests/"+url.PathEscape(r.ID)+"/resolve", map[string]string{"optionId": option})
			if got.Status != 200 && got.Code != "already_resolved" { // the turn may end just now
				d.t.Errorf("resolve %s: %d %s", r.ID, got.Status, got.Body)
			}
		}
	}
}

// live is a reader of the thread's log that was there from the start.
type live struct {
	st   *harness.Stream
	mu   sync.Mutex
	got  []harness.Event
	over int
	done chan struct{}
}

func follow(s *harness.Server, thread string) *live {
	l := &live{st: s.Events(thread, ""), done: make(chan struct{})}
	go func() {
		defer close(l.done)
		for {
			e, err := l.st.Next()
			if err != nil {
				return
			}
			l.mu.Lock()
			l.got = append(l.got, e)
			if harness.Ended(e) {
				l.over++
			}
			l.mu.Unlock()
		}
	}()
	return l
}

func (l *live) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.got)
}

// ends counts the runs that have ended.
func (l *live) ends() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.over
}

func (l *live) close() {
	l.st.Close()
	<-l.done
}
