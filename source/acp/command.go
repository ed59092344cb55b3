package acp

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agentstream-go/agentstream/internal/proc"
	"github.com/agentstream-go/agentstream/source"
)

// Command is an agent that speaks ACP on its standard input and output. It is
// a source.Source: each session has a process of its own. A Command is not
// changed by use, so one value serves concurrent calls of Open.
type Command struct {
	Name string   // what the agent is called in messages; empty: its program
	Argv []string // program and arguments

	Env        map[string]string // added to what an agent gets of the environment anyway
	InheritEnv []string          // names that are passed on beside the usual ones

	Auth    string // id of the authentication method to call after initialize, if any
	Login   string // the command by which a person logs in, told when a login is missing
	Install string // the command that installs the agent, told when it is missing

	// StartTimeout bounds each silence while a session is opened: whatever the
	// agent says renews it. Zero: two minutes.
	StartTimeout time.Duration
	// CancelGrace is how long a cancelled turn may take to end before the agent
	// is killed. Zero: ten seconds.
	CancelGrace time.Duration
	// StopGrace is how long the agent may take to end after its input was
	// closed, and again after SIGTERM. Zero: two seconds.
	StopGrace time.Duration

	// MCPServers are servers of the Model Context Protocol for the agent, each
	// as ACP has it: name, command, args, env, or type, name, url, headers. env
	// and headers may also be plain maps.
	MCPServers []map[string]any
	// Elicitation says to the agent that forms and pages can be asked for.
	Elicitation bool

	Mark    string // begins the process's mark, see proc.Sweep
	MaxLine int    // the longest line that is taken, a longer one is dropped alone; zero: 32 MiB
	Version string // of the program that uses this package, told to the agent
}

const (
	defaultStartTimeout = 2 * time.Minute
	defaultCancelGrace  = 10 * time.Second
)

// Open starts the agent and gives a session that is ready for a prompt. On
// failure nothing of the agent is left.
func (c *Command) Open(ctx context.Context, o source.Options) (source.Session, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(o.Cwd) {
		return nil, &source.Error{Code: source.CodeAgentStartFailed, Message: fmt.Sprintf("the working folder %q is not absolute", o.Cwd)}
	}
	p, err := proc.Start(proc.Spec{
		Argv: c.Argv, Dir: o.Cwd, Env: c.Env, InheritEnv: c.InheritEnv, Mark: c.Mark,
		InputGrace: c.StopGrace, TermGrace: c.StopGrace,
	})
	if err != nil {
		return nil, c.startError(err)
	}
	s, err := c.open(ctx, o, link{in: p.Stdin, out: p.Stdout, agent: p})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Command) startError(err error) error {
	if errors.Is(err, proc.ErrNotFound) {
		fix := ""
		if c.Install != "" {
			fix = "install it: " + c.Install
		}
		return &source.Error{Code: source.CodeAgentMissing, Message: c.name() + " is not installed: " + err.Error(), Fix: fix, Err: err}
	}
	return &source.Error{Code: source.CodeAgentStartFailed, Message: c.name() + " cannot be started: " + err.Error(), Err: err}
}

func (c *Command) name() string {
	switch {
	case c.Name != "":
		return c.Name
	case len(c.Argv) > 0:
		return filepath.Base(c.Argv[0])
	}
	return "the agent"
}

// lastLines gives the end of what the agent wrote to stderr, for a message.
func lastLines(stderr string, most int) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
