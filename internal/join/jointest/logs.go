// Package jointest makes logs of threads with all that is hard about joining:
// interleaved texts, results that come late, calls that begin again, steps,
// sub-agents in sub-agents, state, activities, encrypted reasoning, runs that
// fail or wait for an answer.
package jointest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"github.com/agentstream-go/agentstream/agui"
)

// Thread is the thread of all logs.
const Thread = "thread"

// Log returns a random log of one or more complete runs that both published
// clients accept, and that has no event which they would drop.
func Log(r *rand.Rand, runs int) []agui.Event {
	l := &log{r: r}
	for n := range runs {
		l.run(n, n == runs-1)
	}
	return l.events
}

// log writes runs. What is open is kept so that each step is a valid one.
type log struct {
	r      *rand.Rand
	events []agui.Event
	n      int // of the last id
	calls  []call
	cut    []call // closed by an interrupt before their arguments were complete
	acts   []string
	state  bool

	open []open
	subs []string // open sub-agents
	step []open   // open steps
	text string   // the last message of the agent itself
}

type open struct {
	kind      agui.Kind
	id, owner string
}

type call struct{ id, owner string }

func (l *log) add(e agui.Event)       { l.events = append(l.events, e) }
func (l *log) chance(n int) bool      { return l.r.IntN(n) == 0 }
func (l *log) id(kind string) string  { l.n++; return fmt.Sprintf("%s%d", kind, l.n) }
func pick[T any](l *log, list []T) T  { return list[l.r.IntN(len(list))] }
func tagged(owner string) agui.Base   { return agui.Base{SubagentRunID: owner} }
func object(s string) json.RawMessage { return json.RawMessage(s) }
func (l *log) words() string {
	return pick(l, []string{"a ", "word", "né", "😀", "\"q\"\n", "\u2028", `\`, `{"k":1}`, `","delta":"x`, `"}`, "\U000FFFFE"})
}

func (l *log) run(n int, last bool) {
	id := fmt.Sprintf("run%d", n)
	in := agui.Input{ThreadID: Thread, RunID: id, Messages: []agui.Message{{ID: l.id("u"), Role: agui.RoleUser, Content: agui.StringContent("question " + l.words())}},
		State: object("{}"), Tools: []agui.Tool{}, Context: []agui.ContextEntry{}, ForwardedProps: object("{}")}
	started := &agui.RunStarted{ThreadID: Thread, RunID: id, Input: &in}
	started.Timestamp = int64(1000 * (n + 1))
	if len(l.cut) > 0 || l.chance(4) {
		in.Messages = []agui.Message{}
	}
	l.add(started)
	for _, c := range l.cut {
		l.start(agui.KindToolCall, c.id, c.owner, "")
	}
	l.cut, l.subs, l.text = nil, nil, ""
	for range 5 + l.r.IntN(40) {
		l.next()
	}
	end := l.r.IntN(5)
	l.close(end == 1 && !last)
	switch end {
	case 0:
		l.add(&agui.RunError{Message: "it " + l.words(), Code: "agent_error"})
	case 1:
		e := &agui.RunFinished{ThreadID: Thread, RunID: id, Outcome: &agui.Outcome{Type: agui.OutcomeInterrupt}}
		e.Outcome.Interrupts = []agui.Interrupt{{ID: l.id("i"), Reason: "tool_call", Message: l.words(), Metadata: object(`{"k":[1]}`)}}
		l.add(e)
	default:
		l.add(&agui.RunFinished{ThreadID: Thread, RunID: id, Result: object(`{"stopReason":"end_turn"}`)})
	}
}

// next adds one step of a run, or several that belong together.
func (l *log) next() {
	owner := ""
	if len(l.subs) > 0 && l.chance(2) {
		owner = pick(l, l.subs)
	}
	switch l.r.IntN(16) {
	case 0:
		l.start(agui.KindText, l.id("m"), owner, "")
	case 1:
		l.start(agui.KindReasoning, l.id("r"), owner, "")
	case 2:
		l.startCall(owner)
	case 3, 4, 5, 6, 7, 8:
		l.delta()
	case 9:
		l.end()
	case 10:
		l.result()
	case 11:
		l.scope(owner)
	case 12:
		l.activity(owner)
	case 13:
		l.stateful()
	case 14:
		l.encrypted()
	case 15:
		l.add(&agui.Custom{Name: "agentstream.output", Value: object(`{"data":"x"}`)})
	}
}

func (l *log) start(kind agui.Kind, id, owner, parent string) {
	b := tagged(owner)
	if l.chance(4) {
		b.Metadata = object(`{"agentstream":{"title":"first"}}`)
	}
	switch kind {
	case agui.KindText:
		l.add(&agui.TextMessageStart{Base: b, MessageID: id, Role: agui.RoleAssistant})
		if owner == "" {
			l.text = id
		}
	case agui.KindReasoning:
		l.add(&agui.ReasoningStart{Base: tagged(owner), MessageID: id})
		l.add(&agui.ReasoningMessageStart{Base: b, MessageID: id})
	case agui.KindToolCall:
		l.add(&agui.ToolCallStart{Base: b, ToolCallID: id, ToolCallName: "tool", ParentMessageID: parent})
	}
	l.open = append(l.open, open{kind, id, owner})
}

func (l *log) startCall(owner string) {
	parent := l.id("p")
	if owner == "" && l.text != "" && l.chance(2) {
		parent = l.text
	} else if l.chance(4) {
		parent = ""
	}
	id := l.id("c")
	l.start(agui.KindToolCall, id, owner, parent)
}

func (l *log) delta() {
	if len(l.open) == 0 {
		return
	}
	o := pick(l, l.open)
	if l.chance(2) {
		o = l.open[len(l.open)-1]
	}
	for range 1 + l.r.IntN(4) {
		b := tagged(o.owner)
		if l.chance(8) {
			b.Metadata = object(`{"agentstream":{"title":"then"},"n":2}`)
		}
		switch o.kind {
		case agui.KindText:
			l.add(&agui.TextMessageContent{Base: b, MessageID: o.id, Delta: l.words()})
		case agui.KindReasoning:
			l.add(&agui.ReasoningMessageContent{Base: b, MessageID: o.id, Delta: l.words()})
		case agui.KindToolCall:
			l.add(&agui.ToolCallArgs{Base: b, ToolCallID: o.id, Delta: l.words()})
		}
	}
}

func (l *log) end() {
	if len(l.open) == 0 {
		return
	}
	i := l.r.IntN(len(l.open))
	o := l.open[i]
	l.open = append(l.open[:i:i], l.open[i+1:]...)
	l.ended(o)
}

func (l *log) ended(o open) {
	switch o.kind {
	case agui.KindText:
		l.add(&agui.TextMessageEnd{Base: tagged(o.owner), MessageID: o.id})
	case agui.KindReasoning:
		l.add(&agui.ReasoningMessageEnd{Base: tagged(o.owner), MessageID: o.id})
		l.add(&agui.ReasoningEnd{Base: tagged(o.owner), MessageID: o.id})
	case agui.KindToolCall:
		l.add(&agui.ToolCallEnd{Base: tagged(o.owner), ToolCallID: o.id})
		l.calls = append(l.calls, call{o.id, o.owner})
	}
}

func (l *log) result() {
	if len(l.calls) == 0 {
		return
	}
	i := l.r.IntN(len(l.calls))
	c := l.calls[i]
	l.calls = append(l.calls[:i:i], l.calls[i+1:]...)
	e := &agui.ToolCallResult{Base: tagged(c.owner), MessageID: l.id("t"), ToolCallID: c.id, Content: agui.StringContent("result " + l.words())}
	e.Metadata = object(`{"agentstream":{"status":"completed"}}`)
	l.add(e)
}

func (l *log) scope(owner string) {
	switch l.r.IntN(4) {
	case 0:
		o := open{id: l.id("step"), owner: owner}
		if l.chance(2) && len(l.step) > 0 && l.step[0].owner != owner {
			o.id = l.step[0].id // of another owner
			for _, s := range l.step {
				if s == o {
					return
				}
			}
		}
		l.add(&agui.StepStarted{Base: tagged(owner), StepName: o.id})
		l.step = append(l.step, o)
	case 1:
		if n := len(l.step); n > 0 {
			i := l.r.IntN(n)
			o := l.step[i]
			l.step = append(l.step[:i:i], l.step[i+1:]...)
			l.add(&agui.StepFinished{Base: tagged(o.owner), StepName: o.id})
		}
	case 2:
		id := l.id("s")
		l.add(&agui.SubagentStarted{Base: tagged(id), Name: "helper", ParentSubagentRunID: owner})
		l.subs = append(l.subs, id)
	case 3:
		if len(l.subs) > 0 {
			l.closeSub(l.r.IntN(len(l.subs)))
		}
	}
}

// closeSub ends a sub-agent, and before it what it has open.
func (l *log) closeSub(i int) {
	id := l.subs[i]
	var rest []open
	for _, o := range l.open {
		if o.owner == id {
			l.ended(o)
		} else {
			rest = append(rest, o)
		}
	}
	l.open = rest
	var steps []open
	for _, o := range l.step {
		if o.owner == id {
			l.add(&agui.StepFinished{Base: tagged(o.owner), StepName: o.id})
		} else {
			steps = append(steps, o)
		}
	}
	l.step = steps
	l.subs = append(l.subs[:i:i], l.subs[i+1:]...)
	if l.chance(3) {
		l.add(&agui.SubagentError{Base: tagged(id), Message: "no"})
		return
	}
	l.add(&agui.SubagentFinished{Base: tagged(id)})
}

func (l *log) activity(owner string) {
	if len(l.acts) > 0 && l.chance(2) {
		l.add(&agui.ActivityDelta{MessageID: pick(l, l.acts), ActivityType: "plan", Patch: object(`[{"op":"add","path":"/entries/-","value":"more"}]`)})
		return
	}
	id := l.id("a")
	if len(l.acts) > 0 && l.chance(3) {
		id, owner = pick(l, l.acts), ""
	} else {
		l.acts = append(l.acts, id)
	}
	l.add(&agui.ActivitySnapshot{Base: tagged(owner), MessageID: id, ActivityType: "plan", Content: object(`{"entries":["one"]}`)})
}

func (l *log) stateful() {
	if !l.state || l.chance(3) {
		l.state = true
		l.add(&agui.StateSnapshot{Snapshot: object(`{"list":[],"n":{"x":null}}`)})
		return
	}
	l.add(&agui.StateDelta{Delta: object(`[{"op":"add","path":"/list/-","value":{"a":1}}]`)})
}

func (l *log) encrypted() {
	for i := len(l.open) - 1; i >= 0; i-- {
		o := l.open[i]
		subtype := "message"
		if o.kind == agui.KindToolCall {
			subtype = "tool-call"
		}
		if o.kind != agui.KindText {
			l.add(&agui.ReasoningEncryptedValue{Base: tagged(o.owner), Subtype: subtype, EntityID: o.id, EncryptedValue: l.id("secret")})
			return
		}
	}
}

// close ends what is open. Calls that an interrupt closes may begin again.
func (l *log) close(interrupted bool) {
	for i := len(l.subs) - 1; i >= 0; i-- {
		l.closeSub(i)
	}
	for _, o := range l.open {
		l.ended(o)
		if n := len(l.calls); interrupted && o.kind == agui.KindToolCall && l.chance(2) {
			l.cut = append(l.cut, l.calls[n-1])
			l.calls = l.calls[:n-1]
		}
	}
	l.open = nil
	for _, s := range l.step {
		l.add(&agui.StepFinished{Base: tagged(s.owner), StepName: s.id})
	}
	l.step = nil
	if !interrupted {
		for len(l.calls) > 0 {
			l.result()
		}
	}
}
