package server

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// guard decides who may speak to the server: by Host (against DNS rebinding),
// by Origin (against other sites' pages), by token or cookie. It holds no
// state of its own and may be used concurrently.
type guard struct {
	token   string
	open    bool     // no authentication at all
	origins []string // origins allowed beside the server's own
	hosts   []string // host names allowed beside loopback
	cookie  string
}

func newGuard(o Options) *guard {
	g := &guard{token: o.Token, open: o.NoAuth, origins: o.AllowOrigins, cookie: "agentstream"}
	for _, h := range o.AllowHosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

// cookieName carries the port, because cookies do not tell ports apart and two
// servers on one machine must not sign each other's users out.
func (g *guard) cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return g.cookie + "_" + port
	}
	return g.cookie
}

// cookieValue is derived from the token, so that the token itself is not kept
// in the browser.
func (g *guard) cookieValue() string {
	sum := sha256.Sum256([]byte("agentstream cookie\x00" + g.token))
	return hex.EncodeToString(sum[:])
}

func same(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

func (g *guard) hostAllowed(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.ToLower(strings.Trim(name, "[]"))
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	// Rebinding needs a name; an address literal cannot be rebound.
	if net.ParseIP(name) != nil {
		return true
	}
	return slices.Contains(g.hosts, name) || slices.Contains(g.hosts, strings.ToLower(host)) || slices.Contains(g.hosts, "*")
}

// originAllowed reports whether a page of that origin may use the server, and
// whether it is a foreign one that needs CORS headers.
func (g *guard) originAllowed(r *http.Request, origin string) (ok, foreign bool) {
	if u, err := url.Parse(origin); err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host) {
		return true, false
	}
	return slices.Contains(g.origins, origin) || slices.Contains(g.origins, "*"), true
}

func (g *guard) signedIn(r *http.Request) bool {
	if g.open {
		return true
	}
	if g.token == "" {
		return false
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if strings.EqualFold(scheme, "bearer") && same(strings.TrimSpace(token), g.token) {
		return true
	}
	c, err := r.Cookie(g.cookieName(r))
	return err == nil && same(c.Value, g.cookieValue())
}

// admit answers what it refuses, and reports whether the request may go on.
// Health routes need no sign-in, a preflight none either.
func (g *guard) admit(w http.ResponseWriter, r *http.Request, public bool) bool {
	if !g.hostAllowed(r.Host) {
		refuse(w, "foreign_host", "this host name is not one of the server's; allow it with --allow-host")
		return false
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		ok, foreign := g.originAllowed(r, origin)
		if !ok {
			refuse(w, "foreign_origin", "pages of this origin may not use the server; allow it with --allow-origin")
			return false
		}
		if foreign {
			allowOrigin(w.Header(), origin)
		}
		if r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "" {
			preflight(w, r)
			return false
		}
	}
	if public || g.signedIn(r) {
		return true
	}
	if g.token == "" {
		refuse(w, "unauthorized", "no token is set, so nobody is let in; give the server a token, or say that none is needed")
	} else {
		refuse(w, "unauthorized", "send the token as 'Authorization: Bearer TOKEN', or open the address that the server printed")
	}
	return false
}

func allowOrigin(h http.Header, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Credentials", "true")
	h.Set("Access-Control-Expose-Headers", "Location, Retry-After, X-Run-Id")
	h.Add("Vary", "Origin")
}

func preflight(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
	if want := r.Header.Get("Access-Control-Request-Headers"); want != "" {
		h.Set("Access-Control-Allow-Headers", want)
	}
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
}

// signing is what became of an address that may bear a token.
type signing uint8

const (
	signNone   signing = iota // it bears none
	signedNow                 // answered
	signFailed                // a token that is not the server's
)

// signIn turns the token of the printed address into a cookie and takes it out of
// the address bar. A wrong token signs nobody in.
func (g *guard) signIn(w http.ResponseWriter, r *http.Request) signing {
	token := r.URL.Query().Get("token")
	if token == "" || g.open {
		return signNone
	}
	if g.token == "" || !same(token, g.token) {
		return signFailed
	}
	http.SetCookie(w, &http.Cookie{
		Name: g.cookieName(r), Value: g.cookieValue(), Path: "/", HttpOnly: true,
		SameSite: http.SameSiteStrictMode, Secure: r.TLS != nil, MaxAge: 400 * 24 * 3600,
	})
	q := r.URL.Query()
	q.Del("token")
	to := url.URL{Path: r.URL.Path, RawQuery: q.Encode()}
	http.Redirect(w, r, to.String(), http.StatusSeeOther)
	return signedNow
}
