package server

import (
	"encoding/json"
	"net/http"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/round"
)

// rounds answers with the rounds as eino messages, or as the messages array that
// a provider takes.
func (s *Server) rounds(w http.ResponseWriter, r *http.Request) {
	format := r.URL.Query().Get("format")
	s.answer(w, r, func(thread string) (any, error) {
		rounds, at, err := s.engine.Rounds(r.Context(), thread)
		if err != nil {
			return nil, err
		}
		if rounds == nil {
			rounds = []engine.Round{}
		}
		switch format {
		case "", "eino":
			return map[string]any{"rounds": rounds, "cursor": at.String()}, nil
		case "openai", "anthropic":
			messages, err := round.Format(format, history(rounds))
			if err != nil {
				return nil, err
			}
			return map[string]json.RawMessage{"messages": messages}, nil
		}
		return nil, bad("format is eino, openai or anthropic")
	})
}

// history puts the user's messages and the rounds' in order.
func history(rounds []engine.Round) []*schema.Message {
	var out []*schema.Message
	for _, r := range rounds {
		for _, m := range r.Input {
			out = append(out, schema.UserMessage(text(m)))
		}
		out = append(out, r.Messages...)
	}
	return out
}

// text is the text of a message's content, whatever its form.
func text(m agui.Message) string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return s
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(m.Content, &parts)
	for _, p := range parts {
		if p.Text != "" {
			if s != "" {
				s += "\n"
			}
			s += p.Text
		}
	}
	return s
}
