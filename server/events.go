package server

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"net/url"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog"
)

// pollEvents and pollBytes bound one answer of long polling; the reader asks
// again with the cursor it got.
const (
	pollEvents = 1000
	pollBytes  = 4 << 20
)

// events streams a thread's log raw, over all runs, without end. What it needs
// before that is not on the stack of the stream.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	if frames, check := s.rawEvents(w, r); frames != nil {
		s.serve(w, r, frames, check)
	}
}

// rawEvents gives what events streams, or answers by itself and gives nil.
func (s *Server) rawEvents(w http.ResponseWriter, r *http.Request) (frames iter.Seq2[engine.Frame, error], check *checker) {
	thread, err := pathID(r, "thread")
	if err != nil {
		s.fail(w, r, err)
		return nil, nil
	}
	after, given, err := cursor(r)
	if err != nil {
		s.fail(w, r, err)
		return nil, nil
	}
	o := engine.EventOptions{Notes: r.URL.Query().Get("format") == "log"}
	if !given {
		if o.Tail, err = number(r, "tail", 0); err != nil {
			s.fail(w, r, err)
			return nil, nil
		}
	}
	if s.gone(w, r, thread, after) {
		return nil, nil
	}
	if wait := r.URL.Query().Get("wait"); wait != "" {
		s.poll(w, r, thread, after, o, wait)
		return nil, nil
	}
	if after == (eventlog.Cursor{}) && o.Tail == 0 {
		check = s.checker("")
	}
	return s.engine.Events(r.Context(), thread, after, o), check.open()
}

// open drops the rule about a stream's end, for streams that have none.
func (c *checker) open() *checker {
	if c != nil {
		c.endless = true
	}
	return c
}

// gone answers a cursor that cannot be served, before the stream begins.
func (s *Server) gone(w http.ResponseWriter, r *http.Request, thread string, after eventlog.Cursor) bool {
	if after == (eventlog.Cursor{}) {
		return false
	}
	return s.refused(w, r, s.engine.Seek(r.Context(), thread, after), "/v1/threads/"+url.PathEscape(thread)+"/messages")
}

// refused answers what Seek says, if a cursor is of no use; snapshot is where to
// begin anew.
func (s *Server) refused(w http.ResponseWriter, r *http.Request, err error, snapshot string) bool {
	if err == nil {
		return false
	}
	if code(err) != "cursor_gone" {
		s.fail(w, r, err)
		return true
	}
	writeProblem(w, problem{Code: "cursor_gone", Detail: err.Error(), Snapshot: snapshot})
	return true
}

type polled struct {
	ID    string          `json:"id"`
	Event json.RawMessage `json:"event"`
}

// poll answers with what comes after the cursor as soon as there is something,
// or with nothing when the time is up.
func (s *Server) poll(w http.ResponseWriter, r *http.Request, thread string, after eventlog.Cursor, o engine.EventOptions, wait string) {
	d, err := waitTime(wait)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	ctx, cancel := r.Context(), context.CancelFunc(func() {})
	if o.NoWait = d == 0; !o.NoWait {
		ctx, cancel = context.WithTimeout(ctx, d)
	}
	defer cancel()
	out, size, last := []polled{}, 0, after.String()
	if after == (eventlog.Cursor{}) {
		last = ""
	}
	for f, err := range s.engine.Events(ctx, thread, after, o) {
		if err != nil {
			if ctx.Err() == nil {
				s.fail(w, r, err)
				return
			}
			break
		}
		out = append(out, polled{ID: f.ID, Event: f.Data})
		last, size = f.ID, size+len(f.Data)
		if !f.More || len(out) >= pollEvents || size >= pollBytes {
			break
		}
	}
	if r.Context().Err() != nil {
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{"events": out, "cursor": last})
}

// requestEvents streams every change of a request over all threads.
func (s *Server) requestEvents(w http.ResponseWriter, r *http.Request) {
	after, _, err := cursor(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if s.refused(w, r, s.engine.SeekRequests(r.Context(), after), "/v1/requests") {
		return
	}
	s.serve(w, r, s.engine.RequestEvents(r.Context(), after), nil)
}
