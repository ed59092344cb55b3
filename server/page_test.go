package server

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// Who is not signed in sees how to, and nothing of the page.
func TestSignInPage(t *testing.T) {
	s := New(nil, &Options{Token: "secret"})
	for _, x := range []struct {
		name, path, accept, site string
		kind, has, lacks         string
	}{
		{"page", "/", "text/html", "none", "text/html", "You are not signed in", "refresh"},
		{"thread", "/t/x%2Fy", "text/html", "", "text/html", "You are not signed in", `role="alert"`},
		{"link on another site", "/t/x", "text/html", "cross-site", "text/html", `<meta http-equiv="refresh" content="0">`, `role="alert"`},
		{"wrong token", "/?token=wrong", "text/html,*/*", "cross-site", "text/html", `role="alert"`, "refresh"},
		{"wrong token of a program", "/?token=wrong", "*/*", "", "application/problem+json", "unauthorized", "<"},
		{"file", "/assets/x.js", "*/*", "", "application/problem+json", "unauthorized", "<"},
	} {
		r := httptest.NewRequest("GET", x.path, nil)
		r.Host = "localhost"
		r.Header.Set("Accept", x.accept)
		r.Header.Set("Sec-Fetch-Site", x.site)
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if body := w.Body.String(); w.Code != 401 || !strings.HasPrefix(w.Header().Get("Content-Type"), x.kind) || !strings.Contains(body, x.has) || strings.Contains(body, x.lacks) {
			t.Errorf("%s: %d %v %s", x.name, w.Code, w.Header(), body)
		}
	}
}

func TestPageHasAStrictPolicy(t *testing.T) {
	s := New(nil, &Options{Token: "secret"})
	for path, status := range map[string]int{"/": 200, "/t/a%2Fb": 200, "/assets/none.js": 404, "/assets/..%2Findex.html": 404} {
		r := httptest.NewRequest("GET", path, nil)
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer secret")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		policy := w.Header().Get("Content-Security-Policy")
		if w.Code != status || !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: %d, policy %q", path, w.Code, policy)
		}
	}
}
