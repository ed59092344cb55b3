// Package server is the engine as an http.Handler: the AG-UI endpoint, REST routes,
// event streams and the page. docs/http.md has the routes; whoever is let in by
// token, Host and Origin may use all of them.
package server

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/agentstream-go/agentstream/engine"
)

// Options say how a Server meets the world. The zero value lets nobody in: set
// Token, or NoAuth where something in front of it signs people in.
type Options struct {
	// Token is what a client sends as `Authorization: Bearer`, and what the
	// address `/?token=` turns into a cookie.
	Token string
	// NoAuth lets everybody in who passes the Host and Origin checks.
	NoAuth bool
	// AllowOrigins are the origins ("https://app.example") beside the server's
	// own whose pages may use it; "*" is any.
	AllowOrigins []string
	// AllowHosts are the host names beside loopback ones under which the
	// server is reached; "*" is any.
	AllowHosts []string
	// BodyBytes limits a request's body; 0 is 32 MiB.
	BodyBytes int64
	// Verify checks every outgoing AG-UI stream against the rules of both
	// client versions, and ends a stream that breaks one.
	Verify bool
	// Heartbeat is the time after which a quiet stream gets a comment; 0 is
	// 15 s.
	Heartbeat time.Duration
	// WriteTimeout is how long a reader may take no byte at all before its
	// stream is closed; 0 is 30 s. The run does not notice.
	WriteTimeout time.Duration
	// ReadTimeout is how long a client may send no byte of a body that it
	// announced; 0 is 30 s. A body may take ten times that in all.
	ReadTimeout time.Duration
	// Agents tells what GET /v1/agents answers; nil lists the engine's agents
	// as ready.
	Agents func(context.Context) []Agent
	// Version is shown by the OpenAPI document and CopilotKit's info route.
	Version string
	// Logger gets faults of the server's own; nil is slog.Default.
	Logger *slog.Logger
}

// Agent is an entry of GET /v1/agents. State is ready, missing or auth_required.
type Agent struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	State   string `json:"state"`
	Version string `json:"version,omitempty"`
	Path    string `json:"path,omitempty"`
	Install string `json:"install,omitempty"`
}

// Server is an engine as an http.Handler: the AG-UI endpoint, the REST routes,
// the streams and the page. It may be used concurrently, and mounted at the root
// of any mux.
type Server struct {
	engine  *engine.Engine
	opts    Options
	guard   *guard
	log     *slog.Logger
	mux     *http.ServeMux
	streams atomic.Int64 // open streams, for /metrics
}

// New makes the handler. opts may be nil; the zero Options let nobody in.
func New(e *engine.Engine, opts *Options) *Server {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.BodyBytes <= 0 {
		o.BodyBytes = 32 << 20
	}
	if o.Heartbeat <= 0 {
		o.Heartbeat = 15 * time.Second
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = 30 * time.Second
	}
	if o.ReadTimeout <= 0 {
		o.ReadTimeout = 30 * time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	s := &Server{engine: e, opts: o, guard: newGuard(o), log: o.Logger, mux: http.NewServeMux()}
	for _, r := range s.routes() {
		h := r.handle
		public := r.public
		s.mux.HandleFunc(r.method+" "+r.path, func(w http.ResponseWriter, req *http.Request) {
			if s.guard.admit(w, req, public) {
				h(w, req)
			}
		})
	}
	return s
}

// ServeHTTP answers one request. A stream lives as long as its request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	r.Body = http.MaxBytesReader(w, s.patient(w, r), s.opts.BodyBytes)
	if _, pattern := s.mux.Handler(r); pattern == "" {
		s.unrouted(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// unrouted answers what no route takes: a preflight, a wrong method, an unknown
// path. Who is not signed in does not learn which.
func (s *Server) unrouted(w http.ResponseWriter, r *http.Request) {
	if !s.guard.admit(w, r, false) {
		return
	}
	probe := r.Clone(r.Context())
	for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
		if probe.Method = method; method != r.Method {
			if _, pattern := s.mux.Handler(probe); pattern != "" {
				w.Header().Add("Allow", method)
			}
		}
	}
	if w.Header().Get("Allow") != "" {
		refuse(w, "method_unknown", "this route does not take "+r.Method)
		return
	}
	refuse(w, "route_unknown", "there is no such route; /openapi.json lists them")
}
