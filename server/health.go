package server

import (
	"fmt"
	"net/http"
	"runtime"
)

// healthz says that the process answers; readyz, that it takes new runs.
func (s *Server) healthz(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
}

func (s *Server) readyz(w http.ResponseWriter, _ *http.Request) {
	if s.engine.Draining() {
		refuse(w, "draining", "the server is stopping")
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"status": "ready"})
}

// metrics answers in Prometheus's text form.
func (s *Server) metrics(w http.ResponseWriter, _ *http.Request) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	st := s.engine.Stats()
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	for _, g := range []struct {
		name, help string
		value      float64
	}{
		{"agentstream_runs_open", "Runs that have not ended.", float64(st.OpenRuns)},
		{"agentstream_sessions", "Agent sessions, running or idle.", float64(st.Sessions)},
		{"agentstream_streams_open", "Open event streams.", float64(s.streams.Load())},
		{"agentstream_goroutines", "Goroutines.", float64(runtime.NumGoroutine())},
		{"agentstream_heap_bytes", "Heap in use.", float64(m.HeapInuse)},
	} {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n%s %g\n", g.name, g.help, g.name, g.name, g.value)
	}
}
