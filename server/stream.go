package server

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/internal/sse"
)

// flushAt is the size at which a burst is written although more follows.
const flushAt = 32 << 10

// stream is one SSE answer. The heartbeat's timer and the frames' goroutine meet
// in its mutex.
type stream struct {
	ctl   *http.ResponseController
	write func([]byte) (int, error)
	every time.Duration // heartbeat
	limit time.Duration // of a write that takes no byte

	mu    sync.Mutex
	buf   []byte
	err   error
	ended bool
	timer *time.Timer
}

// serve answers with the frames until they end or the reader is gone. verify is
// nil, or checks every event before it goes out.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, frames iter.Seq2[engine.Frame, error], verify *checker) {
	s.streams.Add(1)
	defer s.streams.Add(-1)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	st := &stream{ctl: http.NewResponseController(w), write: w.Write, every: s.opts.Heartbeat, limit: s.opts.WriteTimeout}
	st.start()
	defer st.end()
	for f, err := range frames {
		if err == nil {
			err = verify.check(f)
		}
		if err != nil {
			// A closed log is the server's own end, which is no fault, nor is a thread
			// that was deleted or collapsed under a reader.
			if r.Context().Err() == nil && !errors.Is(err, context.Canceled) && !errors.Is(err, eventlog.ErrClosed) && code(err) != "cursor_gone" {
				s.log.Error("stream ended early", "path", r.URL.Path, "error", err)
			}
			return
		}
		if st.frame(f) != nil {
			return
		}
	}
	if err := verify.end(); err != nil && r.Context().Err() == nil { // a reader that goes away ends it anywhere
		s.log.Error("stream broke a rule", "path", r.URL.Path, "error", err)
	}
}

// start sends the headers at once, so that a reader of a quiet stream knows that
// it stands.
func (st *stream) start() {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.buf = sse.AppendComment(st.buf, "")
	st.timer = time.AfterFunc(st.every, st.beat)
	st.flush()
}

func (st *stream) frame(f engine.Frame) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(f.Data) > flushAt && !bytes.ContainsAny(f.Data, "\r\n") {
		st.large(f)
	} else {
		st.buf = sse.AppendEvent(st.buf, f.ID, f.Data)
	}
	if f.More && len(st.buf) < flushAt {
		return st.err
	}
	st.flush()
	return st.err
}

// large writes a big event from where it lies, in pieces: a copy for each of many
// readers would take more memory than all else, and a slow reader has the time
// limit for each piece.
func (st *stream) large(f engine.Frame) {
	st.buf = sse.AppendEvent(st.buf, f.ID, nil)
	st.buf = st.buf[:len(st.buf)-len("\n\n")]
	st.flush()
	for piece := range slices.Chunk(f.Data, flushAt) {
		if st.err == nil && !st.ended {
			_ = st.ctl.SetWriteDeadline(time.Now().Add(st.limit))
			_, st.err = st.write(piece)
		}
	}
	st.buf = append(st.buf, "\n\n"...)
}

func (st *stream) beat() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.ended || st.err != nil {
		return
	}
	st.buf = sse.AppendComment(st.buf, "")
	st.flush()
}

// flush is called with the mutex held. A reader that takes nothing for the time
// limit is given up: its connection closes, nobody else waits.
func (st *stream) flush() {
	if st.err != nil || st.ended {
		return
	}
	_ = st.ctl.SetWriteDeadline(time.Now().Add(st.limit))
	if _, st.err = st.write(st.buf); st.err == nil {
		st.err = st.ctl.Flush()
	}
	st.buf = st.buf[:0]
	if cap(st.buf) > 4*flushAt {
		st.buf = nil
	}
	st.timer.Reset(st.every)
}

func (st *stream) end() {
	st.mu.Lock()
	defer st.mu.Unlock()
	if len(st.buf) > 0 {
		st.flush()
	}
	st.ended = true
	st.timer.Stop()
	_ = st.ctl.SetWriteDeadline(time.Time{})
}

// checker verifies a stream against the client versions that may read it. A nil checker takes
// everything.
type checker struct {
	rules   []*agui.Verifier
	endless bool // the stream may end anywhere
}

// checker checks a stream for a reader that names a protocol version: who names
// one may get what the old client refuses.
func (s *Server) checker(version string) *checker {
	if !s.opts.Verify {
		return nil
	}
	c := &checker{rules: []*agui.Verifier{agui.NewVerifier(agui.V1)}}
	if version == "" {
		c.rules = append(c.rules, agui.NewVerifier(agui.V0))
	}
	return c
}

func (c *checker) check(f engine.Frame) error {
	if c == nil || f.Note {
		return nil
	}
	for _, v := range c.rules {
		if err := v.CheckJSON(f.Data); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) end() error {
	if c == nil || c.endless {
		return nil
	}
	for _, v := range c.rules {
		if err := v.End(); err != nil {
			return err
		}
	}
	return nil
}
