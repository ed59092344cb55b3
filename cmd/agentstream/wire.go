package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-shellwords"
	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/internal/catalog"
	"github.com/agentstream-go/agentstream/internal/proc"
	"github.com/agentstream-go/agentstream/server"
	"github.com/agentstream-go/agentstream/source/all"
)

// setup is what the flags, the environment and the file say together.
type setup struct {
	data   string
	config string
	agents []string // NAME=COMMAND…
	record bool
	debug  bool
	roots  []string // beside the file's
	mark   string   // of the agents' processes, by the data folder

	file    config
	found   []catalog.Found
	machine catalog.Machine
}

func (s *setup) flags(c *cobra.Command) {
	c.Flags().StringVar(&s.data, "data", defaultData(), "data folder")
	c.Flags().StringVar(&s.config, "config", defaultConfig(), "configuration file")
	c.Flags().StringArrayVar(&s.agents, "agent", nil, "another agent, as NAME=COMMAND… (repeatable)")
}

// load reads the file and looks for agents.
func (s *setup) load(c *cobra.Command) error {
	named := c.Flags().Changed("config") || os.Getenv("AGENTSTREAM_CONFIG") != ""
	var err error
	if s.file, err = loadConfig(s.config, named); err != nil {
		return &exitError{code: exitUsage, err: err}
	}
	for _, a := range s.agents {
		name, line, ok := strings.Cut(a, "=")
		if !ok || !agentName.MatchString(name) {
			return usage("--agent %q: write NAME=COMMAND, the name in lower case, at most 32 characters", a)
		}
		argv, err := shellwords.Parse(line)
		if err != nil || len(argv) == 0 {
			return usage("--agent %s: the command cannot be split into words", name)
		}
		if s.file.Agents == nil {
			s.file.Agents = map[string]agentConfig{}
		}
		given := s.file.Agents[name]
		given.Command = argv
		s.file.Agents[name] = given
	}
	s.machine = catalog.Here()
	s.found = catalog.Find(s.machine)
	return nil
}

// engineAgents lists what can be run: the configured ones, the demo, and what was
// found, in that order of right to a name.
func (s *setup) engineAgents() ([]engine.Agent, error) {
	var out []engine.Agent
	taken := map[string]bool{}
	names := make([]string, 0, len(s.file.Agents))
	for name := range s.file.Agents {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		a, err := s.configured(name, s.file.Agents[name])
		if err != nil {
			return nil, &exitError{code: exitUsage, err: fmt.Errorf("agents.%s: %w", name, err)}
		}
		out, taken[name] = append(out, a), true
	}
	if !taken["demo"] {
		a, err := s.demo()
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	for _, f := range s.found {
		if f.State != catalog.Missing && !taken[f.Name] {
			src := all.ACP(s.command(all.Command{Name: f.Name, Argv: f.Argv, Env: f.Env, InheritEnv: f.InheritEnv, Auth: f.Auth, Login: f.LoginHint, Install: f.Install}))
			out = append(out, engine.Agent{Name: f.Name, Type: f.Type, Source: src, StartTimeout: bySource})
		}
	}
	return out, nil
}

// bySource: an ACP agent's start is bounded by its source, which hears every sign
// of life and knows what was under way.
const bySource = -1

func (s *setup) configured(name string, a agentConfig) (engine.Agent, error) {
	cmd := all.Command{
		Name: name, Argv: a.Command, Env: a.Env, InheritEnv: a.InheritEnv, Auth: a.Auth,
		StartTimeout: time.Duration(a.StartTimeout), MCPServers: a.MCPServers,
	}
	for _, f := range s.found {
		// A configured agent that is a known one needs no less than that one.
		if f.Name == name || filepath.Base(f.Path) == filepath.Base(a.Command[0]) {
			cmd.Login, cmd.Install = f.LoginHint, f.Install
			cmd.InheritEnv = append(slices.Clone(cmd.InheritEnv), f.InheritEnv...)
			break
		}
	}
	out := engine.Agent{
		Name: name, Type: "acp", Mode: a.Mode, Model: a.Model,
		IdleTimeout: time.Duration(a.IdleTimeout), StartTimeout: bySource,
		SilenceTimeout: time.Duration(a.TurnSilenceTimeout),
	}
	if a.Cwd != "" {
		dir, err := home(a.Cwd)
		if err != nil {
			return out, err
		}
		out.Cwd = dir
	}
	out.Source = all.ACP(s.command(cmd))
	return out, nil
}

// command completes what every agent is started with.
func (s *setup) command(c all.Command) all.Command {
	c.Mark, c.Elicitation, c.Version = s.mark, true, version
	return c
}

// demo runs this binary itself.
func (s *setup) demo() (engine.Agent, error) {
	self, err := os.Executable()
	if err != nil {
		return engine.Agent{}, fmt.Errorf("the program's own path is not known, so that demo cannot be offered: %w", err)
	}
	env := map[string]string{}
	for _, kv := range os.Environ() {
		if k, v, _ := strings.Cut(kv, "="); strings.HasPrefix(k, "AGENTSTREAM_DEMO_") {
			env[k] = v
		}
	}
	return engine.Agent{Name: "demo", Type: "acp", StartTimeout: bySource, Source: all.ACP(s.command(all.Command{Name: "demo", Argv: []string{self, "acp-demo"}, Env: env}))}, nil
}

// machinery is an open data folder with an engine on it.
type machinery struct {
	lock   *os.File
	log    eventlog.Log
	engine *engine.Engine
}

// open takes the folder (which is locked by lock) into use.
func (s *setup) open(ctx context.Context, f folder, lock *os.File, policy engine.Policy, logs io.Writer) (*machinery, error) {
	sum := sha256.Sum256([]byte(f))
	s.mark = hex.EncodeToString(sum[:8])
	// An owner of the folder who was killed may have left agents.
	if err := proc.Sweep(s.mark); err != nil {
		fmt.Fprintf(logs, "agentstream: an agent of an earlier run is still there: %v\n", err)
	}
	agents, err := s.engineAgents()
	if err != nil {
		return nil, err
	}
	log, err := sqlite.Open(f.database(), sqlite.Options{Exclusive: true})
	if err != nil {
		return nil, err
	}
	o := engine.Options{
		Log: log, Agents: agents, Policy: policy, OnInterrupt: s.file.OnInterrupt,
		RequestTTL:      time.Duration(s.file.RequestTTL),
		Limits:          s.file.Limits.engine(),
		Retention:       s.file.Retention.engine(),
		ShutdownTimeout: time.Duration(s.file.ShutdownTimeout), Record: s.record,
		Logger: slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: s.level()})),
	}
	if o.Roots = s.roots; len(s.roots) > 0 && len(s.file.WorkspaceRoots) == 0 {
		dir, err := os.Getwd()
		if err != nil {
			_ = log.Close()
			return nil, err
		}
		o.Roots = append(o.Roots, dir)
	}
	for _, root := range s.file.WorkspaceRoots {
		dir, err := existing(root)
		if err != nil {
			_ = log.Close()
			return nil, err
		}
		o.Roots = append(o.Roots, dir)
	}
	e, err := engine.New(ctx, o)
	if err != nil {
		_ = log.Close()
		return nil, err
	}
	return &machinery{lock: lock, log: log, engine: e}, nil
}

// existing is a workspace root, which has to be a folder: one that is written
// wrong would refuse every cwd without saying why.
func existing(root string) (string, error) {
	dir, err := home(root)
	if err != nil {
		return "", err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("workspace_roots: %s is not a folder; make it, or take it out of the configuration", root)
	}
	return dir, nil
}

func (s *setup) level() slog.Level {
	if s.debug {
		return slog.LevelDebug
	}
	return slog.LevelWarn
}

// close ends what runs and gives the folder back.
func (m *machinery) close(ctx context.Context) error {
	err := m.engine.Close(ctx)
	if e := m.log.Close(); err == nil {
		err = e
	}
	_ = m.lock.Close()
	return err
}

// listed is what GET /v1/agents and the agents command show.
func (s *setup) listed(agents []engine.Agent) []server.Agent {
	var out []server.Agent
	seen := map[string]bool{}
	for _, a := range agents {
		i := slices.IndexFunc(s.found, func(f catalog.Found) bool { return f.Name == a.Name })
		if _, own := s.file.Agents[a.Name]; i >= 0 && !own {
			continue
		}
		entry := server.Agent{Name: a.Name, Type: a.Type, State: string(catalog.Ready)}
		if c, own := s.file.Agents[a.Name]; own {
			path, err := s.machine.LookPath(c.Command[0])
			if entry.Path = path; err != nil {
				entry.State, entry.Path = string(catalog.Missing), ""
			}
		}
		out, seen[a.Name] = append(out, entry), true
	}
	for _, f := range s.found {
		if !seen[f.Name] {
			out = append(out, server.Agent{Name: f.Name, Type: f.Type, State: string(f.State), Version: f.Version, Path: f.Path, Install: f.Install})
		}
	}
	return out
}
