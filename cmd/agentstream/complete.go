package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/engine"
)

// completing is how long a shell waits for its suggestions.
const completing = 2 * time.Second

// peek gives a running server, for completion: nothing is opened or waited for.
func (t *target) peek(c *cobra.Command) (*client, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(c.Context(), completing)
	c.SetContext(ctx)
	cl, err := t.connect(c, false)
	if err != nil {
		cancel()
		return nil, nil
	}
	return cl, cancel
}

func (t *target) completeThreads(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if cl, cancel := t.peek(c); cl != nil && len(args) == 0 {
		defer cancel()
		var page engine.ThreadPage
		if cl.call(c.Context(), "GET", "/v1/threads?limit=200", nil, &page) == nil {
			var out []string
			for _, th := range page.Threads {
				out = append(out, suggestion(th.ID, th.Title))
			}
			return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

func (v *verdict) completeRequests(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if cl, cancel := v.peek(c); cl != nil && len(args) == 0 {
		defer cancel()
		if list, err := cl.pending(c); err == nil {
			var out []string
			for _, q := range list {
				out = append(out, suggestion(q.ID, q.Title))
			}
			return out, cobra.ShellCompDirectiveNoFileComp
		}
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}

// suggestion is an id with a word about it, as shells show them.
func suggestion(id, about string) string {
	if strings.ContainsAny(id, "\t\n") {
		return ""
	}
	return cobra.CompletionWithDesc(id, oneLine(about))
}
