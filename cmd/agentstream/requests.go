package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/term"
)

func pendingCommand() *cobra.Command {
	var t target
	var asJSON bool
	c := &cobra.Command{
		Use:   "pending",
		Short: "List what agents ask and nobody has answered",
		Long: "pending lists the requests that wait for an answer, over all threads of a running server,\n" +
			"oldest first. 'agentstream approve ID' and 'agentstream deny ID' answer.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cl, err := t.connect(c, false)
			if err != nil {
				return err
			}
			defer func() { _ = cl.close() }()
			list, err := cl.pending(c)
			if err != nil {
				return failedBy(err)
			}
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(list)
			}
			return printRequests(c, list)
		},
	}
	t.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func (c *client) pending(cmd *cobra.Command) ([]engine.Request, error) {
	out := struct{ Requests []engine.Request }{Requests: []engine.Request{}}
	err := c.call(cmd.Context(), "GET", "/v1/requests?state=pending", nil, &out)
	return out.Requests, err
}

func printRequests(c *cobra.Command, list []engine.Request) error {
	if len(list) == 0 {
		fmt.Fprintln(c.ErrOrStderr(), "nothing waits for an answer")
		return nil
	}
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tAGENT\tTHREAD\tSINCE\tOPTIONS\tWHAT")
	for _, q := range list {
		var options []string
		for _, o := range q.Options {
			options = append(options, oneLine(o.OptionID))
		}
		what := oneLine(q.Title)
		if q.Elicitation != nil {
			options, what = []string{"--content"}, oneLine(q.Elicitation.Message)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", q.ID, q.Agent, oneLine(q.Thread), ago(q.CreatedAt), first(strings.Join(options, ","), "-"), first(what, "-"))
	}
	return w.Flush()
}

// oneLine makes text from elsewhere fit for a line of a table.
func oneLine(s string) string { return strings.Join(strings.Fields(term.Clean(s)), " ") }

// ago tells a time as people do.
func ago(at time.Time) string {
	d := time.Since(at)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(0, int(d.Seconds())))
	case d < time.Hour:
		return fmt.Sprintf("%dm", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", int(d.Hours()))
	}
	return at.Local().Format(time.DateOnly)
}

// verdict is one answer from the command line.
type verdict struct {
	target
	option  string
	content string
	reason  string
	always  bool
}

func approveCommand() *cobra.Command {
	var v verdict
	c := &cobra.Command{
		Use:   "approve ID",
		Short: "Allow what an agent asks",
		Long: "approve allows a request of 'agentstream pending' on a running server: once, unless --always\n" +
			"or --option says otherwise. A question for data is answered with --content.",
		Example:           "  agentstream approve q0199c1-demo-1\n  agentstream approve q0199c1-demo-1 --always\n  agentstream approve q0199c1-demo-2 --content '{\"name\":\"Ada\"}'",
		Args:              oneArg("approve takes one request's id; 'agentstream pending' lists them"),
		ValidArgsFunction: v.completeRequests,
		RunE:              func(c *cobra.Command, args []string) error { return v.answer(c, args[0], v.allow) },
	}
	v.flags(c)
	c.Flags().StringVar(&v.option, "option", "", "the option to choose, by its id")
	c.Flags().BoolVar(&v.always, "always", false, "choose the option that is remembered")
	c.Flags().StringVar(&v.content, "content", "", "what fills in a form, as a JSON object")
	c.MarkFlagsMutuallyExclusive("option", "always", "content")
	return c
}

func denyCommand() *cobra.Command {
	var v verdict
	c := &cobra.Command{
		Use:               "deny ID",
		Short:             "Refuse what an agent asks",
		Args:              oneArg("deny takes one request's id; 'agentstream pending' lists them"),
		ValidArgsFunction: v.completeRequests,
		RunE:              func(c *cobra.Command, args []string) error { return v.answer(c, args[0], v.refuse) },
	}
	v.flags(c)
	c.Flags().StringVar(&v.reason, "reason", "", "why, for the record")
	c.Flags().BoolVar(&v.always, "always", false, "choose the option that is remembered")
	return c
}

func oneArg(message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return usage("%s", message)
		}
		return nil
	}
}

// answer sends the answer that choose makes for the request.
func (v *verdict) answer(c *cobra.Command, id string, choose func(engine.Request) (map[string]any, error)) error {
	cl, err := v.connect(c, false)
	if err != nil {
		return err
	}
	defer func() { _ = cl.close() }()
	var q engine.Request
	if err := cl.call(c.Context(), "GET", requestPath(id), nil, &q); err != nil {
		return requestError(id, err)
	}
	body, err := choose(q)
	if err != nil {
		return err
	}
	if err := cl.call(c.Context(), "POST", requestPath(id)+"/resolve", body, &q); err != nil {
		return requestError(id, err)
	}
	how := "answered"
	if r := q.Resolution; r != nil {
		for _, o := range q.Options {
			if o.OptionID == r.OptionID {
				how = strings.ReplaceAll(o.Kind, "_", " ")
			}
		}
		if q.Elicitation != nil && len(r.Content) == 0 {
			how = "declined"
		}
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %s (thread %s)\n", how, oneLine(q.Title), oneLine(q.Thread))
	return nil
}

func requestError(id string, err error) error {
	switch codeOf(err) {
	case "request_unknown":
		return &exitError{code: exitFailed, err: fmt.Errorf("there is no request %s; 'agentstream pending' lists those that wait", id)}
	case "already_resolved":
		return &exitError{code: exitFailed, err: fmt.Errorf("%w; the first answer counts", err)}
	case "bad_request":
		return &exitError{code: exitUsage, err: err}
	}
	return failedBy(err)
}

func failedBy(err error) error { return &exitError{code: exitFailed, err: err} }

func (v *verdict) allow(q engine.Request) (map[string]any, error) {
	if q.Elicitation != nil {
		return v.fill(q)
	}
	if v.content != "" {
		return nil, usage("this request asks for a permission, not for data; leave out --content")
	}
	if v.always {
		return chosen(q, "allow_always")
	}
	if v.option == "" {
		return map[string]any{"approved": true}, nil
	}
	i := slices.IndexFunc(q.Options, func(o engine.RequestOption) bool { return o.OptionID == v.option })
	if i < 0 {
		return nil, usage("the request has no option %q; it has %s", v.option, optionsOf(q))
	}
	if strings.HasPrefix(q.Options[i].Kind, "reject") {
		return nil, usage("the option %q refuses; use 'agentstream deny'", v.option)
	}
	return map[string]any{"optionId": v.option}, nil
}

// fill answers a question for data.
func (v *verdict) fill(q engine.Request) (map[string]any, error) {
	if v.option != "" || v.always {
		return nil, usage("the request asks for data, it has no options; answer with --content")
	}
	text := v.content
	if text == "" {
		if q.Elicitation.Mode != "url" {
			return nil, usage("the request asks for data: %s; answer with --content '{…}'", oneLine(first(q.Elicitation.Message, q.Title)))
		}
		text = "{}"
	}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil || object == nil {
		return nil, usage("--content is no JSON object")
	}
	return map[string]any{"content": object}, nil
}

func (v *verdict) refuse(q engine.Request) (map[string]any, error) {
	if !v.always {
		return map[string]any{"approved": false, "reason": v.reason}, nil
	}
	body, err := chosen(q, "reject_always")
	if err == nil {
		body["reason"] = v.reason
	}
	return body, err
}

func chosen(q engine.Request, kind string) (map[string]any, error) {
	for _, o := range q.Options {
		if o.Kind == kind {
			return map[string]any{"optionId": o.OptionID}, nil
		}
	}
	return nil, usage("the request has no option that is remembered; it has %s", optionsOf(q))
}

func optionsOf(q engine.Request) string {
	var ids []string
	for _, o := range q.Options {
		ids = append(ids, fmt.Sprintf("%s (%s)", oneLine(o.OptionID), oneLine(o.Name)))
	}
	return first(strings.Join(ids, ", "), "none")
}

func cancelCommand() *cobra.Command {
	var t target
	var thread string
	c := &cobra.Command{
		Use:   "cancel RUN",
		Short: "Cancel a run",
		Long:  "cancel ends a run of a running server and waits until it has ended. A run that has ended\nis left as it is. Where several threads have a run of that id, --thread says which.",
		Args:  oneArg("cancel takes one run's id; 'agentstream ls' shows what runs"),
		RunE: func(c *cobra.Command, args []string) error {
			cl, err := t.connect(c, false)
			if err != nil {
				return err
			}
			defer func() { _ = cl.close() }()
			var r engine.Run
			err = cl.call(c.Context(), "POST", "/v1/runs/"+url.PathEscape(args[0])+"/cancel?threadId="+url.QueryEscape(thread), nil, &r)
			switch codeOf(err) {
			case "":
			case "bad_request":
				return usage("%v; --thread names it", err)
			case "run_unknown", "thread_unknown":
				return failedBy(fmt.Errorf("there is no run %s; 'agentstream ls' shows what runs", args[0]))
			}
			if err != nil {
				return failedBy(err)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: run %s of thread %s\n", r.State, oneLine(r.ID), oneLine(r.Thread))
			if r.State.Open() {
				return failedBy(errors.New("the run has not ended yet"))
			}
			return nil
		},
	}
	t.flags(c)
	c.Flags().StringVar(&thread, "thread", "", "the run's thread")
	_ = c.RegisterFlagCompletionFunc("thread", t.completeThreads)
	return c
}
