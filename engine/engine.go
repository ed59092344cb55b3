package engine

import (
	"context"
	"iter"

	"github.com/agentstream-go/agentstream/eventlog"
)

// Engine runs agents over a log. Make it with New and end it with Close.
type Engine struct {
	o Options
}

// New makes an Engine. Runs that an earlier owner left open are ended as lost
// before it returns. ctx bounds only that.
func New(ctx context.Context, o Options) (*Engine, error) { return &Engine{o: o}, nil }

// Start starts a run, or says which one already answers the request. It returns
// when RUN_STARTED is durable. The same (thread, run id) with the same agent and
// the same new user messages attaches; ctx bounds the call, never the run.
func (e *Engine) Start(ctx context.Context, r StartRequest) (Started, error) {
	return Started{}, refuse("internal", "nothing runs here")
}

// Cancel cancels a run, or the turn that waits for approvals after it. It waits
// until the run has ended, or ctx has, and gives the run as it then is; a run
// that has ended is left alone. An empty thread is allowed if the id is
// unambiguous.
func (e *Engine) Cancel(ctx context.Context, thread, run string) (Run, error) {
	return Run{}, refuse("run_unknown", "no run %q", run)
}

// Thread gives a thread with what its agent offers.
func (e *Engine) Thread(ctx context.Context, id string) (Thread, error) {
	return Thread{}, refuse("thread_unknown", "no thread %q", id)
}

// Threads lists threads, the last changed first.
func (e *Engine) Threads(ctx context.Context, q ThreadQuery) (ThreadPage, error) {
	return ThreadPage{}, nil
}

// Configure changes title, mode or model of a thread.
func (e *Engine) Configure(ctx context.Context, id string, p ThreadPatch) (Thread, error) {
	return Thread{}, refuse("thread_unknown", "no thread %q", id)
}

// Delete removes a thread and all that belongs to it. With an open run it is
// refused with run_active, or with force the run is cancelled first.
func (e *Engine) Delete(ctx context.Context, id string, force bool) error {
	return refuse("thread_unknown", "no thread %q", id)
}

// Runs lists a thread's runs in the order they were made.
func (e *Engine) Runs(ctx context.Context, thread string) ([]Run, error) { return nil, nil }

// Run gives a run. An empty thread is allowed if the id is unambiguous.
func (e *Engine) Run(ctx context.Context, thread, run string) (Run, error) {
	return Run{}, refuse("run_unknown", "no run %q", run)
}

// Messages gives the AG-UI list, atomic with its cursor: the last limit messages
// (0: all) before the message with the id before (empty: the end).
func (e *Engine) Messages(ctx context.Context, thread string, limit int, before string) (Messages, error) {
	return Messages{}, refuse("thread_unknown", "no thread %q", thread)
}

// Rounds gives the rounds and the cursor they are as of. The rounds of an open
// turn are there as soon as they are handed out.
func (e *Engine) Rounds(ctx context.Context, thread string) ([]Round, eventlog.Cursor, error) {
	return nil, eventlog.Cursor{}, refuse("thread_unknown", "no thread %q", thread)
}

// Events yields the thread's log after a cursor and then what comes, until ctx
// ends. The first error ends it; cursor_gone says that the cursor is of no use.
// An unknown thread is an empty log.
func (e *Engine) Events(ctx context.Context, thread string, after eventlog.Cursor, o EventOptions) iter.Seq2[Frame, error] {
	return func(func(Frame, error) bool) {}
}

// Join yields a run as a stock client takes it, and ends with the run: for a
// reader with a cursor what comes after it, else the open run from its
// RUN_STARTED.
func (e *Engine) Join(ctx context.Context, r JoinRequest) iter.Seq2[Frame, error] {
	return func(func(Frame, error) bool) {}
}

// Requests lists requests over all threads, oldest first; an empty state gives
// all, an empty thread every thread's.
func (e *Engine) Requests(ctx context.Context, thread string, state string) ([]Request, error) {
	return nil, nil
}

// Request gives one request.
func (e *Engine) Request(ctx context.Context, id string) (Request, error) {
	return Request{}, refuse("request_unknown", "no request %q", id)
}

// RequestEvents yields every change of a request, over all threads, as a Frame
// whose Data is the Request, after a cursor and then live.
func (e *Engine) RequestEvents(ctx context.Context, after eventlog.Cursor) iter.Seq2[Frame, error] {
	return func(func(Frame, error) bool) {}
}

// Resolve answers a request. The same answer again is fine, another is
// already_resolved.
func (e *Engine) Resolve(ctx context.Context, id string, a Answer) (Request, error) {
	return Request{}, refuse("request_unknown", "no request %q", id)
}

// Grants lists a thread's remembered answers.
func (e *Engine) Grants(ctx context.Context, thread string) ([]Grant, error) { return nil, nil }

// Revoke forgets a remembered answer.
func (e *Engine) Revoke(ctx context.Context, id string) error {
	return refuse("grant_unknown", "no grant %q", id)
}

// Agents gives the agents that can be run.
func (e *Engine) Agents() []Agent { return e.o.Agents }

// Drain refuses new runs from now on.
func (e *Engine) Drain() {}

// Close drains, gives running turns the shutdown timeout, ends the others with
// server_stopping, and ends every agent. It returns when all is done, or when
// ctx ends, which cuts the shutdown timeout short.
func (e *Engine) Close(ctx context.Context) error { return nil }
