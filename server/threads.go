package server

import (
	"context"
	"net/http"
	"time"

	"github.com/agentstream-go/agentstream/engine"
)

func (s *Server) threads(w http.ResponseWriter, r *http.Request) {
	limit, err := number(r, "limit", 50)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	q := r.URL.Query()
	query := engine.ThreadQuery{Limit: limit, Before: q.Get("before"), Text: q.Get("q")}
	var wait time.Duration
	if q.Get("wait") != "" {
		if wait, err = waitTime(q.Get("wait")); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	page, err := s.engine.WatchThreads(ctx, query, q.Get("since"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if page.Threads == nil {
		page.Threads = []engine.Thread{}
	}
	writeJSON(w, http.StatusOK, page)
}

func (s *Server) thread(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, func(id string) (any, error) { return s.engine.Thread(r.Context(), id) })
}

func (s *Server) patchThread(w http.ResponseWriter, r *http.Request) {
	var p struct{ Title, Mode, Model *string }
	if err := decode(r, &p, true); err != nil {
		s.fail(w, r, err)
		return
	}
	if p.Title != nil && len(*p.Title) > 1024 {
		s.fail(w, r, bad("title is longer than 1024 bytes"))
		return
	}
	s.answer(w, r, func(id string) (any, error) {
		return s.engine.Configure(r.Context(), id, engine.ThreadPatch{Title: p.Title, Mode: p.Mode, Model: p.Model})
	})
}

func (s *Server) deleteThread(w http.ResponseWriter, r *http.Request) {
	id, err := pathID(r, "thread")
	if err == nil {
		err = s.engine.Delete(r.Context(), id, flag(r, "force"))
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) messages(w http.ResponseWriter, r *http.Request) {
	limit, err := number(r, "limit", 0)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.answer(w, r, func(id string) (any, error) {
		return s.engine.Messages(r.Context(), id, limit, r.URL.Query().Get("before"))
	})
}

func (s *Server) runs(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, func(id string) (any, error) {
		runs, err := s.engine.Runs(r.Context(), id)
		if runs == nil {
			runs = []engine.Run{}
		}
		return map[string]any{"runs": runs}, err
	})
}

func (s *Server) files(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, func(id string) (any, error) {
		names, more, err := s.engine.Files(r.Context(), id, r.URL.Query().Get("prefix"))
		return map[string]any{"files": names, "more": more}, err
	})
}

func (s *Server) grants(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, func(id string) (any, error) {
		grants, err := s.engine.Grants(r.Context(), id)
		if grants == nil {
			grants = []engine.Grant{}
		}
		return map[string]any{"grants": grants}, err
	})
}

// answer gives what f says about the thread of the path.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, f func(thread string) (any, error)) {
	id, err := pathID(r, "thread")
	var v any
	if err == nil {
		v, err = f(id)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, v)
}
