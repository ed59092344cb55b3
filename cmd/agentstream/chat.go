package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/internal/term"
)

type chat struct {
	run
	typist *typist
	input  *term.Input
}

func chatCommand() *cobra.Command {
	var r chat
	c := &cobra.Command{
		Use:   "chat AGENT",
		Short: "Have a conversation with an agent in the terminal",
		Long: "chat sends each line that is typed to the agent and shows the answer: the answer on stdout,\n" +
			"the rest on stderr. What the agent asks is asked here; the next line answers. Lines that\n" +
			"are typed while the agent works wait for their turn.\n\n" +
			chatHelp + "\n\nCtrl-C cancels the turn, and leaves at the prompt. If a server runs on the data folder, the\n" +
			"turns run there, and go on in other clients of the thread.",
		Example:           "  agentstream chat demo\n  printf 'list\\nwrite a.txt\\ny\\n' | agentstream chat demo",
		Args:              oneArg("chat takes one agent's name; 'agentstream agents' lists them"),
		ValidArgsFunction: r.complete,
		RunE:              func(c *cobra.Command, args []string) error { return r.chat(c, args[0]) },
	}
	r.flags(c)
	f := c.Flags()
	f.StringVar(&r.approve, "approve", "ask", "who answers the agent's requests: ask, reads, all or none")
	f.StringVar(&r.cwd, "cwd", "", "working folder of a new thread (default: the current one, or the server's)")
	f.StringVar(&r.thread, "thread", "", "thread to go on in, or the id of a new one")
	_ = c.RegisterFlagCompletionFunc("approve", fixed("ask", "reads", "all", "none"))
	_ = c.RegisterFlagCompletionFunc("thread", r.completeThreads)
	return c
}

const chatHelp = "  /help     says this\n  /cancel   cancels what the agent does\n  /quit     leaves, as the end of the input does"

func (r *chat) chat(c *cobra.Command, agent string) error {
	if r.agent = agent; !agentName.MatchString(agent) {
		return usage("%q is no agent's name; 'agentstream agents' lists them", agent)
	}
	if !slices.Contains([]string{"ask", "reads", "all", "none"}, r.approve) {
		return usage("--approve %q: use ask, reads, all or none", r.approve)
	}
	if err := r.folder(); err != nil {
		return err
	}
	r.format, r.tty = "text", true
	r.policy = r.localPolicy(c)
	cl, err := r.connect(c, true)
	if err != nil {
		return err
	}
	defer func() { _ = cl.close() }()
	interactive, _ := terminal(c.InOrStdin())
	if r.thread == "" {
		r.thread = newID("t-")
	}
	r.typist = newTypist(c.InOrStdin(), interactive)
	r.input = term.NewInput(r.typist)
	if interactive {
		fmt.Fprintf(c.ErrOrStderr(), "thread %s; /help says what there is\n", r.thread)
	}
	for {
		line, err := r.line(c, interactive)
		if err != nil {
			return r.leave(c, interactive, err)
		}
		done, err := r.say(c, cl, line)
		if done || err != nil {
			return err
		}
	}
}

// line reads what is said next.
func (r *chat) line(c *cobra.Command, interactive bool) (string, error) {
	if interactive {
		fmt.Fprint(c.ErrOrStderr(), "> ")
	}
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	return r.input.Line(ctx)
}

// leave ends the conversation: at the end of the input, or by Ctrl-C.
func (r *chat) leave(c *cobra.Command, interactive bool, err error) error {
	if interactive {
		fmt.Fprintln(c.ErrOrStderr())
	}
	if errors.Is(err, context.Canceled) {
		return &exitError{code: exitCancelled}
	}
	return nil
}

// say does what a line says; done: it says that this is all.
func (r *chat) say(c *cobra.Command, cl *client, line string) (done bool, err error) {
	switch text := strings.TrimSpace(line); {
	case text == "":
		return false, nil
	case text == "/quit" || text == "/exit":
		return true, nil
	case text == "/help":
		fmt.Fprintln(c.ErrOrStderr(), chatHelp)
		return false, nil
	case text == cancelWord:
		fmt.Fprintln(c.ErrOrStderr(), "nothing runs")
		return false, nil
	}
	t := newTurn(&r.run, cl, c)
	t.asker.input = r.input
	t.stop = r.typist.begin()
	err = t.do(c.Context(), strings.ToValidUTF8(line, "\uFFFD"))
	r.typist.end()
	var e *exitError
	switch {
	case err == nil:
		return false, nil
	case c.Context().Err() != nil, t.left:
		return true, &exitError{code: exitCancelled}
	case errors.As(err, &e) && (e.code == exitAgent || e.code == exitUsage):
		return true, err
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(c.ErrOrStderr(), "agentstream: "+oneLine(text))
	}
	return false, nil
}
