package engine

import "fmt"

// limitError is the cause that ends a turn whose run has become too long.
type limitError string

func (e limitError) Error() string { return string(e) }

// bound cancels the turn once its run has said more than a run may. What the
// agent says from then on is dropped: one that does not listen must not fill the
// disk while it is being ended. The turn's lock is held.
func (t *turn) bound() {
	if t.limited || t.ending || t.waiting {
		return
	}
	l := t.e.o.Limits
	var why limitError
	switch events, bytes := t.j.seq+1-t.run.FromSeq, t.run.Bytes+t.large; {
	case l.RunEvents > 0 && events > uint64(l.RunEvents):
		why = limitError(fmt.Sprintf("the run has more than %d events, which is all that a run may have; raise limits.run_events if it needs more", l.RunEvents))
	case l.RunBytes > 0 && bytes > l.RunBytes:
		why = limitError(fmt.Sprintf("the run has more than %d bytes, which is all that a run may have; raise limits.run_bytes if it needs more", l.RunBytes))
	default:
		return
	}
	t.limited = true
	t.cancel(why)
}
