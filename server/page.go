package server

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"net/http"
	"regexp"
	"strings"
)

//go:embed page.html
var page string

// policy lets the page run just its own script and style, found by their
// hashes, and talk to nobody but its server.
var policy = func() string {
	hashes := func(tag string) string {
		var out []string
		for _, m := range regexp.MustCompile(`(?s)<`+tag+`>(.*?)</`+tag+`>`).FindAllStringSubmatch(page, -1) {
			sum := sha256.Sum256([]byte(m[1]))
			out = append(out, "'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")
		}
		return strings.Join(out, " ")
	}
	return "default-src 'none'; connect-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'" +
		"; script-src " + hashes("script") + "; style-src " + hashes("style")
}()

// home serves the page. Who is not signed in gets one that says how, because a
// browser would show a problem document as text.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	if s.guard.signIn(w, r) {
		return
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cache-Control", "no-cache")
	if !s.guard.signedIn(r) {
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = w.Write([]byte("<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'><title>agentstream</title>" +
			"<p>You are not signed in. Open the address that <code>agentstream serve</code> printed when it started: it ends in <code>?token=…</code>.</p>"))
		return
	}
	_, _ = w.Write([]byte(page))
}
