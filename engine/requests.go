package engine

import (
	"context"
	"errors"
	"iter"

	"github.com/agentstream-go/agentstream/eventlog"
)

// Requests lists requests over all threads, oldest first; an empty state gives
// all, an empty thread every thread's.
func (e *Engine) Requests(ctx context.Context, thread, state string) ([]Request, error) {
	out := []Request{}
	prefix := keyRequest
	if state == "pending" {
		prefix = keyPending
	}
	err := e.o.Log.View(ctx, "", func(v eventlog.View) error {
		for entry, err := range v.GlobalKeys(prefix, "", 0) {
			if err != nil {
				return err
			}
			r, found, err := decode[Request](v.GetGlobal(keyRequest + entry.Key[len(prefix):]))
			if err != nil {
				return err
			}
			if found && (state == "" || r.State == state) && (thread == "" || r.Thread == thread) {
				out = append(out, r)
			}
		}
		return nil
	})
	return out, storage(err)
}

// Request gives one request.
func (e *Engine) Request(ctx context.Context, id string) (r Request, err error) {
	err = e.o.Log.View(ctx, "", func(v eventlog.View) error {
		var found bool
		r, found, err = decode[Request](v.GetGlobal(keyRequest + id))
		if err == nil && !found {
			return refuse("request_unknown", "no request %q", id)
		}
		return err
	})
	return r, storage(err)
}

// RequestEvents yields every change of a request, over all threads, as a Frame
// whose Data is the Request, after a cursor and then live, until ctx ends. The
// zero cursor begins with the oldest that is kept. Requests of threads that were
// deleted are left out.
func (e *Engine) RequestEvents(ctx context.Context, after eventlog.Cursor) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		for f, err := range e.frames(ctx, nil, requestThread, after, EventOptions{}) {
			found := false
			if err == nil {
				if found, err = e.fillRequest(ctx, &f); ctx.Err() != nil {
					return
				}
			}
			if (found || err != nil) && !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// SeekRequests is Seek for RequestEvents.
func (e *Engine) SeekRequests(ctx context.Context, after eventlog.Cursor) error {
	err := e.Seek(ctx, requestThread, after)
	if own := (*Error)(nil); errors.As(err, &own) && own.Code == "cursor_gone" {
		return &Error{Code: own.Code, Err: own.Err, Message: "the feed no longer has what came after this cursor; fetch the requests and begin without one"}
	}
	return err
}

// fillRequest puts the request itself into the frame of a change.
func (e *Engine) fillRequest(ctx context.Context, f *Frame) (found bool, err error) {
	change, _, err := decode[requestChange](f.Data, nil)
	if err != nil {
		return false, err
	}
	var r Request
	err = e.o.Log.View(ctx, "", func(v eventlog.View) (err error) {
		r, found, err = change.at(v)
		return err
	})
	// The next may be left out, so nothing waits for it.
	f.Data, f.Run, f.More = encode(r), r.Run, false
	return found, storage(err)
}

// Grants lists a thread's remembered answers, oldest first.
func (e *Engine) Grants(ctx context.Context, thread string) (out []Grant, err error) {
	c := e.use(thread)
	defer c.release()
	err = c.known(ctx, func(v eventlog.View, _ *threadRecord, _ eventlog.Cursor) error {
		out, err = readGrants(v)
		return err
	})
	return out, storage(err)
}

func readGrants(v eventlog.View) ([]Grant, error) {
	out := []Grant{}
	for entry, err := range v.Keys(keyGrant, "", 0) {
		g, _, err := decode[Grant](entry.Value, err)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// Revoke forgets a remembered answer.
func (e *Engine) Revoke(ctx context.Context, id string) error {
	var thread []byte
	err := e.o.Log.View(ctx, "", func(v eventlog.View) (err error) {
		thread, err = v.GetGlobal(keyGrants + id)
		return err
	})
	if err != nil {
		return storage(err)
	}
	if thread == nil {
		return refuse("grant_unknown", "no grant %q", id)
	}
	return e.change(ctx, string(thread), change{
		open: func(t *turn) {
			for i, g := range t.grants {
				if g.ID == id {
					t.grants = append(t.grants[:i:i], t.grants[i+1:]...)
					break
				}
			}
			t.j.drop(keyGrant + id)
			t.j.dropGlobal(keyGrants + id)
		},
		idle: func(_ *threadRecord, b *eventlog.Batch) {
			b.Delete = append(b.Delete, keyGrant+id)
			b.DeleteGlobal = append(b.DeleteGlobal, keyGrants+id)
		},
	})
}
