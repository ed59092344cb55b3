package harness

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/sse"
)

// Event is one frame of a stream.
type Event struct {
	ID   string // cursor, may be empty
	Data []byte
	agui.Event
}

// Stream is an open stream of events. For one goroutine.
type Stream struct {
	Response *http.Response
	s        *Server
	frames   *sse.Reader
	cancel   context.CancelFunc
}

// Stream opens a stream; an answer that is none fails the test. It is closed with
// the test, or before by Close.
func (s *Server) Stream(method, path string, body any, headers ...string) *Stream {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	s.t.Cleanup(cancel)
	resp, err := s.http.Do(s.Request(ctx, method, path, body, append([]string{"Accept", "text/event-stream"}, headers...)...))
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	if resp.StatusCode != http.StatusOK {
		data, _ := io.ReadAll(resp.Body)
		s.t.Fatalf("%s %s: %s %s", method, path, resp.Status, data)
	}
	return &Stream{Response: resp, s: s, frames: sse.NewReader(resp.Body), cancel: cancel}
}

// Events opens the thread's log after a cursor, "" being its start.
func (s *Server) Events(thread, after string) *Stream {
	s.t.Helper()
	path := ThreadPath(thread, "/events")
	if after != "" {
		path += "?after=" + url.QueryEscape(after)
	}
	return s.Stream("GET", path, nil)
}

// Next gives the next event, or the error with which the stream ended: io.EOF if
// the server ended it. An event that is none fails the test.
func (st *Stream) Next() (Event, error) {
	st.s.t.Helper()
	f, err := st.frames.Next()
	if err != nil {
		return Event{}, err
	}
	e := Event{ID: f.ID, Data: append([]byte(nil), f.Data...)}
	if e.Event, err = agui.Decode(e.Data); err != nil {
		st.s.t.Errorf("%s: %v", e.Data, err)
	}
	return e, err
}

// Frame gives the next frame as it is, for streams that are not of AG-UI events.
func (st *Stream) Frame() (sse.Frame, error) { return st.frames.Next() }

// Until reads up to and with the first event that is wanted.
func (st *Stream) Until(want func(Event) bool) (events []Event) {
	st.s.t.Helper()
	for {
		e, err := st.Next()
		if err != nil {
			st.s.t.Fatalf("the stream ended after %d events: %v", len(events), err)
		}
		if events = append(events, e); want(e) {
			return events
		}
	}
}

// All reads to the end of the stream, which must not be cut.
func (st *Stream) All() (events []Event) {
	st.s.t.Helper()
	for {
		e, err := st.Next()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			st.s.t.Fatalf("the stream broke off after %d events: %v", len(events), err)
		}
		events = append(events, e)
	}
}

// Close goes away, as a reader does whose tab is closed.
func (st *Stream) Close() {
	st.cancel()
	_ = st.Response.Body.Close()
}

// Is reports whether the event is of a type; a condition for Until.
func Is(types ...agui.Type) func(Event) bool {
	return func(e Event) bool {
		for _, t := range types {
			if e.Type() == t {
				return true
			}
		}
		return false
	}
}

// Ended reports whether the event ends a run; a condition for Until.
func Ended(e Event) bool { return Is(agui.TypeRunFinished, agui.TypeRunError)(e) }

// Log is all that the thread's log holds now.
func (s *Server) Log(thread string) (events []Event) {
	s.t.Helper()
	return s.log(thread, "")
}

// LastEvent is the last event of the thread's log; its ID is the cursor of the end.
func (s *Server) LastEvent(thread string) Event {
	s.t.Helper()
	events := s.log(thread, "&tail=1")
	if len(events) == 0 {
		s.t.Fatalf("thread %s has no event", thread)
	}
	return events[len(events)-1]
}

func (s *Server) log(thread, query string) (events []Event) {
	s.t.Helper()
	for {
		var page struct {
			Events []struct {
				ID    string
				Event json.RawMessage
			}
			Cursor string
		}
		s.Get(ThreadPath(thread, "/events?wait=0s"+query), &page)
		if len(page.Events) == 0 {
			return events
		}
		for _, f := range page.Events {
			e, err := agui.Decode(f.Event)
			if err != nil {
				s.t.Fatal(err)
			}
			events = append(events, Event{ID: f.ID, Data: f.Event, Event: e})
		}
		query = "&after=" + url.QueryEscape(page.Cursor)
	}
}
