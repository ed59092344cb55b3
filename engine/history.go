package engine

import (
	"context"
	"encoding/json"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/round"
)

// History gives a thread's rounds, with what the user said in place, as the
// messages array that a provider (openai, anthropic or eino) takes.
func (e *Engine) History(ctx context.Context, thread, provider string) (json.RawMessage, error) {
	rounds, _, err := e.Rounds(ctx, thread)
	if err != nil {
		return nil, err
	}
	var out []*schema.Message
	for _, r := range rounds {
		out = append(out, r.History()...)
	}
	return round.Format(provider, out)
}

// History is the round as a piece of a history: what the user said, as text,
// and then the round's messages.
func (r Round) History() []*schema.Message {
	out := make([]*schema.Message, 0, len(r.Input)+len(r.Messages))
	for _, m := range r.Input {
		out = append(out, schema.UserMessage(contentText(m)))
	}
	return append(out, r.Messages...)
}

// contentText is the text of a message's content, whatever its form.
func contentText(m agui.Message) string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct{ Text string }
	_ = json.Unmarshal(m.Content, &parts)
	for _, p := range parts {
		if p.Text == "" {
			continue
		}
		if s != "" {
			s += "\n"
		}
		s += p.Text
	}
	return s
}
