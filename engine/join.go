package engine

import (
	"context"
	"encoding/json"
	"iter"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
)

// Join yields a run as a stock client takes it, and ends with the run: for a
// reader with a cursor what comes after it, else the run from its RUN_STARTED.
// Without Started it is the open run, or the last one if none is open. What only
// 1.0 knows is added for readers that name their version.
func (e *Engine) Join(ctx context.Context, r JoinRequest) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		j := joiner{e: e, r: r, yield: yield}
		switch {
		case r.Started != nil && len(r.Started.Pending) > 0:
			j.interrupted()
		case r.Started != nil:
			j.run(ctx, r.Started.Run.ID, j.from(r.Started.After))
			j.afterwards()
		default:
			j.attach(ctx)
		}
	}
}

// joiner writes one reader's stream.
type joiner struct {
	e     *Engine
	r     JoinRequest
	yield func(Frame, error) bool
	last  Frame // as it was yielded
	ended bool  // the reader has gone, or an error was yielded
}

func (j *joiner) from(start eventlog.Cursor) eventlog.Cursor {
	if j.r.After.IsZero() {
		return start
	}
	return j.r.After
}

func (j *joiner) put(f Frame) bool {
	if f.Terminal {
		if j.r.Started != nil {
			for _, q := range j.r.Started.Conflicts {
				j.ended = j.ended || !j.yield(Frame{Run: f.Run, More: true, Data: agui.Append(nil, &agui.Custom{
					Base: agui.Base{Timestamp: j.e.o.Now().UnixMilli()}, Name: "agentstream.request_conflict", Value: encode(q),
				})}, nil)
			}
		}
		f.Data = agui.ForReader(f.Data, j.r.Version)
	}
	if !j.ended {
		j.last, j.ended = f, !j.yield(f, nil)
	}
	return !j.ended
}

func (j *joiner) fail(err error) {
	if !j.ended {
		j.ended = true
		j.yield(Frame{}, err)
	}
}

// run yields one run, or with Follow all that comes.
func (j *joiner) run(ctx context.Context, id string, after eventlog.Cursor) {
	o := EventOptions{Run: id}
	if j.r.Follow {
		o.Run = ""
	}
	for f, err := range j.e.Events(ctx, j.r.Thread, after, o) {
		if err != nil {
			j.fail(err)
			return
		}
		if !j.put(f) {
			return
		}
	}
}

// attach yields the open run, or the last one.
func (j *joiner) attach(ctx context.Context) {
	c := j.e.use(j.r.Thread)
	defer c.release()
	if err := c.heal(ctx); err != nil {
		j.fail(storage(err))
		return
	}
	var last *runRecord
	var head eventlog.Cursor
	err := c.view(ctx, func(_ eventlog.View, rec *threadRecord, end eventlog.Cursor) error {
		if head = end; rec != nil {
			last = rec.Last
		}
		return nil
	})
	switch {
	case err != nil:
		j.fail(storage(err))
	case last == nil && !j.r.Follow:
	case last == nil:
		j.run(ctx, "", j.r.After)
	case j.r.After.IsZero():
		j.run(ctx, last.ID, eventlog.Cursor{Gen: head.Gen, Seq: last.FromSeq - 1})
	case j.r.Follow:
		j.run(ctx, "", j.r.After)
	default:
		j.rest(ctx, last)
	}
}

// rest yields what a reader with a cursor lacks, up to the end of the last run.
func (j *joiner) rest(ctx context.Context, last *runRecord) {
	o := EventOptions{NoWait: last.ToSeq > 0}
	for f, err := range j.e.Events(ctx, j.r.Thread, j.r.After, o) {
		if err != nil {
			j.fail(err)
			return
		}
		if !j.put(f) || f.Terminal && f.Run == last.ID {
			return
		}
	}
}

// interrupted tells a client of the requests that keep its run from starting.
func (j *joiner) interrupted() {
	run := j.r.Started.Run
	j.bracket(run.ID, &agui.RunFinished{ThreadID: run.Thread, RunID: run.ID, Outcome: &agui.Outcome{
		Type: agui.OutcomeInterrupt, Interrupts: interruptsOf(j.r.Started.Pending),
	}})
}

// afterwards follows the failure of a run that answered a resume by an empty
// one: only a RUN_FINISHED clears a stock client's pending interrupts.
func (j *joiner) afterwards() {
	if j.ended || !j.r.Started.Resumed || !j.last.Terminal || j.r.Follow {
		return
	}
	var e struct{ Type agui.Type }
	if json.Unmarshal(j.last.Data, &e) == nil && e.Type == agui.TypeRunError {
		id := j.last.Run + "-end"
		j.bracket(id, &agui.RunFinished{ThreadID: j.r.Thread, RunID: id})
	}
}

// bracket yields a run that is in no log.
func (j *joiner) bracket(id string, end *agui.RunFinished) {
	now := j.e.o.Now().UnixMilli()
	end.Timestamp = now
	start := &agui.RunStarted{Base: agui.Base{Timestamp: now}, ThreadID: j.r.Thread, RunID: id}
	if j.yield(Frame{Run: id, Data: agui.Append(nil, start), More: true}, nil) {
		j.yield(Frame{Run: id, Data: agui.Append(nil, end), Terminal: true}, nil)
	}
	j.ended = true
}
