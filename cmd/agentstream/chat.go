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

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/term"
	"github.com/agentstream-go/agentstream/source"
)

type chat struct {
	run
	typist *typist
	input  *term.Input
	editor *editor // at a terminal
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

const chatHelp = "  /help     says this\n  /cancel   cancels what the agent does\n" +
	"  /mode     lists the agent's modes, /mode ID chooses one\n  /model    the same with its models\n" +
	"  /quit     leaves, as the end of the input does"

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
	goesOn := r.thread != ""
	if !goesOn {
		r.thread = newID("t-")
	}
	r.typist = newTypist(c.InOrStdin(), interactive)
	r.input = term.NewInput(r.typist)
	if screen, _ := terminal(c.ErrOrStderr()); interactive && screen {
		r.editor = newEditor(c.InOrStdin().(*os.File), c.ErrOrStderr().(*os.File), r.typist)
		r.editor.know("/help", cancelWord, "/mode", "/model", "/quit")
		if goesOn {
			r.remember(c.Context(), cl)
		}
	}
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

// remember takes what was said in the thread into the editor's history.
func (r *chat) remember(ctx context.Context, cl *client) {
	var m engine.Messages
	if cl.call(ctx, "GET", threadPath(r.thread)+"/messages", nil, &m) != nil {
		return // there is none yet
	}
	for _, said := range m.Messages {
		if text := plainText(said); said.Role == agui.RoleUser && text != "" && !strings.Contains(text, "\n") {
			r.editor.line.History.Add(text)
		}
	}
}

// line reads what is said next.
func (r *chat) line(c *cobra.Command, interactive bool) (string, error) {
	if r.editor != nil {
		return r.editor.read(c.Context())
	}
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
	if errors.Is(err, context.Canceled) || errors.Is(err, errLeft) {
		return &exitError{code: exitCancelled}
	}
	return nil
}

// say does what a line says; done: it says that this is all.
func (r *chat) say(c *cobra.Command, cl *client, line string) (done bool, err error) {
	text := strings.TrimSpace(line)
	word, rest, _ := strings.Cut(text, " ")
	switch {
	case text == "":
		return false, nil
	case text == "/quit" || text == "/exit":
		return true, nil
	case text == "/help":
		r.help(c, cl)
		return false, nil
	case text == cancelWord:
		fmt.Fprintln(c.ErrOrStderr(), "nothing runs")
		return false, nil
	case word == "/mode" || word == "/model":
		if err := r.choose(c, cl, word[1:], strings.TrimSpace(rest)); err != nil {
			fmt.Fprintln(c.ErrOrStderr(), "agentstream: "+oneLine(err.Error()))
		}
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

// help says what can be typed, the agent's own commands too, which it takes as
// any other prompt.
func (r *chat) help(c *cobra.Command, cl *client) {
	fmt.Fprintln(c.ErrOrStderr(), chatHelp)
	var t engine.Thread
	if cl.call(c.Context(), "GET", threadPath(r.thread), nil, &t) != nil {
		return // nothing was said yet, so the agent offered nothing
	}
	for _, own := range t.Commands {
		fmt.Fprintf(c.ErrOrStderr(), "  /%s   %s\n", oneLine(own.Name), oneLine(own.Description))
		if r.editor != nil {
			r.editor.know("/" + own.Name)
		}
	}
}

// choose lists the agent's modes or models, or chooses one of them.
func (r *chat) choose(c *cobra.Command, cl *client, what, id string) error {
	var t engine.Thread
	err := cl.call(c.Context(), "GET", threadPath(r.thread), nil, &t)
	if codeOf(err) == "thread_unknown" {
		return errors.New("the agent says which it has when it has begun; say something first")
	}
	if err != nil {
		return err
	}
	if id != "" {
		return cl.call(c.Context(), "PATCH", threadPath(r.thread), map[string]string{what: id}, nil)
	}
	choices := map[string]*source.Choices{"mode": t.Modes, "model": t.Models}[what]
	if choices == nil || len(choices.Available) == 0 {
		return fmt.Errorf("%s offers no %ss", r.agent, what)
	}
	for _, one := range choices.Available {
		mark := " "
		if one.ID == choices.Current {
			mark = "*"
		}
		fmt.Fprintf(c.ErrOrStderr(), "%s %s   %s\n", mark, oneLine(one.ID), oneLine(one.Name))
	}
	return nil
}
