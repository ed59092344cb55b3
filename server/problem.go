package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/agentstream-go/agentstream/engine"
)

// statusOf maps the stable codes to HTTP statuses. A code that is not listed is
// a fault of the server.
var statusOf = map[string]int{
	"bad_request":       http.StatusBadRequest,
	"unauthorized":      http.StatusUnauthorized,
	"foreign_origin":    http.StatusForbidden,
	"foreign_host":      http.StatusForbidden,
	"cwd_forbidden":     http.StatusForbidden,
	"agent_unknown":     http.StatusNotFound,
	"thread_unknown":    http.StatusNotFound,
	"run_unknown":       http.StatusNotFound,
	"request_unknown":   http.StatusNotFound,
	"grant_unknown":     http.StatusNotFound,
	"blob_unknown":      http.StatusNotFound,
	"route_unknown":     http.StatusNotFound,
	"unknown_interrupt": http.StatusNotFound,
	"method_unknown":    http.StatusMethodNotAllowed,
	"run_active":        http.StatusConflict,
	"interrupted":       http.StatusConflict,
	"run_conflict":      http.StatusConflict,
	"agent_mismatch":    http.StatusConflict,
	"resume_invalid":    http.StatusConflict,
	"already_resolved":  http.StatusConflict,
	"run_ambiguous":     http.StatusConflict,
	"cursor_gone":       http.StatusGone,
	"too_large":         http.StatusRequestEntityTooLarge,
	"not_json":          http.StatusUnsupportedMediaType,
	"limited":           http.StatusTooManyRequests,
	"draining":          http.StatusServiceUnavailable,
	"storage":           http.StatusInternalServerError,
	"internal":          http.StatusInternalServerError,
}

// problem is an RFC 9457 document. Code is stable, Detail is for people.
type problem struct {
	Type     string `json:"type"`
	Title    string `json:"title"`
	Status   int    `json:"status"`
	Detail   string `json:"detail,omitempty"`
	Code     string `json:"code"`
	Run      string `json:"run,omitempty"`
	Snapshot string `json:"snapshot,omitempty"`
}

// refuse answers with a problem of that code.
func refuse(w http.ResponseWriter, code, detail string) {
	writeProblem(w, problem{Code: code, Detail: detail})
}

// fail answers with the problem that err stands for. What is no engine error is
// a fault of ours: its text goes to the log, not to the client.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	var e *engine.Error
	if errors.As(err, &e) {
		writeProblem(w, problem{Code: e.Code, Detail: e.Message, Run: e.Run})
		return
	}
	if r.Context().Err() != nil {
		return
	}
	s.log.Error("request failed", "method", r.Method, "path", r.URL.Path, "error", err)
	refuse(w, "internal", "the server met a fault of its own; its log says more")
}

// code gives the stable code of an engine error, or "".
func code(err error) string {
	var e *engine.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

func writeProblem(w http.ResponseWriter, p problem) {
	p.Status = statusOf[p.Code]
	if p.Status == 0 {
		p.Status = http.StatusInternalServerError
	}
	p.Type, p.Title = "about:blank", http.StatusText(p.Status)
	h := w.Header()
	switch p.Code {
	case "draining":
		h.Set("Retry-After", "5")
	case "limited":
		h.Set("Retry-After", "1")
	case "unauthorized":
		h.Set("WWW-Authenticate", `Bearer realm="agentstream"`)
	}
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p)
}

// writeJSON leaves stored JSON as it is, and with it the characters that only
// matter inside of HTML.
func writeJSON(w http.ResponseWriter, status int, v any) {
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if enc.Encode(v) != nil {
		refuse(w, "internal", "the answer could not be encoded")
		return
	}
	jsonHeader(w, status)
	_, _ = w.Write(body.Bytes())
}

func jsonHeader(w http.ResponseWriter, status int) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
}
