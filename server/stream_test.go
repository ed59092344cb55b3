package server

import (
	"bytes"
	"errors"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/engine"
)

// endless are frames for as long as somebody takes them.
func endless(data string) iter.Seq2[engine.Frame, error] {
	return func(yield func(engine.Frame, error) bool) {
		for yield(engine.Frame{Data: []byte(data)}, nil) {
		}
	}
}

// broken is a connection whose writes fail.
type broken struct {
	http.ResponseWriter
	writes int
}

func (b *broken) Write([]byte) (int, error) { b.writes++; return 0, errors.New("gone") }

func TestABrokenConnectionEndsItsStreamQuietly(t *testing.T) {
	var log bytes.Buffer
	s := New(nil, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	w := &broken{ResponseWriter: httptest.NewRecorder()}
	s.serve(w, httptest.NewRequest("GET", "/", nil), endless(`{}`), nil)
	if w.writes != 1 || log.Len() != 0 {
		t.Errorf("%d writes, log: %s", w.writes, log.String())
	}
}

// A reader that takes no byte is given up: nothing waits for it for ever.
func TestAReaderThatHangsIsGivenUp(t *testing.T) {
	s := New(nil, &Options{WriteTimeout: 50 * time.Millisecond})
	done := make(chan struct{})
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.serve(w, r, endless(strings.Repeat("x", 64<<10)), nil)
		close(done)
	}))
	defer ts.Close()
	conn, err := net.Dial("tcp", ts.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("the stream still waits for its reader")
	}
	if n := s.streams.Load(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}

// oneByOne notices two writers at once.
type oneByOne struct {
	http.ResponseWriter
	busy sync.Mutex
	t    *testing.T
}

func (o *oneByOne) Write(p []byte) (int, error) {
	if !o.busy.TryLock() {
		o.t.Error("two write at once")
		return len(p), nil
	}
	defer o.busy.Unlock()
	return o.ResponseWriter.Write(p)
}

func (o *oneByOne) Unwrap() http.ResponseWriter { return o.ResponseWriter }

// Heartbeats come between frames, never into them, and none after the end.
func TestHeartbeatsKeepBetweenFrames(t *testing.T) {
	s := New(nil, &Options{Heartbeat: time.Microsecond})
	rec := httptest.NewRecorder()
	const n = 2000
	s.serve(&oneByOne{ResponseWriter: rec, t: t}, httptest.NewRequest("GET", "/", nil), func(yield func(engine.Frame, error) bool) {
		for range n {
			yield(engine.Frame{Data: []byte(`{"a":1}`)}, nil)
		}
	}, nil)
	body := rec.Body.String()
	frames := 0
	for _, f := range strings.Split(strings.TrimSuffix(body, "\n\n"), "\n\n") {
		switch f {
		case `data: {"a":1}`:
			frames++
		case ":", ": ":
		default:
			t.Fatalf("odd frame %q", f)
		}
	}
	if frames != n {
		t.Errorf("%d frames, want %d", frames, n)
	}
}
