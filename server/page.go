package server

import (
	"crypto/sha256"
	"encoding/base64"
	"html"
	"net/http"
	"strings"

	"github.com/agentstream-go/agentstream/web"
)

// pagePolicy lets the page run its own files alone and talk to nobody but its
// server. Pictures may also be data: those of a conversation are.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src 'self' data: blob:" +
	"; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

// home serves the page at every address that it has for itself. Who is not signed
// in gets one that says how, because a browser would show a problem document as
// text.
func (s *Server) home(w http.ResponseWriter, r *http.Request) {
	switch s.guard.signIn(w, r) {
	case signedNow:
		return
	case signFailed:
		if !strings.Contains(r.Header.Get("Accept"), "text/html") {
			refuse(w, "unauthorized", wrongToken)
			return
		}
		signInPage(w, r, wrongToken)
		return
	}
	if !s.guard.signedIn(r) {
		signInPage(w, r, "")
		return
	}
	w.Header().Set("Content-Security-Policy", pagePolicy)
	if !web.Serve(w, r, "index.html") {
		refuse(w, "route_unknown", "this binary was built without the page; make web builds it")
	}
}

// asset serves a file that the page loads.
func (s *Server) asset(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	name := r.PathValue("name")
	if strings.Contains(name, "/") || !web.Serve(w, r, "assets/"+name) {
		refuse(w, "route_unknown", "the page has no such file; reload it if the server is new")
	}
}

func (s *Server) icon(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	if !web.Serve(w, r, "icon.svg") {
		refuse(w, "route_unknown", "the page has no icon")
	}
}

const wrongToken = "this token is not the server's; open the address that it printed when it started"

const signInStyle = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}` +
	`body{margin:0;min-height:100vh;min-height:100dvh;display:grid;grid-template-columns:minmax(0,32rem);place-content:center;background:light-dark(#f7f7f8,#16171a);color:light-dark(#1b1c1f,#e8e9ec)}` +
	`main{box-sizing:border-box;margin:1rem;padding:1.5rem 2rem;border:1px solid light-dark(#d9dade,#34363c);border-radius:12px;background:light-dark(#fff,#1d1e22)}` +
	`h1{margin:0 0 .5rem;font-size:1.25rem}p{margin:.75rem 0 0}code{font:.9em ui-monospace,monospace;overflow-wrap:anywhere}` +
	`pre{margin:.75rem 0 0;padding:.6rem .8rem;border-radius:8px;overflow-x:auto;background:light-dark(#f0f1f3,#131417)}[role=alert]{color:light-dark(#a3161c,#ff9c9c)}`

// signInPage says how to sign in. A cookie that other sites must not use is not
// sent when a link on one of them is followed: then the page asks again by
// itself, once, from here.
func signInPage(w http.ResponseWriter, r *http.Request, fault string) {
	sum := sha256.Sum256([]byte(signInStyle))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'")
	refresh, alert := "", ""
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" && fault == "" {
		refresh = `<meta http-equiv="refresh" content="0">`
	}
	if fault != "" {
		alert = `<p role="alert">` + html.EscapeString(strings.ToUpper(fault[:1])+fault[1:]) + `.</p>`
	}
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte(`<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">` +
		refresh + `<title>Sign in – agentstream</title><link rel="icon" href="data:,"><style>` + signInStyle + `</style></head><body><main><h1>You are not signed in</h1>` + alert +
		`<p>Open the address that the server printed when it started. It ends in <code>?token=…</code> and signs this browser in.</p>` +
		`<p>It is lost? The token stands in the data folder of the server:</p><pre tabindex="0"><code>cat ~/.local/share/agentstream/token</code></pre>` +
		`<p>Then open <code>/?token=TOKEN</code> here.</p></main></body></html>`))
}
