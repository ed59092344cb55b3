package engine

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/eventlog"
)

// cut is a log of which the feed gets no more, as when the process dies just then.
type cut struct {
	*memlog
	now bool
}

func (l *cut) Append(ctx context.Context, b eventlog.Batch) (eventlog.Cursor, error) {
	if b.Thread == requestThread && l.now {
		return eventlog.Cursor{}, errors.New("the process is dead")
	}
	return l.memlog.Append(ctx, b)
}

// changes reads the feed until it has told so much.
func (w *world) changes(n int) (out []string) {
	w.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for f, err := range w.RequestEvents(ctx, eventlog.Cursor{}) {
		q, _, err := decode[Request](f.Data, err)
		if err != nil {
			w.tb.Fatal(err)
		}
		if out = append(out, q.Thread+" "+q.State); len(out) == n {
			break
		}
	}
	return out
}

// A change of a request that is durable is told, also when the process died before
// the feed had it, and once.
func TestNoChangeIsLostWithTheProcess(t *testing.T) {
	log := &cut{memlog: newMemlog()}
	a := newWorld(t, log, map[string]script{"ask": asks("c")})
	a.stream(a.start("before", "r1", "ask"))
	if d := cmp.Diff([]string{"before pending"}, a.changes(1)); d != "" {
		t.Error(d)
	}
	log.now = true
	a.stream(a.start("t", "r1", "ask"))
	b := newWorld(t, log.memlog, nil)
	want := []string{"before pending", "t pending", "before cancelled", "t cancelled"}
	if d := cmp.Diff(want, b.changes(4)); d != "" {
		t.Error(d)
	}
	b.close()
	c := newWorld(t, log.memlog, nil)
	c.close()
	if d := cmp.Diff(want, c.changes(4)); d != "" {
		t.Error(d)
	}
	if head := log.thread(requestThread).head(); head.Seq != 4 {
		t.Errorf("the feed has %d changes", head.Seq)
	}
	for key := range log.global {
		if len(key) > len(keyChanged) && key[:len(keyChanged)] == keyChanged {
			t.Errorf("%s is left", key)
		}
	}
	_ = a.Close(bg) // fenced long ago
}
