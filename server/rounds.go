package server

import (
	"encoding/json"
	"net/http"

	"github.com/agentstream-go/agentstream/engine"
)

// rounds answers with the rounds as eino messages, or as the messages array that
// a provider takes.
func (s *Server) rounds(w http.ResponseWriter, r *http.Request) {
	format := r.URL.Query().Get("format")
	s.answer(w, r, func(thread string) (any, error) {
		switch format {
		case "", "eino":
			rounds, at, err := s.engine.Rounds(r.Context(), thread)
			if rounds == nil {
				rounds = []engine.Round{}
			}
			return map[string]any{"rounds": rounds, "cursor": at.String()}, err
		case "openai", "anthropic":
			messages, err := s.engine.History(r.Context(), thread, format)
			return map[string]json.RawMessage{"messages": messages}, err
		}
		return nil, bad("format is eino, openai or anthropic")
	})
}
