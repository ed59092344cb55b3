package torture_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"
)

// ending is how readers learn that a thread has come to its end.
type ending struct {
	known chan struct{} // closed when last is set
	last  string        // id of the last event
}

func (e *ending) reached(id string) bool {
	select {
	case <-e.known:
		return id >= e.last
	default:
		return false
	}
}

// reader follows a thread in one way to its end, over cuts, stalls and servers.
type reader struct {
	*view
	kind   readerKind
	rand   *rand.Rand
	agent  string
	thread string
	end    *ending
	next   func() <-chan struct{} // closed when the driver comes to its next step
	heard  func()                 // tells the driver that something came
	cursor string                 // of long polling, which counts notes too
	whole  bool                   // is never cut or stalled: the driver looks through it
}

// follow reads until the thread's last event is there.
func (r *reader) follow(ctx context.Context) error {
	for !r.end.reached(r.at()) {
		var err error
		switch r.kind {
		case polling:
			err = r.poll(ctx)
		case rawReader, stalled:
			err = r.stream(ctx, "/v1/threads/"+url.PathEscape(r.thread)+"/events", "")
		case following:
			err = r.stream(ctx, r.attach("&follow=1"), "")
		case attaching:
			if err = r.stream(ctx, r.attach(""), ""); err == nil {
				err = r.watch(ctx)
			}
		case refreshing, snapshotting:
			prelude := "&prelude=replay"
			if r.kind == snapshotting {
				prelude = "&prelude=snapshot"
			}
			r.mu.Lock()
			r.reload()
			r.mu.Unlock()
			if err = r.stream(ctx, r.attach(prelude), "fresh"); err == nil {
				err = r.watch(ctx)
			}
		}
		if err != nil {
			return fmt.Errorf("%s, at %s: %w", r.who, r.at(), err)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s is at %s, and the end is %s: %w", r.who, r.at(), r.end.last, context.Cause(ctx))
		}
	}
	return nil
}

func (r *reader) attach(query string) string {
	return "/agui/" + r.agent + "?threadId=" + url.QueryEscape(r.thread) + query
}

// stream reads one stream, from where the reader is or else with nothing.
func (r *reader) stream(ctx context.Context, path, from string) error {
	c := call{
		method: "GET", path: path, bytes: cutAt(r.rand), until: r.end.known,
		done: func() bool {
			if r.heard != nil {
				r.heard()
			}
			return r.end.reached(r.at())
		},
	}
	if from == "" {
		c.after = r.at()
	}
	if r.whole {
		c.bytes = -1
	}
	if r.kind == stalled {
		c.tight, c.bytes = true, -1
		c.stall = func(ctx context.Context) {
			select {
			case <-r.next():
			case <-r.end.known:
			case <-ctx.Done():
			}
		}
	}
	before := r.at()
	_, err := r.read(ctx, c)
	if err == nil && r.at() == before {
		err = ignoreEnd(ctx, pause(ctx, time.Duration(1+r.rand.IntN(20))*time.Millisecond))
	}
	return err
}

// ignoreEnd leaves it to the caller to say what the end of a context means.
func ignoreEnd(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watch waits until there is something after the cursor, as a client does whose
// stream has ended with the run.
func (r *reader) watch(ctx context.Context) error {
	if r.end.reached(r.at()) {
		return nil
	}
	_, err := r.page(ctx, r.at())
	return err
}

type page struct {
	Events []struct {
		ID    string
		Event json.RawMessage
	}
	Cursor string
}

// page long-polls.
func (r *reader) page(ctx context.Context, after string) (p page, err error) {
	path := "/v1/threads/" + url.PathEscape(r.thread) + "/events?wait=1s&after=" + url.QueryEscape(after)
	a, err := r.w.try(ctx, "GET", path, nil)
	if err != nil || a.status == http.StatusServiceUnavailable {
		return p, ignoreEnd(ctx, pause(ctx, 20*time.Millisecond))
	}
	if a.status != http.StatusOK {
		return p, a.bad("GET " + path)
	}
	return p, json.Unmarshal(a.body, &p)
}

// poll takes one page of long polling.
func (r *reader) poll(ctx context.Context) error {
	p, err := r.page(ctx, r.cursor)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range p.Events {
		if err := r.take(e.ID, e.Event); err != nil {
			return err
		}
	}
	if p.Cursor != "" {
		r.cursor = p.Cursor
	}
	r.cut(true)
	return nil
}

// events counts what has come.
func (r *reader) events() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.got)
}

// ended gives the cursor, and whether a run ended there.
func (r *reader) ended() (at string, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, r.over
}
