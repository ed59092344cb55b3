package agents_test

import (
	"maps"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/internal/aguitest"
	"github.com/agentstream-go/agentstream/internal/fakellm"
)

// Each agent, from its first words to what it remembers after a restart, with both
// clients at once.
func TestAgents(t *testing.T) {
	harness.Require(t)
	isolate(t)
	for _, a := range fleet {
		t.Run(a.name, func(t *testing.T) {
			a.wanted(t)
			d := newDesk(t, a)
			d.each(t, "talking", a.name, talking)
			d.each(t, "asking", d.asking, asking)
			d.s.Stop()
			d.s.NothingLeft()
			d.s.Restart()
			d.each(t, "restarted", a.name, restarted)
		})
	}
}

// desk is a server with one agent, in both configurations, and its model.
type desk struct {
	s      *harness.Server
	a      agent
	model  *fakellm.Model
	asking string // name of the agent that asks

	starting sync.Mutex
	mu       sync.Mutex
	chats    map[string]*chat
}

func newDesk(t *testing.T, a agent) *desk {
	d := &desk{a: a, model: fakellm.New(fakellm.Options{}), asking: a.name, chats: map[string]*chat{}}
	llm := httptest.NewServer(d.model)
	t.Cleanup(llm.Close)
	home := filepath.Join(t.TempDir(), "home")
	known := strings.NewReplacer("$URL", llm.URL, "$HOME", home)
	for name, text := range a.files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(known.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	agents := map[string]any{a.name: a.config(a.env, known)}
	if a.ask != nil {
		d.asking = a.name + "-ask"
		agents[d.asking] = a.config(a.asking(), known)
	}
	config, err := yaml.Dump(map[string]any{"agents": agents})
	if err != nil {
		t.Fatal(err)
	}
	d.s = harness.Start(t, harness.Flags("--verify"), harness.Config(string(config)), func(s *harness.Server) { s.Home = home })
	return d
}

// config is the agent's entry in the configuration file.
func (a agent) config(env map[string]string, known *strings.Replacer) map[string]any {
	env = maps.Clone(env)
	for name, value := range env {
		env[name] = known.Replace(value)
	}
	return map[string]any{"command": a.command(), "env": env, "auth": a.auth}
}

// each plays scenarios with both clients at the same time. A conversation is taken
// up where it was left.
func (d *desk) each(t *testing.T, group, as string, list []scenario) {
	t.Run(group, func(t *testing.T) {
		for _, v := range aguitest.Versions {
			t.Run(string(v), func(t *testing.T) {
				t.Parallel()
				c := d.chat(t, v, as)
				for i, one := range list {
					t.Run(one.name, func(t *testing.T) {
						if i == 0 { // agents that start together for the first time are in each other's way
							d.starting.Lock()
							defer d.starting.Unlock()
						}
						c.try(t, one)
					})
				}
			})
		}
	})
}

func (d *desk) chat(t *testing.T, v agui.Version, as string) *chat {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := as + " " + string(v)
	c := d.chats[key]
	if c == nil {
		c = &chat{t: t, s: d.s, a: d.a, model: d.model, version: v, as: as}
		c.restart()
		d.chats[key] = c
	}
	return c
}

// try plays a scenario, and once more with a new process of the agent if that
// fails: agents have their own bad moments.
func (c *chat) try(t *testing.T, one scenario) {
	c.t, c.problems = t, nil
	one.play(c)
	first := c.problems
	if len(first) == 0 {
		return
	}
	t.Logf("tried again, because:\n%s", strings.Join(first, "\n"))
	c.problems = nil
	c.restart()
	one.play(c)
	if len(c.problems) > 0 {
		t.Errorf("again:\n%s", strings.Join(c.problems, "\n"))
	}
}
