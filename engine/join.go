package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/internal/join"
)

// Join yields a thread as a stock client takes it, and ends with the run: for a
// reader with a cursor what comes after it, else a prelude and the live tail, so
// that the reader ends with what one holds that was there from the start. Without
// Started it is the open run, or the last one if none is open. What only 1.0 knows
// is added for readers that name their version.
func (e *Engine) Join(ctx context.Context, r JoinRequest) iter.Seq2[Frame, error] {
	return func(yield func(Frame, error) bool) {
		j := joiner{e: e, r: r, yield: yield, reader: join.Reader{Version: r.Version, Window: r.Window}}
		if r.Prelude == "snapshot" {
			j.reader.Form = join.Snapshot
		}
		c := e.use(r.Thread)
		defer c.release()
		switch s := r.Started; {
		case s == nil && (r.After.IsZero() || r.Prelude != ""):
			j.attach(ctx, c, r.Held)
		case s == nil:
			j.rest(ctx, c)
		case len(s.Pending) > 0:
			j.interrupted()
		case s.Attached && s.Run.State != RunQueued:
			j.attach(ctx, c, s.posted)
			j.afterwards()
		default:
			j.run(ctx, s.Run.ID, s.After)
			j.afterwards()
		}
		j.release()
	}
}

// joiner writes one reader's stream.
type joiner struct {
	e      *Engine
	r      JoinRequest
	reader join.Reader
	yield  func(Frame, error) bool
	last   Frame // as it was yielded
	ended  bool  // the reader has gone, or an error was yielded

	deltas join.Deltas // of frame, which is kept back while the next may go on with it
	frame  Frame
	held   bool
}

// put yields a frame. Of those that follow each other at once it merges the deltas
// of one thing under the cursor of the last, because a stock client's work for
// an event grows with its history.
func (j *joiner) put(f Frame) bool {
	if j.held && f.ID != "" && j.deltas.Add(f.Data) {
		j.frame.ID, j.frame.More = f.ID, f.More
		return f.More || j.release()
	}
	if !j.release() {
		return false
	}
	if f.More && f.ID != "" && j.deltas.Begin(f.Data) {
		j.frame, j.held = f, true
		return true
	}
	return j.emit(f)
}

func (j *joiner) release() bool {
	if j.held {
		j.held, j.frame.Data = false, j.deltas.Event()
		j.emit(j.frame)
	}
	return !j.ended
}

func (j *joiner) emit(f Frame) bool {
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
	if j.release() {
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
		if !j.begun(ctx, f) {
			return
		}
	}
}

// begun yields a frame. If it is the RUN_STARTED of a run that the reader has just
// started while it was behind, the reader is brought up to date right after it,
// in its own stream and never in the log.
func (j *joiner) begun(ctx context.Context, f Frame) bool {
	s := j.r.Started
	if s == nil || s.posted == nil || f.Run != s.Run.ID || !bytes.HasPrefix(f.Data, started) {
		return j.put(f)
	}
	c := j.e.use(j.r.Thread)
	defer c.release()
	cursor, err := eventlog.ParseCursor(f.ID)
	var at place
	if err == nil {
		at, err = c.locate(ctx, cursor)
	}
	if err != nil {
		j.fail(storage(err))
		return false
	}
	news := join.Reconcile(at.point.List, s.posted, j.r.Window)
	if len(news) == 0 {
		return j.put(f)
	}
	id := f.ID
	f.ID, f.More = "", true
	ok := j.put(f)
	for i, e := range news {
		n := Frame{Run: f.Run, Data: agui.Append(nil, e), More: i < len(news)-1}
		if !n.More {
			n.ID = id
		}
		ok = ok && j.put(n)
	}
	return ok
}

var started = []byte(`{"type":"` + agui.TypeRunStarted + `"`)

// attach yields a prelude and what comes after it. held is what a poster says it
// holds.
func (j *joiner) attach(ctx context.Context, c *conversation, held []agui.Message) {
	at, err := c.locate(ctx, j.r.After)
	if err != nil {
		j.fail(storage(err))
		return
	}
	if at.run == nil {
		if j.r.Follow {
			j.run(ctx, "", at.cursor)
		}
		return
	}
	j.reader.Pending = interruptsOf(at.pending)
	if held != nil {
		j.reader = at.point.Suit(at.rest, held, j.reader)
	}
	open := at.run.ToSeq == 0 || at.run.ToSeq > at.cursor.Seq
	events := at.point.Prelude(at.rest, j.reader)
	for i, e := range events {
		f := Frame{Run: at.run.ID, Data: agui.Append(nil, e), More: i < len(events)-1, Terminal: e.Type().Terminal()}
		if !f.More {
			f.ID = at.cursor.String()
		}
		if !j.put(f) {
			return
		}
	}
	switch {
	case j.r.Follow:
		j.run(ctx, "", at.cursor)
	case open:
		j.run(ctx, at.run.ID, at.cursor)
	}
}

// rest yields what a reader with a cursor lacks, up to the end of what runs or
// ran last.
func (j *joiner) rest(ctx context.Context, c *conversation) {
	last, err := c.lastRun(ctx)
	switch {
	case err != nil:
		j.fail(storage(err))
	case j.r.Follow:
		j.run(ctx, "", j.r.After)
	case last != nil && (last.ToSeq == 0 || last.ToSeq > j.r.After.Seq):
		j.until(ctx, last)
	}
}

// until yields all events after the reader's place, the last run's terminal being
// the end.
func (j *joiner) until(ctx context.Context, last *runRecord) {
	for f, err := range j.e.Events(ctx, j.r.Thread, j.r.After, EventOptions{}) {
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
