package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/term"
	"github.com/agentstream-go/agentstream/source"
)

// asker answers requests at the terminal, or by --approve where the turn runs on
// a server whose own policy asks.
type asker struct {
	run      *run
	renderer *term.Renderer
	input    *term.Input
}

func newAsker(r *run, c *cobra.Command) *asker {
	a := &asker{run: r, renderer: newRenderer(c)}
	if r.tty {
		a.input = term.NewInput(c.InOrStdin())
	}
	return a
}

// decision is an answer as the server takes it.
type decision struct {
	body    map[string]any
	refuses bool
}

// ask gives the decision; false says that nobody can be asked.
func (a *asker) ask(ctx context.Context, q engine.Request) (decision, bool) {
	req := asked(q)
	switch a.run.approve {
	case "all":
		return choose(req), true
	case "none":
		return decide(req, source.Refuse(req)), true
	case "reads":
		if a.reads(q) {
			return choose(req), true
		}
		return decide(req, source.Refuse(req)), true
	}
	if a.input == nil {
		return decision{}, false
	}
	return decide(req, a.renderer.Ask(ctx, req, a.input)), true
}

// reads reports whether the call only looks at files in the working folder.
func (a *asker) reads(q engine.Request) bool {
	if (q.Kind != "read" && q.Kind != "search") || len(q.Locations) == 0 || a.run.cwd == "" {
		return false
	}
	for _, l := range q.Locations {
		rel, err := filepath.Rel(a.run.cwd, l.Path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return false
		}
	}
	return true
}

func asked(q engine.Request) source.Request {
	r := source.Request{ToolCallID: q.ToolCallID, Title: q.Title, Kind: q.Kind, Locations: q.Locations}
	for _, o := range q.Options {
		r.Options = append(r.Options, source.Option{ID: o.OptionID, Name: o.Name, Kind: o.Kind})
	}
	if e := q.Elicitation; e != nil {
		r.Elicitation = &source.Elicitation{Message: e.Message, Mode: e.Mode, Schema: e.Schema, URL: e.URL}
	}
	return r
}

// choose allows once, else always; what offers neither is refused.
func choose(q source.Request) decision {
	for _, kind := range []string{"allow_once", "allow_always"} {
		i := slices.IndexFunc(q.Options, func(o source.Option) bool { return o.Kind == kind })
		if i >= 0 {
			return decide(q, source.Answer{OptionID: q.Options[i].ID})
		}
	}
	return decide(q, source.Refuse(q))
}

func decide(q source.Request, a source.Answer) decision {
	if len(a.Content) > 0 {
		return decision{body: map[string]any{"content": a.Content}}
	}
	for _, o := range q.Options {
		if o.ID == a.OptionID {
			return decision{body: map[string]any{"optionId": a.OptionID}, refuses: !o.Allows()}
		}
	}
	return decision{body: map[string]any{"approved": false}, refuses: true}
}
