package agui

import (
	"encoding/json"
	"slices"
	"time"
)

// EmitterConfig says where an Emitter writes. Sink gets each event encoded; the
// bytes are valid until Sink returns. Thread and Run are the ids of the run.
// Now stamps events that have no timestamp, deltas excepted: START and END say
// when, and a clock costs more than all the rest of a delta. nil leaves all
// without.
type EmitterConfig struct {
	Thread, Run string
	Now         func() time.Time
	Sink        func(t Type, event []byte)
}

// Emitter turns the calls of an EventHandler into the encoded events of one
// run. Whatever it is called with, what it writes is a stream that both clients
// accept: it knows what is open, drops what makes no sense there, closes
// everything before the terminal, and writes nothing after it. Calls must not be
// concurrent.
type Emitter struct {
	cfg      EmitterConfig
	track    tracker
	begun    bool
	done     bool
	snapshot bool // arguments were replaced
	used     uses
	buf      []byte
	current  item // of the last delta
}

// item is what a run of deltas needs: everything before the text, encoded.
type item struct {
	kind   Kind
	id     string
	prefix []byte
	suffix []byte
}

// NewEmitter returns an emitter for one run.
func NewEmitter(cfg EmitterConfig) *Emitter {
	if cfg.Sink == nil {
		cfg.Sink = func(Type, []byte) {}
	}
	return &Emitter{cfg: cfg}
}

// Begin writes RUN_STARTED, with the ids of the configuration. Any other call
// does it first if Begin was not called.
func (e *Emitter) Begin(start RunStarted) {
	if e.begun {
		return
	}
	e.begun = true
	start.ThreadID, start.RunID = e.cfg.Thread, e.cfg.Run
	if start.Input != nil {
		echo := *start.Input
		echo.Messages = portable(echo.Messages)
		start.Input = &echo
	}
	if start.Input != nil && !e.acceptable(&start) {
		start.Input = nil
	}
	if start.Input != nil {
		e.track.history(start.Input.Messages, false)
		e.used.messages(start.Input.Messages)
	}
	e.write(&start)
}

// Replay takes into account an event of this run that was written before, by an
// emitter that is gone, and writes nothing. After all of them the emitter goes on
// where that one stopped, so that a run whose server died can be closed.
func (e *Emitter) Replay(ev Event) {
	e.begun = true
	switch ev := ev.(type) {
	case *RunStarted:
		if ev.Input != nil {
			e.track.history(ev.Input.Messages, false)
			e.used.messages(ev.Input.Messages)
		}
	case *RunFinished, *RunError:
		e.done = true
	default:
		if e.track.apply(ev, V1) == nil {
			e.used.note(ev)
		}
	}
}

// ready begins the run if need be, and reports whether it is still open.
func (e *Emitter) ready() bool {
	if !e.begun {
		e.Begin(RunStarted{})
	}
	return !e.done
}

func (e *Emitter) now() int64 {
	if e.cfg.Now == nil {
		return 0
	}
	return e.cfg.Now().UnixMilli()
}

func (e *Emitter) write(ev Event) {
	e.buf = appendEvent(e.buf[:0], ev, e.now())
	e.cfg.Sink(ev.Type(), e.buf)
}

// acceptable reports whether both clients take what the event holds, whatever
// stands before it.
func (e *Emitter) acceptable(ev Event) bool {
	e.buf = appendEvent(e.buf[:0], ev, 0)
	return checkFields(e.buf, V0) == nil && checkFields(e.buf, V1) == nil
}

// put writes ev if it may stand here.
func (e *Emitter) put(ev Event) bool {
	if !e.used.fits(ev) || e.track.apply(ev, V1) != nil {
		return false
	}
	e.used.note(ev)
	e.write(ev)
	return true
}

// Start implements EventHandler. An item that is open already is left alone.
func (e *Emitter) Start(i Item) {
	if !e.ready() {
		return
	}
	b := Base{Metadata: i.Metadata, SubagentRunID: i.Subagent}
	switch i.Kind {
	case KindText:
		e.open(&TextMessageStart{Base: b, MessageID: i.ID})
	case KindReasoning:
		span := Base{SubagentRunID: i.Subagent}
		e.open(&ReasoningStart{Base: span, MessageID: i.ID})
		e.open(&ReasoningMessageStart{Base: b, MessageID: i.ID})
	case KindToolCall:
		e.open(&ToolCallStart{Base: b, ToolCallID: i.ID, ToolCallName: i.Name, ParentMessageID: i.Parent})
	}
}

// open writes an opening event. An id that comes again belongs to whom it
// belonged before: if its tag or its parent say otherwise, it goes without.
func (e *Emitter) open(ev Event) {
	if e.put(ev) {
		return
	}
	ev.base().SubagentRunID = ""
	if e.put(ev) {
		return
	}
	if call, ok := ev.(*ToolCallStart); ok && call.ParentMessageID != "" {
		call.ParentMessageID = ""
		e.put(call)
	}
}

// Delta implements EventHandler. An empty text, or one for an item that is not
// open, is dropped.
func (e *Emitter) Delta(kind Kind, id, text string) {
	if text == "" || e.done {
		return
	}
	if (e.current.kind != kind || e.current.id != id) && !e.turnTo(kind, id) {
		return
	}
	buf := append(e.buf[:0], e.current.prefix...)
	buf = append(appendEscaped(buf, text), '"')
	e.buf = append(buf, e.current.suffix...)
	e.cfg.Sink(deltaTypes[kind], e.buf)
}

var deltaTypes = [...]Type{
	KindText:      TypeTextMessageContent,
	KindReasoning: TypeReasoningMessageContent,
	KindToolCall:  TypeToolCallArgs,
}

var deltaEntities = [...]entity{KindText: entText, KindReasoning: entReasoning, KindToolCall: entToolCall}

// turnTo prepares deltas for another item, if it is open.
func (e *Emitter) turnTo(kind Kind, id string) bool {
	if kind < KindText || kind > KindToolCall || !e.track.isOpen(deltaEntities[kind], id) {
		return false
	}
	key := `,"messageId":`
	if kind == KindToolCall {
		key = `,"toolCallId":`
	}
	w := encoder{buf: e.current.prefix[:0]}
	w.open(deltaTypes[kind])
	w.str(key, id)
	w.buf = append(w.buf, `,"delta":"`...)
	owner, _ := e.track.owner(deltaEntities[kind], id)
	tail := encoder{buf: e.current.suffix[:0]}
	tail.opt(`,"subagentRunId":`, owner)
	e.current = item{kind, id, w.buf, append(tail.buf, '}')}
	return true
}

// End implements EventHandler.
func (e *Emitter) End(kind Kind, id string, metadata json.RawMessage) {
	if !e.ready() || kind < KindText || kind > KindToolCall || !e.track.isOpen(deltaEntities[kind], id) {
		return
	}
	e.current.kind = 0
	owner, _ := e.track.owner(deltaEntities[kind], id)
	b := Base{SubagentRunID: owner}
	switch kind {
	case KindText:
		e.put(&TextMessageEnd{b, id})
	case KindReasoning:
		e.put(&ReasoningMessageEnd{b, id})
		e.put(&ReasoningEnd{b, id})
	case KindToolCall:
		b.Metadata = metadata
		e.put(&ToolCallEnd{b, id})
	}
}

// ReplaceArgs implements EventHandler: nothing is written, but NeedsSnapshot is
// true from now on.
func (e *Emitter) ReplaceArgs(string, string) { e.snapshot = true }

// Result implements EventHandler.
func (e *Emitter) Result(r Result) {
	if e.ready() {
		e.put(&ToolCallResult{
			Base:      Base{Metadata: r.Metadata, SubagentRunID: r.Subagent},
			MessageID: r.MessageID, ToolCallID: r.CallID, Content: StringContent(r.Content),
		})
	}
}

// Emit implements EventHandler for every other event. What opens or closes
// something is followed like the calls; RUN_STARTED is Begin, a terminal is
// Finish or Fail. Chunks, events of unknown types and what a client would refuse
// are dropped.
func (e *Emitter) Emit(ev Event) {
	switch ev := ev.(type) {
	case *RunStarted:
		e.Begin(*ev)
	case *RunFinished:
		e.Finish(*ev)
	case *RunError:
		e.Fail(*ev)
	case *Custom, *Raw:
		if e.ready() {
			e.write(ev)
		}
	case *Unknown: // 0.0.59 takes none
	case *MessagesSnapshot:
		e.emit(&MessagesSnapshot{ev.Base, portable(ev.Messages)})
	case *ToolCallResult:
		m := Message{Role: RoleTool, Content: ev.Content}.Portable()
		e.emit(&ToolCallResult{ev.Base, ev.MessageID, ev.ToolCallID, m.Content, RoleTool})
	default:
		e.emit(ev)
	}
}

func (e *Emitter) emit(ev Event) {
	if !e.ready() || freeForm(ev) && !e.acceptable(ev) || !e.put(ev) {
		return
	}
	switch ev.(type) {
	case *MessagesSnapshot:
		e.snapshot = false
		e.current.kind = 0 // owners may have changed
	case *TextMessageEnd, *ToolCallEnd, *ReasoningMessageEnd:
		e.current.kind = 0
	}
}

// freeForm reports whether the event has raw JSON or a word of a closed set, so
// that a client may refuse it for what it holds.
func freeForm(ev Event) bool {
	switch ev.(type) {
	case *StateDelta, *MessagesSnapshot, *ActivitySnapshot, *ActivityDelta, *TextMessageStart,
		*ToolCallResult, *ReasoningEncryptedValue, *SubagentFinished:
		return true
	}
	return false
}

// NeedsSnapshot reports whether arguments were replaced since the last
// MESSAGES_SNAPSHOT, so that one has to be emitted before the terminal.
func (e *Emitter) NeedsSnapshot() bool { return e.snapshot }

// Close ends whatever is open: texts, reasoning messages and spans, calls
// (without a result), sub-agents, steps.
func (e *Emitter) Close() {
	if !e.ready() {
		return
	}
	e.current.kind = 0
	e.closeAll(entText, func(b Base, id string) Event { return &TextMessageEnd{b, id} })
	e.closeAll(entReasoning, func(b Base, id string) Event { return &ReasoningMessageEnd{b, id} })
	e.closeAll(entSpan, func(b Base, id string) Event { return &ReasoningEnd{b, id} })
	e.closeAll(entToolCall, func(b Base, id string) Event { return &ToolCallEnd{b, id} })
	e.closeAll(entSubagent, func(_ Base, id string) Event { return &SubagentFinished{Base: Base{SubagentRunID: id}} })
	steps := keysBySeq(e.track.steps)
	slices.Reverse(steps)
	for _, key := range steps {
		e.put(&StepFinished{Base{SubagentRunID: key.owner}, key.name})
	}
}

func (e *Emitter) closeAll(k entity, end func(Base, string) Event) {
	ids := keysBySeq(e.track.open[k])
	if k == entSubagent { // children before their parents
		slices.Reverse(ids)
	}
	for _, id := range ids {
		owner, _ := e.track.owner(k, id)
		e.put(end(Base{SubagentRunID: owner}, id))
	}
}

// keysBySeq are the keys in the order in which they were opened.
func keysBySeq[K comparable](open map[K]uint64) []K {
	keys := make([]K, 0, len(open))
	for k := range open {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b K) int { return int(open[a]) - int(open[b]) })
	return keys
}

// Finish closes and writes RUN_FINISHED with the ids of the configuration. Only
// the first terminal counts. An outcome that old clients refuse becomes a plain
// success; ForReader adds it again for those who know it.
func (e *Emitter) Finish(end RunFinished) {
	if !e.ready() {
		return
	}
	e.Close()
	e.done = true
	end.ThreadID, end.RunID = e.cfg.Thread, e.cfg.Run
	if end.Outcome != nil && end.Outcome.Type == OutcomeCancelled && len(end.Result) == 0 {
		end.Result = json.RawMessage(cancelledResult)
	}
	if string(end.Result) == "null" {
		end.Result = nil
	}
	if !e.acceptable(&end) {
		end.Outcome = nil
	}
	if !e.acceptable(&end) {
		end.Usage = nil
	}
	e.write(&end)
}

// Fail closes and writes RUN_ERROR. Only the first terminal counts.
func (e *Emitter) Fail(err RunError) {
	if !e.ready() {
		return
	}
	e.Close()
	e.done = true
	if !e.acceptable(&err) {
		err.Usage = nil
	}
	e.write(&err)
}

// Done reports whether the terminal was written.
func (e *Emitter) Done() bool { return e.done }
