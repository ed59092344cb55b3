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
		for _, err := range v.Records(after.Seq, 1) {
			return err
		}
		return nil
	})
	if gone || errors.Is(err, eventlog.ErrGone) {
		return &Error{Code: "cursor_gone", Thread: thread, Message: "the log no longer has what came after this cursor; fetch the thread's messages and go on from their cursor", Err: err}
	}
	return err
}
