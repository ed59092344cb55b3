package recordings_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/recordings/player"
	"github.com/agentstream-go/agentstream/e2e/recordings/recorded"
	"github.com/agentstream-go/agentstream/engine"
)

// tally counts how turns ended.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (c *tally) add(what string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	c.of[what]++
}

func (c *tally) log(t testing.TB) {
	t.Helper()
	for _, what := range slices.Sorted(maps.Keys(c.of)) {
		t.Logf("%4d %s", c.of[what], what)
	}
}

// groups are the recorded sessions by what is done with them.
type groups struct {
	files                int
	begun, goneOn, draft []*session
	left                 []string // what is done with none, and why
}

// group reads the recordings, once, and says in the first test what is left out.
func group(t testing.TB) *groups {
	t.Helper()
	files := recordings(t)
	read.Do(func() {
		all.files = len(files)
		for _, file := range files {
			all.add(t, file)
		}
		t.Logf("%d recordings", all.files)
		for _, why := range all.left {
			t.Log(why)
		}
	})
	return &all
}

var (
	read sync.Once
	all  groups
)

func (g *groups) add(t testing.TB, file string) {
	t.Helper()
	read, err := recorded.Sessions(file)
	if err != nil {
		t.Fatal(err)
	}
	var sessions []*session
	for _, s := range read {
		sessions = append(sessions, &session{Session: *s})
	}
	if len(sessions) == 0 {
		g.left = append(g.left, filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file)+": nothing is asked in it")
	}
	for _, s := range sessions {
		switch {
		case s.Draft:
			g.draft = append(g.draft, s)
		case s.Opening == "session/fork":
			g.left = append(g.left, s.Name+": goes on with a copy, which no client of the server can ask for")
		case s.Opening == "session/new":
			g.begun = append(g.begun, s)
		default:
			g.goneOn = append(g.goneOn, s)
		}
	}
}

// Every recorded session, under its agent's name and as an agent that nobody has
// heard of.
func TestRecordings(t *testing.T) {
	begun := group(t).begun
	for _, known := range []bool{true, false} {
		t.Run(map[bool]string{true: "known", false: "unknown"}[known], func(t *testing.T) {
			s := serve(t, "ask")
			var ends tally
			each(t, begun, func(t *testing.T, rec *session) {
				if !known {
					rec = rec.rename()
				}
				d := newDriver(t, s, rec)
				for _, prompt := range rec.Prompts {
					ends.add(class(d.say(prompt)))
				}
				compare(t, rec.onTheWire(), inTheList(t, d.check()))
			})
			ends.log(t)
		})
	}
}

// What was allowed or refused by hand, by policy.
func TestPolicies(t *testing.T) {
	begun := group(t).begun
	for policy, kind := range map[string]string{"all": "allow_once", "none": "reject_once"} {
		t.Run(policy, func(t *testing.T) {
			var same []*session
			for _, rec := range begun {
				other := func(r recorded.Reply) bool { return r.Kind != kind }
				if len(rec.Replies) > 0 && !slices.ContainsFunc(rec.Replies, other) {
					same = append(same, rec)
				}
			}
			s := serve(t, policy)
			var ends tally
			each(t, same, func(t *testing.T, rec *session) {
				d := newDriver(t, s, rec)
				for _, prompt := range rec.Prompts {
					r := d.say(prompt)
					ends.add(class(r))
					if r.State == engine.RunInterrupted {
						t.Error("the policy did not answer")
					}
				}
				compare(t, rec.onTheWire(), inTheList(t, d.check()))
				for i, r := range d.requests() {
					if r.State != "resolved" || r.Resolution.OptionID != rec.Replies[i].Option {
						t.Errorf("request %d is %s by %+v, recorded is %+v", i+1, r.State, r.Resolution, rec.Replies[i])
					}
				}
			})
			ends.log(t)
		})
	}
}

// Sessions that were loaded or resumed: a first turn makes the thread, the server
// starts anew, and the agent goes on with what it has of the session. What it
// tells of the past is shown by nobody.
func TestRecordingsGoOn(t *testing.T) {
	goneOn := group(t).goneOn
	s := serve(t, "ask")
	drivers := map[string]*driver{}
	var mu sync.Mutex
	each(t, goneOn, func(t *testing.T, rec *session) {
		d := newDriver(t, s, rec.seed())
		if r := d.say("remember this"); r.State != engine.RunFinished {
			t.Errorf("%+v", r)
		}
		d.live.close()
		d.live = nil
		mu.Lock()
		defer mu.Unlock()
		drivers[rec.Name] = d
	})
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.Restart()
	var ends tally
	each(t, goneOn, func(t *testing.T, rec *session) {
		d := drivers[rec.Name]
		d.t, d.s = t, s.For(t)
		rec.only().write(t, d.dir)
		before := len(d.s.Messages(d.thread).Messages)
		for _, prompt := range rec.Prompts {
			ends.add(rec.Opening + ", " + class(d.say(prompt)))
		}
		compare(t, rec.onTheWire(), inTheList(t, d.check()[before:]))
	})
	ends.log(t)
}

// seed is a session that is there to be gone on with.
func (s *session) seed() *session {
	out := &session{Session: recorded.Session{Name: s.Name, Agent: s.Agent}}
	for _, st := range s.Steps {
		if st.Method == "initialize" || st.Method == "authenticate" || st.Do == player.Answer && len(out.Steps) > 0 {
			out.Steps = append(out.Steps, st)
		}
		if st.Do == player.Await && st.Method == s.Opening {
			break
		}
	}
	id, _ := json.Marshal(s.ID)
	out.Steps = append(out.Steps,
		player.Step{Do: player.Await, ID: "new", Method: "session/new"},
		player.Step{Do: player.Answer, ID: "new", Line: fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"result":{"sessionId":%s}}`, id)},
		player.Step{Do: player.Await, ID: "prompt", Method: player.Prompt},
		player.Step{Do: player.Say, Line: fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":%s,"update":`+
			`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"I shall."}}}}`, id)},
		player.Step{Do: player.Answer, ID: "prompt", Line: `{"jsonrpc":"2.0","id":0,"result":{"stopReason":"end_turn"}}`},
	)
	return out
}

// only makes an agent that can resume and load one that can do what was recorded.
func (s *session) only() *session {
	out := *s
	out.Steps = slices.Clone(s.Steps)
	if s.Opening == "session/load" {
		for i, st := range out.Steps {
			if st.Do == player.Answer {
				out.Steps[i].Line = strings.Replace(st.Line, `"resume":`, `"resumeNot":`, 1)
				break
			}
		}
	}
	return &out
}

// Agents that answer with version 2 are told apart at once, and nothing of them
// stays.
func TestDraftIsRefused(t *testing.T) {
	draft := group(t).draft
	s := serve(t, "ask")
	var ends tally
	each(t, draft, func(t *testing.T, rec *session) {
		d := newDriver(t, s, rec)
		r := d.say(rec.Prompts[0])
		ends.add(class(r))
		if r.State != engine.RunFailed || r.Error == nil || r.Error.Code != "agent_protocol" {
			t.Errorf("%+v", r)
		}
		if m := d.check(); len(m) != 1 {
			t.Errorf("messages beside the user's: %v", m[1:])
		}
	})
	s.NothingLeft()
	ends.log(t)
}
