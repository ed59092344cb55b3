package server

import (
	"encoding/json"
	"net/http"

	"github.com/agentstream-go/agentstream/engine"
)

func (s *Server) requests(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	list, err := s.engine.Requests(r.Context(), q.Get("threadId"), q.Get("state"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if list == nil {
		list = []engine.Request{}
	}
	writeJSON(w, http.StatusOK, map[string]any{"requests": list})
}

func (s *Server) request(w http.ResponseWriter, r *http.Request) {
	req, err := s.engine.Request(r.Context(), r.PathValue("id"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, req)
}

// resolve answers a request. Only the boolean true approves: any other type in
// its place is a refusal, never a fault that leaves the question open.
func (s *Server) resolve(w http.ResponseWriter, r *http.Request) {
	var b struct {
		OptionID string          `json:"optionId"`
		Approved json.RawMessage `json:"approved"`
		Reason   string          `json:"reason"`
		Content  json.RawMessage `json:"content"`
	}
	if err := decode(r, &b, true); err != nil {
		s.fail(w, r, err)
		return
	}
	a := engine.Answer{OptionID: b.OptionID, Reason: b.Reason, Content: b.Content, By: who(r)}
	if len(b.Approved) > 0 && string(b.Approved) != "null" {
		yes := string(b.Approved) == "true"
		a.Approved = &yes
	}
	if a.OptionID == "" && a.Approved == nil && len(a.Content) == 0 {
		s.fail(w, r, bad("say optionId, approved or content"))
		return
	}
	req, err := s.engine.Resolve(r.Context(), r.PathValue("id"), a)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, req)
}

func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	if err := s.engine.Revoke(r.Context(), r.PathValue("id")); err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}
