package engine

import (
	"context"
	"errors"

	"github.com/agentstream-go/agentstream/eventlog"
)

// Seek reports whether a reader can go on from a cursor: nil, or an Error with
// the code cursor_gone. It lets a server answer before its stream begins.
func (e *Engine) Seek(ctx context.Context, thread string, after eventlog.Cursor) error {
	if after == (eventlog.Cursor{}) {
		return nil
	}
	gone := false
	err := e.o.Log.View(ctx, thread, func(v eventlog.View) error {
		head, err := v.Head()
		if err != nil {
			return err
		}
		if gone = head.Gen != after.Gen || after.Seq > head.Seq; gone || after.Seq == head.Seq {
			return nil
		}
		rec, err := getThread(v, thread)
		if gone = after.Seq < rec.floor(); gone || err != nil {
			return err
		}
		gone = true
		for r, err := range v.Records(after.Seq, 1) {
			gone = r.Cursor.Seq != after.Seq+1
			return err
		}
		return nil
	})
	if err == nil && gone || errors.Is(err, eventlog.ErrGone) {
		return readError(thread, eventlog.ErrGone)
	}
	return storage(err)
}
