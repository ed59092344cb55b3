package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// knock sends one request to a guard and gives the status and the code of a
// refusal; 200 is let in.
func knock(o Options, host, origin, auth string, cookie *http.Cookie) (int, string) {
	g := newGuard(o)
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/v1/threads", nil)
	r.Host = host
	if origin != "" {
		r.Header.Set("Origin", origin)
	}
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	if cookie != nil {
		r.AddCookie(cookie)
	}
	if g.admit(w, r, false) {
		return http.StatusOK, w.Header().Get("Access-Control-Allow-Origin")
	}
	_, rest, _ := strings.Cut(w.Body.String(), `"code":"`)
	code, _, _ := strings.Cut(rest, `"`)
	return w.Code, code
}

func TestWhoIsLetIn(t *testing.T) {
	o := Options{Token: "secret", AllowOrigins: []string{"https://app.example"}, AllowHosts: []string{"agents.example"}}
	good := &http.Cookie{Name: "agentstream_7117", Value: newGuard(o).cookieValue()}
	for _, c := range []struct {
		name, host, origin, auth string
		cookie                   *http.Cookie
		status                   int
		code                     string
	}{
		{"token", "127.0.0.1:7117", "", "Bearer secret", nil, 200, ""},
		{"scheme in any case", "localhost:7117", "", "bearer secret", nil, 200, ""},
		{"own origin", "localhost:7117", "http://localhost:7117", "Bearer secret", nil, 200, ""},
		{"allowed origin", "localhost:7117", "https://app.example", "Bearer secret", nil, 200, "https://app.example"},
		{"allowed host", "agents.example", "", "Bearer secret", nil, 200, ""},
		{"address literal", "[::1]:7117", "", "Bearer secret", nil, 200, ""},
		{"cookie", "127.0.0.1:7117", "", "", good, 200, ""},
		{"no token", "127.0.0.1:7117", "", "", nil, 401, "unauthorized"},
		{"wrong token", "127.0.0.1:7117", "", "Bearer secre", nil, 401, "unauthorized"},
		{"token in a cookie", "127.0.0.1:7117", "", "", &http.Cookie{Name: "agentstream_7117", Value: "secret"}, 401, "unauthorized"},
		{"another port's cookie", "127.0.0.1:7118", "", "", good, 401, "unauthorized"},
		{"rebound name", "evil.example:7117", "", "Bearer secret", nil, 403, "foreign_host"},
		{"foreign page", "127.0.0.1:7117", "https://evil.example", "Bearer secret", nil, 403, "foreign_origin"},
		{"opaque page", "127.0.0.1:7117", "null", "Bearer secret", nil, 403, "foreign_origin"},
		{"own host on another port", "127.0.0.1:7117", "http://127.0.0.1:9999", "Bearer secret", good, 403, "foreign_origin"},
	} {
		status, code := knock(o, c.host, c.origin, c.auth, c.cookie)
		if status != c.status || code != c.code {
			t.Errorf("%s: %d %q, want %d %q", c.name, status, code, c.status, c.code)
		}
	}
}

func TestWithoutATokenNobodyIsLetIn(t *testing.T) {
	for _, auth := range []string{"", "Bearer ", "Bearer x"} {
		if status, code := knock(Options{}, "localhost", "", auth, nil); status != 401 || code != "unauthorized" {
			t.Errorf("%q: %d %s", auth, status, code)
		}
	}
	if status, _ := knock(Options{NoAuth: true}, "localhost", "", "", nil); status != 200 {
		t.Errorf("no authentication: %d", status)
	}
}

func TestSigningInByTheAddress(t *testing.T) {
	g := newGuard(Options{Token: "secret"})
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "/?token=secret&x=1", nil)
	r.Host = "127.0.0.1:7117"
	if g.signIn(w, r) != signedNow || w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/?x=1" {
		t.Fatalf("%d to %q", w.Code, w.Header().Get("Location"))
	}
	cookie := w.Result().Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || strings.Contains(cookie.Value, "secret") {
		t.Errorf("cookie %+v", cookie)
	}
	back := httptest.NewRequest("GET", "/v1/threads", nil)
	back.Host = r.Host
	back.AddCookie(cookie)
	if !g.signedIn(back) {
		t.Error("the cookie does not sign in")
	}
	w = httptest.NewRecorder()
	if g.signIn(w, httptest.NewRequest("GET", "/?token=wrong", nil)) != signFailed || len(w.Result().Cookies()) > 0 {
		t.Errorf("a wrong token: %v", w.Result().Cookies())
	}
}

func TestPreflight(t *testing.T) {
	g := newGuard(Options{Token: "secret", AllowOrigins: []string{"https://app.example"}})
	r := httptest.NewRequest("OPTIONS", "/agui/demo", nil)
	r.Host = "localhost"
	r.Header.Set("Origin", "https://app.example")
	r.Header.Set("Access-Control-Request-Method", "POST")
	r.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
	w := httptest.NewRecorder()
	if g.admit(w, r, false) || w.Code != http.StatusNoContent {
		t.Fatalf("status %d", w.Code)
	}
	if got := w.Header().Get("Access-Control-Allow-Headers"); got != "authorization,content-type" {
		t.Errorf("headers %q", got)
	}
}
