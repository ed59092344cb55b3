package engine

import (
	"context"
	"sync"

	"github.com/agentstream-go/agentstream/eventlog"
)

// requestThread is the log of all changes of requests. No client can name it.
const requestThread = "\x00requests"

// feedKeeps is about how many changes the feed remembers.
const feedKeeps = 4096

// feed appends the changes of requests to their log, in order, after they have
// become durable where they belong. What it has not appended yet stands under a key
// that was written with the change, so that none is lost when the process dies. What
// it keeps of a change says nothing of a thread, so that one that is deleted leaves
// nothing here.
type feed struct {
	e     *Engine
	ended chan struct{}

	mu     sync.Mutex
	queue  []requestChange
	closed bool
	work   chan struct{}
}

// requestChange says which request came to which state.
type requestChange struct {
	ID    string `json:"id"`
	State string `json:"state"`
}

// at gives the request as it was after a change; found is false if it is gone.
func (r requestChange) at(v eventlog.View) (out Request, found bool, err error) {
	out, found, err = decode[Request](v.GetGlobal(keyRequest + r.ID))
	if r.State == "pending" {
		out.State, out.Resolution = r.State, nil
	}
	return out, found, err
}

func newFeed(e *Engine) *feed {
	f := &feed{e: e, work: make(chan struct{}, 1), ended: make(chan struct{})}
	go f.run()
	return f
}

// key is where the change stands until the feed has it; those of a request in order.
func (r requestChange) key() string {
	if r.State == "pending" {
		return keyChanged + r.ID + "/0"
	}
	return keyChanged + r.ID + "/1"
}

// add takes a change whose key is durable.
func (f *feed) add(r requestChange) {
	f.mu.Lock()
	f.queue = append(f.queue, r)
	f.mu.Unlock()
	f.wake()
}

// recover takes what an owner who died has not appended.
func (f *feed) recover(ctx context.Context) error {
	return f.e.o.Log.View(ctx, "", func(v eventlog.View) error {
		for entry, err := range v.GlobalKeys(keyChanged, "", 0) {
			change, _, err := decode[requestChange](entry.Value, err)
			if err != nil {
				return err
			}
			f.add(change)
		}
		return nil
	})
}

func (f *feed) wake() {
	select {
	case f.work <- struct{}{}:
	default:
	}
}

// close waits until all is appended.
func (f *feed) close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.wake()
	<-f.ended
}

func (f *feed) run() {
	defer close(f.ended)
	for range f.work {
		for {
			f.mu.Lock()
			changes, closed := f.queue, f.closed
			f.queue = nil
			f.mu.Unlock()
			if len(changes) > 0 {
				f.append(changes)
				continue
			}
			if closed {
				return
			}
			break
		}
	}
}

func (f *feed) append(changes []requestChange) {
	ctx := context.Background()
	b := eventlog.Batch{Thread: requestThread}
	for _, c := range changes {
		b.Events = append(b.Events, eventlog.Event{Kind: eventlog.KindEvent, Data: encode(c)})
		b.DeleteGlobal = append(b.DeleteGlobal, c.key())
	}
	head, err := f.e.o.Log.Append(ctx, b)
	if err == nil && head.Seq/feedKeeps != (head.Seq-uint64(len(changes)))/feedKeeps && head.Seq > feedKeeps {
		err = f.e.o.Log.Trim(ctx, requestThread, eventlog.Cursor{Gen: head.Gen, Seq: head.Seq - feedKeeps}, nil)
	}
	if err != nil {
		f.e.o.Logger.Warn("the feed of requests lacks a change", "error", err)
	}
}
