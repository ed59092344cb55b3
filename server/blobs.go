package server

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
	"time"
)

// inert are the types that a browser may show, with what they are sent as: what
// an agent prints must not become a page of the server's. Of audio any kind is.
var inert = map[string]string{
	"text/plain":       "text/plain; charset=utf-8",
	"text/markdown":    "text/plain; charset=utf-8",
	"text/csv":         "text/plain; charset=utf-8",
	"application/json": "application/json",
	"image/png":        "image/png",
	"image/jpeg":       "image/jpeg",
	"image/gif":        "image/gif",
	"image/webp":       "image/webp",
}

// blob answers with a large payload that events name by its hash. It never
// changes, so that a browser asks for it once.
func (s *Server) blob(w http.ResponseWriter, r *http.Request) {
	hash := r.PathValue("sha")
	data, mimeType, err := s.engine.Blob(r.Context(), hash)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	h := w.Header()
	kind := sentAs(mimeType)
	h.Set("Content-Type", kind)
	if !strings.HasPrefix(kind, "text/") && !strings.HasPrefix(kind, "image/") {
		h.Set("Content-Disposition", "attachment")
	}
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	h.Set("ETag", `"`+hash+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// sentAs gives the type that a payload of an agent's is sent as.
func sentAs(mimeType string) string {
	kind, _, err := mime.ParseMediaType(mimeType)
	if err != nil {
		kind = ""
	}
	if strings.HasPrefix(kind, "audio/") {
		return kind
	}
	if known, ok := inert[kind]; ok {
		return known
	}
	return "application/octet-stream"
}
