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
// become durable where they belong. What it keeps of a change says nothing of a
// thread, so that one that is deleted leaves nothing here.
type feed struct {
	e     *Engine
	ended chan struct{}

	mu     sync.Mutex
	queue  []eventlog.Event
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

func (f *feed) add(r Request) {
	f.mu.Lock()
	f.queue = append(f.queue, eventlog.Event{Kind: eventlog.KindEvent, Data: encode(requestChange{r.ID, r.State})})
	f.mu.Unlock()
	f.wake()
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
			events, closed := f.queue, f.closed
			f.queue = nil
			f.mu.Unlock()
			if len(events) > 0 {
				f.append(events)
				continue
			}
			if closed {
				return
			}
			break
		}
	}
}

func (f *feed) append(events []eventlog.Event) {
	ctx := context.Background()
	head, err := f.e.o.Log.Append(ctx, eventlog.Batch{Thread: requestThread, Events: events})
	if err == nil && head.Seq/feedKeeps != (head.Seq-uint64(len(events)))/feedKeeps && head.Seq > feedKeeps {
		err = f.e.o.Log.Trim(ctx, requestThread, eventlog.Cursor{Gen: head.Gen, Seq: head.Seq - feedKeeps}, nil)
	}
	if err != nil {
		f.e.o.Logger.Warn("the feed of requests lacks a change", "error", err)
	}
}
