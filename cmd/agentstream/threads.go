package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/engine"
)

type listing struct {
	target
	asJSON bool
	quiet  bool
	limit  int
	search string
}

func lsCommand() *cobra.Command {
	var l listing
	c := &cobra.Command{
		Use:     "ls",
		Short:   "List the threads",
		Long:    "ls lists threads, the newest first: of a running server, or of the data folder if nobody uses it.",
		Example: "  agentstream ls\n  agentstream ls -q | head -1 | xargs agentstream show",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if l.limit < 0 {
				return usage("--limit must not be negative")
			}
			cl, err := l.connect(c, true)
			if err != nil {
				return err
			}
			defer func() { _ = cl.close() }()
			threads, err := l.threads(c, cl)
			if err != nil {
				return failedBy(err)
			}
			return l.print(c, threads)
		},
	}
	l.flags(c)
	c.Flags().BoolVar(&l.asJSON, "json", false, "as JSON")
	c.Flags().BoolVarP(&l.quiet, "quiet", "q", false, "only the ids, one a line")
	c.Flags().IntVar(&l.limit, "limit", 0, "at most so many (default: all)")
	c.Flags().StringVar(&l.search, "search", "", "only those whose id or title has this text")
	c.MarkFlagsMutuallyExclusive("json", "quiet")
	return c
}

// threads reads page by page.
func (l *listing) threads(c *cobra.Command, cl *client) ([]engine.Thread, error) {
	out := []engine.Thread{}
	for before := ""; ; {
		q := url.Values{"limit": {"200"}, "before": {before}, "q": {l.search}}
		if l.limit > 0 {
			q.Set("limit", strconv.Itoa(min(200, l.limit-len(out))))
		}
		var page engine.ThreadPage
		if err := cl.call(c.Context(), "GET", "/v1/threads?"+q.Encode(), nil, &page); err != nil {
			return nil, err
		}
		out = append(out, page.Threads...)
		if before = page.Next; before == "" || l.limit > 0 && len(out) >= l.limit {
			return out, nil
		}
	}
}

func (l *listing) print(c *cobra.Command, threads []engine.Thread) error {
	switch {
	case l.asJSON:
		return json.NewEncoder(c.OutOrStdout()).Encode(threads)
	case l.quiet:
		for _, t := range threads {
			fmt.Fprintln(c.OutOrStdout(), oneLine(t.ID))
		}
		return nil
	case len(threads) == 0:
		fmt.Fprintln(c.ErrOrStderr(), "there are no threads; 'agentstream run demo help' makes one")
		return nil
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "THREAD\tAGENT\tSTATE\tLAST\tTITLE")
	for _, t := range threads {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", oneLine(t.ID), t.Agent, stateOf(t), ago(t.UpdatedAt), first(oneLine(t.Title), "-"))
	}
	return w.Flush()
}

func stateOf(t engine.Thread) string {
	switch {
	case t.Pending > 0:
		return fmt.Sprintf("waiting (%d)", t.Pending)
	case t.State == "idle" && t.LastRun != nil && t.LastRun.State != engine.RunFinished:
		return string(t.LastRun.State)
	}
	return t.State
}

func threadError(thread string, err error) error {
	if codeOf(err) == "thread_unknown" {
		return failedBy(fmt.Errorf("there is no thread %s; 'agentstream ls' lists them", thread))
	}
	return failedBy(err)
}
