package server

import (
	"bufio"
	"encoding/json"
	"net/http"

	"github.com/agentstream-go/agentstream/engine"
)

// rounds answers with the rounds as eino messages, or as the messages array that
// a provider takes.
func (s *Server) rounds(w http.ResponseWriter, r *http.Request) {
	switch format := r.URL.Query().Get("format"); format {
	case "", "eino":
		s.einoRounds(w, r)
	case "openai", "anthropic":
		s.answer(w, r, func(thread string) (any, error) {
			messages, err := s.engine.History(r.Context(), thread, format)
			return map[string]json.RawMessage{"messages": messages}, err
		})
	default:
		s.fail(w, r, bad("format is eino, openai or anthropic"))
	}
}

// einoRounds writes one round after the other, because their results may have
// many megabytes in all.
func (s *Server) einoRounds(w http.ResponseWriter, r *http.Request) {
	thread, err := pathID(r, "thread")
	var rounds []engine.Round
	var cursor string
	if err == nil {
		all, at, failure := s.engine.Rounds(r.Context(), thread)
		rounds, cursor, err = all, at.String(), failure
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	jsonHeader(w, http.StatusOK)
	out := bufio.NewWriterSize(w, 64<<10)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	_, _ = out.WriteString(`{"rounds":[`)
	for i := range rounds {
		if i > 0 {
			_ = out.WriteByte(',')
		}
		if enc.Encode(rounds[i]) != nil { // the reader has gone
			return
		}
		rounds[i] = engine.Round{}
	}
	_, _ = out.WriteString(`],"cursor":"` + cursor + "\"}\n")
	_ = out.Flush()
}
