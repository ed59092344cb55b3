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
		for _, m := range r.Input {
			out = append(out, schema.UserMessage(contentText(m)))
		}
		out = append(out, r.Messages...)
	}
	return round.Format(provider, out)
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
