package e2e_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

func TestWhoIsLetIn(t *testing.T) {
	s := harness.Start(t, harness.Flags("--allow-origin", "https://app.example", "--allow-host", "agents.example"))
	host := strings.TrimPrefix(s.URL, "http://")
	for _, c := range []struct {
		name, path string
		headers    []string
		status     int
		code       string
	}{
		{"token", "/v1/agents", nil, 200, ""},
		{"no token", "/v1/agents", []string{"Authorization", ""}, 401, "unauthorized"},
		{"wrong token", "/v1/agents", []string{"Authorization", "Bearer " + s.Token + "x"}, 401, "unauthorized"},
		{"empty token", "/v1/agents", []string{"Authorization", "Bearer "}, 401, "unauthorized"},
		{"token in the address of a route", "/v1/agents?token=" + s.Token, []string{"Authorization", ""}, 401, "unauthorized"},
		{"another scheme", "/v1/agents", []string{"Authorization", "Basic " + s.Token}, 401, "unauthorized"},
		{"health", "/healthz", []string{"Authorization", ""}, 200, ""},
		{"ready", "/readyz", []string{"Authorization", ""}, 200, ""},
		{"metrics", "/metrics", []string{"Authorization", ""}, 401, "unauthorized"},
		{"unknown route, not signed in", "/v1/nothing", []string{"Authorization", ""}, 401, "unauthorized"},
		{"unknown route", "/v1/nothing", nil, 404, "route_unknown"},
		{"foreign host", "/healthz", []string{"Host", "evil.example"}, 403, "foreign_host"},
		{"foreign host with the token", "/v1/agents", []string{"Host", "evil.example:80"}, 403, "foreign_host"},
		{"allowed host", "/v1/agents", []string{"Host", "agents.example"}, 200, ""},
		{"localhost", "/v1/agents", []string{"Host", "localhost:1"}, 200, ""},
		{"own origin", "/v1/agents", []string{"Origin", s.URL}, 200, ""},
		{"allowed origin", "/v1/agents", []string{"Origin", "https://app.example"}, 200, ""},
		{"foreign origin", "/v1/agents", []string{"Origin", "https://evil.example"}, 403, "foreign_origin"},
		{"foreign origin that looks alike", "/v1/agents", []string{"Origin", "https://app.example.evil.example"}, 403, "foreign_origin"},
		{"no origin at all", "/v1/agents", []string{"Origin", "null"}, 403, "foreign_origin"},
		{"own host as origin of a foreign host", "/v1/agents", []string{"Host", "evil.example", "Origin", "http://evil.example"}, 403, "foreign_host"},
		{"an allowed origin needs the token too", "/v1/agents", []string{"Origin", "https://app.example", "Authorization", ""}, 401, "unauthorized"},
	} {
		r := s.Do("GET", c.path, nil, c.headers...)
		if r.Status != c.status || r.Code != c.code {
			t.Errorf("%s: %d %s, want %d %s", c.name, r.Status, r.Code, c.status, c.code)
		}
		if strings.Contains(string(r.Body), s.Token) {
			t.Errorf("%s: the answer holds the token", c.name)
		}
	}
	if s := s.Console(); strings.Contains(s, host) && strings.Contains(s, "token") {
		t.Errorf("the log speaks of the token: %s", s)
	}
	if strings.Contains(s.Console(), s.Token) {
		t.Error("the token is in the log")
	}
}

func TestCORS(t *testing.T) {
	s := harness.Start(t, harness.Flags("--allow-origin", "https://app.example"))
	ask := []string{
		"Authorization", "", "Access-Control-Request-Method", "POST",
		"Access-Control-Request-Headers", "authorization,content-type", "Origin",
	}
	for _, path := range []string{"/agui/demo", "/v1/threads/t/runs", "/v1/agents"} {
		r := s.Do("OPTIONS", path, nil, append(ask, "https://app.example")...)
		h := r.Header
		if r.Status != http.StatusNoContent || h.Get("Access-Control-Allow-Origin") != "https://app.example" ||
			!strings.Contains(h.Get("Access-Control-Allow-Methods"), "POST") || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "authorization") ||
			!strings.Contains(strings.Join(h.Values("Vary"), ","), "Origin") {
			t.Errorf("%s: %d %v", path, r.Status, h)
		}
		if r := s.Do("OPTIONS", path, nil, append(ask, "https://evil.example")...); r.Status != 403 || r.Header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s, foreign: %d %v", path, r.Status, r.Header)
		}
	}
	r := s.Do("GET", "/v1/agents", nil, "Origin", "https://app.example")
	if r.Header.Get("Access-Control-Allow-Origin") != "https://app.example" {
		t.Errorf("%v", r.Header)
	}
	if r := s.Do("GET", "/v1/agents", nil, "Origin", s.URL); r.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("own origin: %v", r.Header)
	}
}

func TestNoAuth(t *testing.T) {
	s := harness.Start(t, harness.Flags("--no-auth"))
	if s.Token != "" {
		t.Errorf("a token is printed: %q", s.Token)
	}
	if r := s.Do("GET", "/v1/agents", nil); r.Status != 200 {
		t.Errorf("%d", r.Status)
	}
	if r := s.Do("GET", "/v1/agents", nil, "Origin", "https://evil.example"); r.Code != "foreign_origin" {
		t.Errorf("%d %s", r.Status, r.Code)
	}
	if r := s.Do("GET", "/v1/agents", nil, "Host", "evil.example"); r.Code != "foreign_host" {
		t.Errorf("%d %s", r.Status, r.Code)
	}
}

// The printed address signs a browser in: a cookie, and an address without token.
func TestSignIn(t *testing.T) {
	s := harness.Start(t)
	none := []string{"Authorization", ""}
	r := s.Do("GET", "/", nil, none...)
	if r.Status != 401 || !strings.Contains(string(r.Body), "not signed in") || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
		t.Errorf("without a cookie: %d %s", r.Status, r.Body)
	}
	if r := s.Do("GET", "/?token=wrong", nil, none...); r.Status != 401 || r.Header.Get("Set-Cookie") != "" {
		t.Errorf("wrong token: %d %v", r.Status, r.Header)
	}
	r = s.Do("GET", "/?token="+s.Token+"&x=1", nil, none...)
	if r.Status != 303 || r.Header.Get("Location") != "/?x=1" {
		t.Fatalf("%d %v", r.Status, r.Header)
	}
	cookie := r.Header.Get("Set-Cookie")
	if strings.Contains(cookie, s.Token) || !strings.Contains(cookie, "HttpOnly") || !strings.Contains(cookie, "SameSite=Strict") {
		t.Errorf("cookie: %s", cookie)
	}
	name, _, _ := strings.Cut(cookie, ";")
	signed := append(none, "Cookie", name)
	r = s.Do("GET", "/", nil, signed...)
	if r.Status != 200 || !strings.Contains(string(r.Body), "<title>agentstream</title>") {
		t.Errorf("with the cookie: %d", r.Status)
	}
	checkPolicy(t, r)
	if r := s.Do("GET", "/v1/agents", nil, signed...); r.Status != 200 {
		t.Errorf("REST with the cookie: %d", r.Status)
	}
	if r := s.Do("POST", "/v1/threads/t/runs", map[string]any{"agent": "demo", "input": "help"}, append(signed, "Origin", "https://evil.example")...); r.Code != "foreign_origin" {
		t.Errorf("another site with the cookie: %d %s", r.Status, r.Code)
	}
	if r := s.Do("GET", "/v1/agents", nil, append(none, "Cookie", name+"0")...); r.Status != 401 {
		t.Errorf("a wrong cookie: %d", r.Status)
	}
}

// checkPolicy: the page runs nothing that was not in it and talks to nobody else.
func checkPolicy(t *testing.T, r harness.Reply) {
	t.Helper()
	policy := r.Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "connect-src 'self'", "frame-ancestors 'none'", "base-uri 'none'"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy has no %s: %s", want, policy)
		}
	}
	if m := regexp.MustCompile(`script-src ([^;]*)`).FindString(policy); m == "" || strings.Contains(m, "unsafe") || strings.Contains(m, "*") {
		t.Errorf("scripts: %s", policy)
	}
	if r.Header.Get("X-Content-Type-Options") != "nosniff" || r.Header.Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("headers: %v", r.Header)
	}
}
