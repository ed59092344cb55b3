package agents_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/round"
	"github.com/agentstream-go/agentstream/source"
)

// finished: the run ended as it should.
func (c *chat) finished(t turn) { c.ended(t, engine.RunFinished, source.EndTurn, "") }

// ended: with an error code the run has failed with it, else it ended in the state,
// with the stop reason.
func (c *chat) ended(t turn, state engine.RunState, stop source.StopReason, code string) {
	got := ""
	if t.run.Error != nil {
		got = t.run.Error.Code
	}
	if code != "" {
		state, stop = engine.RunFailed, t.run.StopReason
	}
	if t.run.State != state || t.run.StopReason != stop || got != code {
		c.errorf("the run ended as %s %s %s %v, want %s %s %s", t.run.State, t.run.StopReason, got, t.run.Error, state, stop, code)
	}
	if code == "" && t.RunError != nil || code != "" && (t.RunError == nil || t.RunError.Code != code) {
		c.errorf("the client was told of %+v, want %q", t.RunError, code)
	}
}

// check: the client takes the stream without a word and holds what the server
// holds, the log is valid for both clients, and providers take the rounds.
func (c *chat) check(t turn) {
	c.t.Helper()
	if len(t.Warnings) > 0 {
		c.errorf("the client says: %s", strings.Join(t.Warnings, "\n"))
	}
	if t.Error != "" && t.RunError == nil {
		c.errorf("the run did not resolve: %s", t.Error)
	}
	var there struct{ Messages []any }
	c.s.Get(harness.ThreadPath(c.client.Thread, "/messages"), &there)
	var here []any
	if err := json.Unmarshal(t.Messages, &here); err != nil {
		c.errorf("messages of the client: %v", err)
	}
	if d := cmp.Diff(there.Messages, here); d != "" {
		c.errorf("messages (-server +client):\n%s", d)
	}
	c.checkLog()
	c.checkRounds()
}

func (c *chat) checkLog() {
	c.t.Helper()
	open := ""
	verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
	for _, e := range c.s.Log(c.client.Thread) {
		for _, v := range verifiers {
			if err := v.Check(e.Event); err != nil {
				c.errorf("%s: %v", e.ID, err)
			}
		}
		switch {
		case e.Type() == agui.TypeRunStarted && open == "":
			open = e.Event.(*agui.RunStarted).RunID
		case open == "":
			c.errorf("%s: %s outside of a run", e.ID, e.Type())
		case harness.Ended(e):
			open = ""
		}
	}
	if open != "" {
		c.errorf("run %s has no terminal", open)
	}
}

func (c *chat) checkRounds() {
	c.t.Helper()
	var history []*schema.Message
	for i, r := range c.s.Rounds(c.client.Thread) {
		cut := slices.ContainsFunc(r.Messages, func(m *schema.Message) bool {
			info, _ := round.InfoOf(m)
			return info.Placeholder != ""
		})
		if r.Round != i+1 || r.Complete == cut {
			c.errorf("round %d: number %d, complete %v, with placeholders %v", i+1, r.Round, r.Complete, cut)
		}
		for _, m := range r.Input {
			history = append(history, schema.UserMessage(m.Text()))
		}
		history = append(history, r.Messages...)
	}
	for _, provider := range []string{"openai", "anthropic", "gemini", "eino"} {
		if err := round.Validate(provider, history); err != nil {
			c.errorf("%s: %v", provider, err)
		}
	}
}
