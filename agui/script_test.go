package agui_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// newRand is seeded the same each time, or by AGENTSTREAM_SEED.
func newRand(t testing.TB) *rand.Rand {
	seed := uint64(20260801)
	if s := os.Getenv("AGENTSTREAM_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 1))
}

// wild makes random calls, most of which make little sense: few ids for all
// kinds, tags that contradict, ends without starts.
type wild struct {
	next func(n int) int
	held *agui.List // what the client has by now
}

func (w wild) id() string  { return string("abcd"[w.next(4)]) }
func (w wild) tag() string { return []string{"", "", "", "s1", "s2"}[w.next(5)] }
func (w wild) kind() agui.Kind {
	return agui.Kind(w.next(3) + 1)
}

var wildTexts = []string{"x", "né", "\"q\"\n", "\u2028", "a\xffb", "😀", `{"k":1}`, ""}

func (w wild) text() string { return wildTexts[w.next(len(wildTexts))] }

func (w wild) metadata() json.RawMessage {
	return []json.RawMessage{nil, nil, nil, json.RawMessage(`{"a":1}`), json.RawMessage(`{"b":[null], "c":"\u2028"}`), json.RawMessage(`{"a":{"x":2}}`), json.RawMessage(`[1]`)}[w.next(7)]
}

func (w wild) step(h agui.EventHandler) {
	switch w.next(12) {
	case 0, 1:
		h.Start(agui.Item{Kind: w.kind(), ID: w.id(), Name: w.id(), Parent: []string{"", w.id(), "p" + w.id()}[w.next(3)], Subagent: w.tag(), Metadata: w.metadata()})
	case 2, 3, 4, 5:
		h.Delta(w.kind(), w.id(), w.text())
	case 6:
		h.End(w.kind(), w.id(), w.metadata())
	case 7:
		h.Result(agui.Result{MessageID: w.id(), CallID: w.id(), Content: w.text(), Subagent: w.tag(), Metadata: w.metadata()})
	default:
		h.Emit(w.event())
	}
}

func (w wild) event() agui.Event {
	b := agui.Base{SubagentRunID: w.tag(), Metadata: w.metadata()}
	switch w.next(16) {
	case 0:
		return &agui.Custom{Base: b, Name: w.text(), Value: json.RawMessage([]string{`{"a": 1}`, `not json`, ``}[w.next(3)])}
	case 1:
		return &agui.StepStarted{Base: b, StepName: w.id()}
	case 2:
		return &agui.StepFinished{Base: b, StepName: w.id()}
	case 3:
		b.SubagentRunID = w.id()
		return &agui.SubagentStarted{Base: b, Name: w.text(), ParentSubagentRunID: []string{"", w.id()}[w.next(2)]}
	case 4:
		b.SubagentRunID = w.id()
		return &agui.SubagentFinished{Base: b}
	case 5:
		b.SubagentRunID = w.id()
		return &agui.SubagentError{Base: b, Message: w.text()}
	case 6:
		return &agui.ActivitySnapshot{Base: b, MessageID: w.id(), ActivityType: "plan", Content: json.RawMessage(`{"list":["` + w.id() + `"]}`), Keep: w.next(3) == 0}
	case 7:
		return &agui.ActivityDelta{Base: b, MessageID: w.id(), ActivityType: "plan", Patch: json.RawMessage(`[{"op":"add","path":"/` + w.id() + `","value":{"x":[1,2]}}]`)}
	case 8:
		return &agui.StateSnapshot{Base: b, Snapshot: json.RawMessage(`{"` + w.id() + `":[1,{"y":null}]}`)}
	case 9:
		return &agui.StateDelta{Base: b, Delta: json.RawMessage(`[{"op":"add","path":"/` + w.id() + `","value":[]},{"op":"add","path":"","value":{}}]`)}
	case 10:
		return &agui.TextMessageStart{Base: b, MessageID: w.id(), Role: []agui.Role{"", "user", "tool", "system"}[w.next(4)], Name: w.id()}
	case 11:
		return &agui.ReasoningEncryptedValue{Base: b, Subtype: []string{"message", "tool-call", "odd"}[w.next(3)], EntityID: w.id(), EncryptedValue: w.text()}
	case 12:
		return &agui.ReasoningEnd{Base: b, MessageID: w.id()}
	case 13:
		return &agui.ToolCallChunk{Base: b, ToolCallID: w.id(), Delta: "x"}
	case 14:
		return &agui.MessagesSnapshot{Base: b, Messages: w.snapshot()}
	}
	return &agui.Raw{Base: b, Event: json.RawMessage(`[1]`), Source: w.id()}
}

// snapshot is all that the client has, and something more.
func (w wild) snapshot() []agui.Message {
	all := w.held.Clone()
	all.Add([]agui.Message{
		{ID: "u" + w.id(), Role: agui.RoleUser, Content: agui.StringContent(w.text())},
		{ID: "r" + w.id(), Role: agui.RoleReasoning, Content: agui.StringContent(w.text())},
		{ID: "p" + w.id(), Role: agui.RoleAssistant, ToolCalls: []agui.ToolCall{{ID: "k" + w.id(), Name: "f", Arguments: w.text()}}},
	}[w.next(3):]...)
	return all.Messages()
}

func (w wild) finish(e *agui.Emitter) {
	switch w.next(5) {
	case 0:
		e.Fail(agui.RunError{Message: w.text(), Code: w.id()})
	case 1:
		e.Finish(agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: []agui.Interrupt{{ID: "i", Reason: "tool_call", ToolCallID: w.id(), ResponseSchema: json.RawMessage(`{"type":"object"}`)}}}})
	case 2:
		e.Finish(agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeCancelled}})
	case 3:
		e.Finish(agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeInterrupt}, Usage: []agui.TokenUsage{{InputTokens: -1}}})
	default:
		e.Finish(agui.RunFinished{Result: json.RawMessage(`{"stopReason":"end_turn"}`), Usage: []agui.TokenUsage{{Model: "m", InputTokens: 3}}})
	}
	w.step(e) // too late
	e.Fail(agui.RunError{Message: "late"})
}

// record collects what an emitter writes.
func record(run string) (*agui.Emitter, *[][]byte) {
	list := new([][]byte)
	return agui.NewEmitter(agui.EmitterConfig{Thread: "thread", Run: run, Sink: func(_ agui.Type, data []byte) {
		*list = append(*list, bytes.Clone(data))
	}}), list
}

func fold(t testing.TB, l *agui.List, events [][]byte) {
	t.Helper()
	for _, data := range events {
		e, err := agui.Decode(data)
		if err != nil {
			t.Fatalf("%v in %s", err, data)
		}
		l.Apply(e)
	}
}

// wildRun makes a run of random calls, for as long as more says so.
func wildRun(next func(int) int, more func() bool) (events [][]byte) {
	w := wild{next, agui.NewList()}
	e := agui.NewEmitter(agui.EmitterConfig{Thread: "thread", Run: "run", Sink: func(_ agui.Type, data []byte) {
		events = append(events, bytes.Clone(data))
		if ev, err := agui.Decode(data); err == nil {
			w.held.Apply(ev)
		}
	}})
	for more() {
		w.step(e)
	}
	w.finish(e)
	return events
}

func times(n int) func() bool { return func() bool { n--; return n >= 0 } }

func checkStream(t testing.TB, events [][]byte) {
	t.Helper()
	for _, v := range aguitest.Versions {
		if err := verify(v, events...); err != nil {
			t.Errorf("%s: %v\n%s", v, err, bytes.Join(events, []byte("\n")))
		}
	}
	terminals := 0
	for _, data := range events {
		if bytes.ContainsAny(data, "\r\n") || bytes.Contains(data, []byte("\u2028")) {
			t.Errorf("not a single line: %q", data)
		}
		if e, err := agui.Decode(data); err == nil && e.Type().Terminal() {
			terminals++
		}
	}
	if terminals != 1 {
		t.Errorf("%d terminals", terminals)
	}
}

func TestEmitterKeepsItsPromisesWhateverIsCalled(t *testing.T) {
	r := newRand(t)
	for range 200 {
		checkStream(t, wildRun(r.IntN, times(r.IntN(60))))
		if t.Failed() {
			return
		}
	}
}

func FuzzEmitter(f *testing.F) {
	r := newRand(f)
	for range 20 {
		seed := make([]byte, 200)
		for i := range seed {
			seed[i] = byte(r.IntN(256))
		}
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		at := 0
		next := func(n int) int {
			if at == len(script) {
				return 0
			}
			at++
			return int(script[at-1]) % n
		}
		steps := 0
		checkStream(t, wildRun(next, func() bool { steps++; return at < len(script) && steps < 200 }))
	})
}

func jsonValue(t testing.TB, raw []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

// sameAsClients replays events to both clients and compares what they hold with
// the list.
func sameAsClients(t *testing.T, clients *aguitest.Driver, l *agui.List, events [][]byte) {
	t.Helper()
	for _, v := range aguitest.Versions {
		r := clients.Replay(v, events...)
		if !r.OK() {
			t.Errorf("%s: error %q, warnings %q", v, r.Error, r.Warnings)
		}
		if diff := cmp.Diff(jsonValue(t, r.Messages), jsonValue(t, l.AppendJSON(nil))); diff != "" {
			t.Errorf("%s: messages (-client +list):\n%s", v, diff)
		}
		state := l.State()
		if state == nil {
			state = json.RawMessage(`{}`)
		}
		if diff := cmp.Diff(jsonValue(t, r.State), jsonValue(t, state)); diff != "" {
			t.Errorf("%s: state (-client +list):\n%s", v, diff)
		}
		if diff := cmp.Diff(r.PendingInterrupts, append([]agui.Interrupt{}, l.Interrupts()...)); diff != "" {
			t.Errorf("%s: interrupts (-client +list):\n%s", v, diff)
		}
	}
	if t.Failed() {
		t.Logf("events:\n%s", bytes.Join(events, []byte("\n")))
	}
}

func TestListHoldsWhatClientsHoldOfWildScripts(t *testing.T) {
	clients := aguitest.Clients(t)
	r := newRand(t)
	for i := range 300 {
		events := wildRun(r.IntN, times(r.IntN(50)))
		l := agui.NewList()
		fold(t, l, events)
		if sameAsClients(t, clients, l, events); t.Failed() {
			t.Fatalf("script %d", i)
		}
	}
}

// sane makes calls as a turn makes them, over several runs of one thread.
type sane struct {
	*rand.Rand
	ids   int
	text  string
	think string
	calls []string // without a result
	ended []string
}

func (s *sane) newID(prefix string) string { s.ids++; return fmt.Sprint(prefix, s.ids) }

func (s *sane) step(h agui.EventHandler) {
	switch s.IntN(8) {
	case 0, 1, 2:
		if s.text == "" {
			s.close(h)
			s.text = s.newID("m")
			h.Start(agui.Item{Kind: agui.KindText, ID: s.text})
		}
		h.Delta(agui.KindText, s.text, wildTexts[s.IntN(7)])
	case 3:
		if s.think == "" {
			s.close(h)
			s.think = s.newID("r")
			h.Start(agui.Item{Kind: agui.KindReasoning, ID: s.think})
		}
		h.Delta(agui.KindReasoning, s.think, wildTexts[s.IntN(7)])
	case 4:
		s.call(h)
	case 5:
		if len(s.calls) > 0 {
			i := s.IntN(len(s.calls))
			h.Result(agui.Result{MessageID: s.newID("t"), CallID: s.calls[i], Content: wildTexts[s.IntN(8)], Metadata: json.RawMessage(`{"agentstream":{"status":"completed"}}`)})
			s.calls = append(s.calls[:i:i], s.calls[i+1:]...)
		}
	case 6:
		h.Emit(&agui.ActivitySnapshot{MessageID: "a" + fmt.Sprint(s.IntN(3)), ActivityType: "plan", Content: json.RawMessage(`{"n":` + fmt.Sprint(s.IntN(9)) + `}`)})
	case 7:
		if len(s.ended) > 0 && s.IntN(4) == 0 {
			h.ReplaceArgs(s.ended[s.IntN(len(s.ended))], `{"changed":"é"}`)
		}
	}
}

func (s *sane) call(h agui.EventHandler) {
	parent := s.text
	s.close(h)
	if parent == "" {
		parent = s.newID("m")
	}
	for range s.IntN(3) + 1 {
		id := s.newID("c")
		h.Start(agui.Item{Kind: agui.KindToolCall, ID: id, Name: "f", Parent: parent, Metadata: json.RawMessage(`{"agentstream":{"title":"T"}}`)})
		h.Delta(agui.KindToolCall, id, `{"a":`)
		h.Delta(agui.KindToolCall, id, `1}`)
		h.End(agui.KindToolCall, id, []json.RawMessage{nil, json.RawMessage(`{"late":true}`)}[s.IntN(2)])
		s.calls, s.ended = append(s.calls, id), append(s.ended, id)
	}
}

func (s *sane) close(h agui.EventHandler) {
	if s.text != "" {
		h.End(agui.KindText, s.text, nil)
	}
	if s.think != "" {
		h.End(agui.KindReasoning, s.think, nil)
	}
	s.text, s.think = "", ""
}

// saneThread plays runs of one thread into an emitter each and one list.
func saneThread(s *sane, live *agui.List) (all [][]byte) {
	for n := range s.IntN(4) + 1 {
		run := fmt.Sprint("run", n)
		e, events := record(run)
		in := &agui.Input{ThreadID: "thread", RunID: run, Messages: []agui.Message{{ID: "u" + fmt.Sprint(n), Role: agui.RoleUser, Content: agui.StringContent("question")}}}
		e.Begin(agui.RunStarted{Input: in})
		live.Add(in.Messages...)
		h := agui.Handlers(e, nil, live)
		for range s.IntN(40) {
			s.step(h)
		}
		s.close(h)
		if e.NeedsSnapshot() {
			e.Emit(&agui.MessagesSnapshot{Messages: live.Messages()})
		}
		e.Finish(agui.RunFinished{})
		all = append(all, *events...)
	}
	return all
}

func TestListLiveAndFoldedAndInClientsIsTheSame(t *testing.T) {
	var clients *aguitest.Driver
	if os.Getenv("AGENTSTREAM_E2E") == "1" {
		clients = aguitest.Clients(t)
	}
	s, threads := &sane{Rand: newRand(t)}, 100
	if clients != nil {
		threads = 300
	}
	for i := range threads {
		*s = sane{Rand: s.Rand}
		live := agui.NewList()
		events := saneThread(s, live)
		folded := agui.NewList()
		fold(t, folded, events)
		if diff := cmp.Diff(jsonValue(t, folded.AppendJSON(nil)), jsonValue(t, live.AppendJSON(nil))); diff != "" {
			t.Fatalf("thread %d (-folded +live):\n%s", i, diff)
		}
		for _, v := range aguitest.Versions {
			if err := verify(v, events...); err != nil {
				t.Fatalf("thread %d, %s: %v", i, v, err)
			}
		}
		if clients != nil {
			if sameAsClients(t, clients, live, events); t.Failed() {
				t.Fatalf("thread %d", i)
			}
		}
	}
}
