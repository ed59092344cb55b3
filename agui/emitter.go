package agui

import (
	"encoding/json"
	"time"
)

// EmitterConfig says where an Emitter writes. Sink gets each event encoded; the
// bytes are valid until Sink returns. Thread and Run are the ids of the run.
// Now stamps events that have no timestamp; nil leaves them without.
type EmitterConfig struct {
	Thread, Run string
	Now         func() time.Time
	Sink        func(t Type, event []byte)
}

// Emitter turns the calls of an EventHandler into the encoded events of one
// run. Whatever it is called with, what it writes is a stream that both clients
// accept: it knows what is open, drops what makes no sense, closes everything
// before the terminal, and writes nothing after it. Calls must not be
// concurrent.
type Emitter struct{ cfg EmitterConfig }

// NewEmitter returns an emitter for one run.
func NewEmitter(cfg EmitterConfig) *Emitter { return &Emitter{cfg: cfg} }

// Begin writes RUN_STARTED, with the ids of the configuration. Any other call
// does it first if Begin was not called.
func (e *Emitter) Begin(RunStarted) {}

// Start implements EventHandler. An item that is open already is left alone.
func (e *Emitter) Start(Item) {}

// Delta implements EventHandler. An empty text, or one for an item that is not
// open, is dropped.
func (e *Emitter) Delta(kind Kind, id, text string) {}

// End implements EventHandler.
func (e *Emitter) End(kind Kind, id string, metadata json.RawMessage) {}

// ReplaceArgs implements EventHandler: nothing is written, but NeedsSnapshot is
// true from now on.
func (e *Emitter) ReplaceArgs(callID, args string) {}

// Result implements EventHandler.
func (e *Emitter) Result(Result) {}

// Emit implements EventHandler for every other event. Events that open or close
// something are followed like the calls; terminals end the run.
func (e *Emitter) Emit(Event) {}

// NeedsSnapshot reports whether arguments were replaced since the last
// MESSAGES_SNAPSHOT, so that one has to be emitted before the terminal.
func (e *Emitter) NeedsSnapshot() bool { return false }

// Close ends whatever is open: texts, reasoning messages and spans, calls
// (without a result), sub-agents, steps.
func (e *Emitter) Close() {}

// Finish closes and writes RUN_FINISHED with the ids of the configuration. Only
// the first terminal counts.
func (e *Emitter) Finish(RunFinished) {}

// Fail closes and writes RUN_ERROR. Only the first terminal counts.
func (e *Emitter) Fail(RunError) {}

// Done reports whether the terminal was written.
func (e *Emitter) Done() bool { return false }
