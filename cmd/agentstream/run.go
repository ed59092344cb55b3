package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/agentstream-go/agentstream/engine"
)

type run struct {
	target
	format  string
	approve string
	cwd     string
	thread  string
	timeout time.Duration
	asJSON  bool

	agent string
	tty   bool // somebody can be asked
}

func runCommand() *cobra.Command {
	var r run
	c := &cobra.Command{
		Use:   "run AGENT [PROMPT | -]",
		Short: "Run one turn of an agent in the terminal",
		Long: "run gives the agent one prompt and shows its answer: the answer on stdout, the rest on\n" +
			"stderr. Without PROMPT, or with -, the prompt is read from stdin. With --thread the turn\n" +
			"goes on in that thread. If a server runs on the data folder, the turn runs there.\n\n" +
			"Ctrl-C cancels the turn; a second one leaves at once.\n\n" +
			"Exit code: 0 done, 1 the run failed, 2 usage, 3 timeout, 4 a request was refused or nobody\n" +
			"could be asked, 5 agent missing or not logged in, 130 cancelled.",
		Example: "  agentstream run demo help\n  git diff | agentstream run opencode 'review this' --approve reads\n  agentstream run demo 'list' --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return usage("run takes an agent and at most one prompt; quote a prompt of several words")
			}
			return nil
		},
		ValidArgsFunction: r.complete,
		RunE:              func(c *cobra.Command, args []string) error { return r.run(c, args) },
	}
	r.flags(c)
	f := c.Flags()
	f.StringVar(&r.format, "format", "text", "text, agui, events or rounds")
	f.BoolVar(&r.asJSON, "json", false, "the same as --format agui")
	f.StringVar(&r.approve, "approve", "ask", "who answers the agent's requests: ask, reads, all or none")
	f.StringVar(&r.cwd, "cwd", "", "working folder of a new thread (default: the current one, or the server's)")
	f.StringVar(&r.thread, "thread", "", "thread to go on in, or the id of a new one")
	f.DurationVar(&r.timeout, "timeout", 0, "cancel the turn after this time")
	_ = c.RegisterFlagCompletionFunc("format", fixed("text", "agui", "events", "rounds"))
	_ = c.RegisterFlagCompletionFunc("approve", fixed("ask", "reads", "all", "none"))
	_ = c.RegisterFlagCompletionFunc("thread", r.completeThreads)
	return c
}

func fixed(words ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
}

func (r *run) complete(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 || r.load(c) != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	agents, _ := r.engineAgents()
	var out []string
	for _, a := range agents {
		out = append(out, a.Name)
	}
	return out, cobra.ShellCompDirectiveNoFileComp
}

func (r *run) run(c *cobra.Command, args []string) error {
	if r.asJSON {
		r.format = "agui"
	}
	if !slices.Contains([]string{"text", "agui", "events", "rounds"}, r.format) {
		return usage("--format %q: use text, agui, events or rounds", r.format)
	}
	if !slices.Contains([]string{"ask", "reads", "all", "none"}, r.approve) {
		return usage("--approve %q: use ask, reads, all or none", r.approve)
	}
	if r.timeout < 0 {
		return usage("--timeout must not be negative")
	}
	r.agent = args[0]
	if !agentName.MatchString(r.agent) {
		return usage("%q is no agent's name; 'agentstream agents' lists them", r.agent)
	}
	prompt, err := r.prompt(c, args[1:])
	if err != nil {
		return err
	}
	if err := r.folder(); err != nil {
		return err
	}
	r.policy = r.localPolicy(c)
	cl, err := r.connect(c, true)
	if err != nil {
		return err
	}
	defer func() { _ = cl.close() }()
	t := newTurn(r, cl, c)
	return t.do(c.Context(), prompt)
}

// folder checks the working folder that was asked for.
func (r *run) folder() (err error) {
	if r.cwd == "" {
		return nil
	}
	if r.cwd, err = home(r.cwd); err != nil {
		return usage("--cwd: %v", err)
	}
	if info, err := os.Stat(r.cwd); err != nil || !info.IsDir() {
		return usage("--cwd %s is no folder", r.cwd)
	}
	r.roots = append(r.roots, r.cwd)
	return nil
}

// localPolicy is what an engine in this process goes by: where nobody can be
// asked it refuses, and says so once.
func (r *run) localPolicy(c *cobra.Command) engine.Policy {
	if r.approve == "ask" && !r.tty {
		return engine.PolicyNone
	}
	return engine.Policy(r.approve)
}

// prompt gives the prompt, and finds out whether somebody can be asked.
func (r *run) prompt(c *cobra.Command, args []string) (string, error) {
	in, isFile := c.InOrStdin().(*os.File)
	terminal := isFile && term.IsTerminal(int(in.Fd()))
	text := ""
	if len(args) == 1 && args[0] != "-" {
		text, r.tty = args[0], terminal
	} else {
		if terminal && len(args) == 0 {
			return "", usage("the prompt is missing: give it after the agent's name, or - to type it and end with Ctrl-D")
		}
		data, err := io.ReadAll(io.LimitReader(c.InOrStdin(), 16<<20))
		if err != nil {
			return "", usage("the prompt cannot be read from stdin: %v", err)
		}
		text = string(data)
	}
	if strings.TrimSpace(text) == "" {
		return "", usage("the prompt is empty")
	}
	return strings.ToValidUTF8(text, "\uFFFD"), nil
}

// newID makes an id that a person can tell from another.
func newID(prefix string) string { return prefix + strings.ToLower(rand.Text()[:16]) }

// interrupts cancels the turn at the first Ctrl-C or when the time is up, and
// leaves at the second Ctrl-C. The returned function says why it cancelled.
func (t *turn) interrupts(ctx context.Context, leave context.CancelFunc) (stop func(), why func() error) {
	sig := make(chan os.Signal, 2)
	signal.Notify(sig, os.Interrupt)
	stopped := t.stop
	var timeout <-chan time.Time
	if t.run.timeout > 0 {
		timeout = time.After(t.run.timeout)
	}
	done, cause := make(chan struct{}), make(chan error, 3)
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for cancelled := false; ; {
			select {
			case <-sig:
				if cancelled {
					t.left = true
					leave()
					return
				}
				t.tell("cancelling; Ctrl-C again leaves at once")
				cause <- errCancelled
			case <-stopped:
				stopped = nil
				cause <- errCancelled
			case <-timeout:
				timeout = nil
				cause <- errTimeout
			case <-ctx.Done():
				return
			case <-done:
				return
			}
			if !cancelled {
				cancelled = true
				t.silent()
				go t.cancel(ctx)
			}
		}
	}()
	return func() { signal.Stop(sig); close(done); <-gone }, func() error {
		select {
		case err := <-cause:
			return err
		default:
			return nil
		}
	}
}

var (
	errCancelled = errors.New("cancelled")
	errTimeout   = errors.New("timeout")
)
