package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/engine"
)

// logged reads a thread's log from a cursor, "" being the start, to its end.
func (c *client) logged(ctx context.Context, thread, after string, each func(id string, event []byte) error) error {
	for {
		var page struct {
			Events []struct {
				ID    string          `json:"id"`
				Event json.RawMessage `json:"event"`
			} `json:"events"`
			Cursor string `json:"cursor"`
		}
		if err := c.call(ctx, "GET", threadPath(thread)+"/events?wait=0s&after="+url.QueryEscape(first(after, "0")), nil, &page); err != nil {
			return err
		}
		if len(page.Events) == 0 {
			return nil
		}
		for _, e := range page.Events {
			if err := each(e.ID, e.Event); err != nil {
				return err
			}
		}
		after = page.Cursor
	}
}

// blob gives what fetches the large payloads that events name.
func (c *client) blob(ctx context.Context) func(hash string) ([]byte, error) {
	return func(hash string) ([]byte, error) {
		resp, err := c.do(ctx, "GET", "/v1/blobs/"+url.PathEscape(hash), "*/*", nil)
		if err != nil {
			return nil, err
		}
		defer func() { _ = resp.Body.Close() }()
		return io.ReadAll(resp.Body)
	}
}

var exportFormats = []string{"markdown", "agui", "eino", "openai", "anthropic"}

func exportCommand() *cobra.Command {
	var t target
	var format string
	c := &cobra.Command{
		Use:   "export THREAD",
		Short: "Print a thread for other programs, or as a document",
		Long: "export prints a whole thread; what runs is printed as far as it is.\n\n" +
			"  markdown   a document for people\n" +
			"  agui       the AG-UI events of the log, one a line\n" +
			"  eino       the rounds with their eino messages, as GET /v1/threads/{thread}/rounds has them\n" +
			"  openai     {\"messages\": […]} as OpenAI's chat completions take them\n" +
			"  anthropic  {\"messages\": […]} as Anthropic's messages take them",
		Example:           "  agentstream export t-abc > conversation.md\n  agentstream export t-abc --format openai | jq .messages",
		Args:              oneArg("export takes one thread's id; 'agentstream ls' lists them"),
		ValidArgsFunction: t.completeThreads,
		RunE: func(c *cobra.Command, args []string) error {
			if !slices.Contains(exportFormats, format) {
				return usage("--format %q: use eino, openai, anthropic, agui or markdown", format)
			}
			cl, err := t.connect(c, true)
			if err != nil {
				return err
			}
			defer func() { _ = cl.close() }()
			w := bufio.NewWriter(c.OutOrStdout())
			if err = cl.export(c.Context(), w, args[0], format); err == nil {
				err = w.Flush()
			}
			if err != nil {
				return threadError(args[0], err)
			}
			return nil
		},
	}
	t.flags(c)
	c.Flags().StringVar(&format, "format", "markdown", "eino, openai, anthropic, agui or markdown")
	_ = c.RegisterFlagCompletionFunc("format", fixed(exportFormats...))
	return c
}

func (c *client) export(ctx context.Context, w *bufio.Writer, thread, format string) error {
	switch format {
	case "agui":
		// The thread is asked for, because the log of none is empty.
		if err := c.call(ctx, "GET", threadPath(thread), nil, nil); err != nil {
			return err
		}
		return c.logged(ctx, thread, "", func(_ string, event []byte) error {
			_, _ = w.Write(event)
			return w.WriteByte('\n')
		})
	case "markdown":
		var t engine.Thread
		if err := c.call(ctx, "GET", threadPath(thread), nil, &t); err != nil {
			return err
		}
		var m engine.Messages
		if err := c.call(ctx, "GET", threadPath(thread)+"/messages", nil, &m); err != nil {
			return err
		}
		return markdown(w, t, m)
	}
	resp, err := c.do(ctx, "GET", threadPath(thread)+"/rounds?format="+format, "application/json", nil)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	_, err = io.Copy(w, resp.Body)
	return err
}

type show struct {
	target
	asJSON bool
}

func showCommand() *cobra.Command {
	var s show
	c := &cobra.Command{
		Use:               "show THREAD",
		Short:             "Show a thread in the terminal",
		Long:              "show prints what is known of a thread, and the conversation so far.",
		Args:              oneArg("show takes one thread's id; 'agentstream ls' lists them"),
		ValidArgsFunction: s.completeThreads,
		RunE:              func(c *cobra.Command, args []string) error { return s.run(c, args[0]) },
	}
	s.flags(c)
	c.Flags().BoolVar(&s.asJSON, "json", false, "the thread and its messages as JSON")
	return c
}

func (s *show) run(c *cobra.Command, thread string) error {
	cl, err := s.connect(c, true)
	if err != nil {
		return err
	}
	defer func() { _ = cl.close() }()
	var t engine.Thread
	if err := cl.call(c.Context(), "GET", threadPath(thread), nil, &t); err != nil {
		return threadError(thread, err)
	}
	if s.asJSON {
		var m engine.Messages
		if err := cl.call(c.Context(), "GET", threadPath(thread)+"/messages", nil, &m); err != nil {
			return threadError(thread, err)
		}
		return json.NewEncoder(c.OutOrStdout()).Encode(map[string]any{"thread": t, "messages": m.Messages, "pending": m.Pending})
	}
	w := c.OutOrStdout()
	fmt.Fprintf(w, "%s\n%s · %s · %s\n", first(oneLine(t.Title), "(no title)"), oneLine(t.ID), t.Agent, stateOf(t))
	if t.Cwd != "" {
		fmt.Fprintf(w, "in %s\n", oneLine(t.Cwd))
	}
	if r := t.LastRun; r != nil && r.Error != nil {
		fmt.Fprintf(w, "last run: %s: %s\n", r.Error.Code, oneLine(r.Error.Message))
	}
	reader := tail{thread: thread}
	if err := reader.upTo(c.Context(), cl, readSink("text", c, cl)); err != nil {
		return threadError(thread, err)
	}
	return nil
}
