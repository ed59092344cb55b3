package server

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// patient is a body that does not wait for ever: clients that send a byte now and
// then would hold a connection each, for nothing.
type patient struct {
	io.ReadCloser
	ctl   *http.ResponseController
	limit time.Duration
	end   time.Time
}

func (s *Server) patient(w http.ResponseWriter, r *http.Request) io.ReadCloser {
	if r.ContentLength == 0 {
		return r.Body
	}
	p := &patient{r.Body, http.NewResponseController(w), s.opts.ReadTimeout, time.Now().Add(10 * s.opts.ReadTimeout)}
	p.wait()
	return p
}

func (p *patient) wait() {
	until := time.Now().Add(p.limit)
	if until.After(p.end) {
		until = p.end
	}
	_ = p.ctl.SetReadDeadline(until) // whoever has none is as patient as its caller
}

// Read lifts the deadline when the body is there: a stream that follows is watched
// for the client's going by reading on. After any other error it stays, so that
// nobody waits for the rest.
func (p *patient) Read(b []byte) (int, error) {
	p.wait()
	n, err := p.ReadCloser.Read(b)
	if errors.Is(err, io.EOF) {
		_ = p.ctl.SetReadDeadline(time.Time{})
	}
	return n, err
}
