package round

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// TestRestoreAtEveryStep cuts turns everywhere: the Builder that is folded from
// what was stored closes the turn as the one that lived would have.
func TestRestoreAtEveryStep(t *testing.T) {
	first := seed(t)
	n := uint64(25)
	if testing.Short() {
		n = 8
	}
	for i := range n {
		script := randomScript(first*7_000_000+i, 60)
		for cut := range len(script) + 1 {
			checkRestore(t, script[:cut], []string{"failed", ""}[i%2])
			if t.Failed() {
				t.Fatalf("thread %d, cut at %d:\n%s", i, cut, show(script[:cut]))
			}
		}
	}
}

// TestRestoreOfRareThings cuts turns that chance makes too seldom.
func TestRestoreOfRareThings(t *testing.T) {
	call := step{event: agentstream.ToolCall{ID: "a", Title: "ls"}}
	args := func(s string) step { return step{event: agentstream.ToolCallArgsSnapshot{ID: "a", Args: s}} }
	for name, script := range map[string][]step{
		"a change within a rune": {call, args(`{"p":"ü"}`), args(`{"p":"ö"}`)},
		"shorter arguments":      {call, args(`{"p":"ü"}`), args(`{"p":"`)},
	} {
		t.Run(name, func(t *testing.T) { checkRestore(t, script, "failed") })
	}
}

func checkRestore(t testing.TB, script []step, reason string) {
	t.Helper()
	live, again := newPlainStage(t), newPlainStage(t)
	live.play(script)
	again.restore(live)
	again.tick++
	again.builder.Close(reason)
	again.builder.Close(reason)
	live.close(reason)
	compareRestored(t, live, again)

	revisions := map[int]int{}
	for _, r := range live.rounds {
		revisions[r.Number] = r.Revision
	}
	held := slices.ContainsFunc(script, func(s step) bool { return s.do == "hold" })
	for _, r := range latest(again.rounds) {
		if want := revisions[r.Number]; r.Revision < want || !held && r.Revision != want {
			t.Errorf("round %d restored with revision %d, it had %d", r.Number, r.Revision, want)
		}
	}
}

// restore makes the stage go on where live stands, from what live stored. The
// list and the emitter of the run are the engine's to restore; here the list is
// folded and there is no emitter.
func (s *stage) restore(live *stage) {
	s.t.Helper()
	s.driven = agui.NewList()
	for e := range decoded(s.t, live.frames) {
		s.driven.Apply(e)
	}
	s.runs, s.tick, s.opened = live.runs, live.tick, live.opened
	cfg := s.config()
	cfg.Events = s.driven
	b, err := Restore(cfg, decoded(s.t, live.frames))
	if err != nil {
		s.t.Fatal(err)
	}
	if len(s.rounds) > 0 {
		s.t.Fatal("rounds were handed out while events were folded")
	}
	if !live.opened {
		s.runs++
		b.Resume(s.run(), s.driven)
	}
	s.builder = b
}

func compareRestored(t testing.TB, live, again *stage) {
	t.Helper()
	if diff := cmp.Diff(indent(live.driven.AppendJSON(nil)), indent(again.driven.AppendJSON(nil))); diff != "" {
		t.Errorf("lists (-live +restored):\n%s", diff)
	}
	if diff := cmp.Diff(finals(live.rounds), finals(again.rounds)); diff != "" {
		t.Errorf("rounds (-live +restored):\n%s", diff)
	}
	if got, want := again.builder.NextRound(), live.builder.NextRound(); got != want {
		t.Errorf("the next round is %d, want %d", got, want)
	}
}

// TestRestoreAndGoOn: a restored Builder takes what comes next as the one that
// lived.
func TestRestoreAndGoOn(t *testing.T) {
	first := seed(t)
	for i := range uint64(100) {
		script := slices.DeleteFunc(randomScript(first*5_000_000+i, 60), informs)
		cut := min(int(i)%60, len(script))
		for cut > 0 && !runs(script[:cut]) {
			cut--
		}
		live, again := newPlainStage(t), newPlainStage(t)
		live.play(script[:cut])
		again.restore(live)
		for _, x := range script[cut:] {
			live.do(x)
			switch x.do {
			case "suspend":
				again.tick++
				again.builder.Suspend()
			case "resume":
				again.tick++
				again.runs++
				again.builder.Resume(again.run(), again.driven)
			default:
				again.do(x)
			}
		}
		if !live.opened {
			again.runs++
			again.builder.Resume(again.run(), again.driven)
		}
		again.tick++
		again.builder.Close("")
		live.close("")
		compareRestored(t, live, again)
		if t.Failed() {
			t.Fatalf("thread %d, cut at %d:\n%s", i, cut, show(script))
		}
	}
}

// informs says whether a step tells about a call: what is said before the call
// is declared is not stored.
func informs(s step) bool {
	e := s.event
	if sub, ok := e.(agentstream.Subagent); ok {
		e = sub.Event
	}
	_, ok := e.(agentstream.ToolCallInfo)
	return ok
}

// runs says whether a run is open at the end of a script.
func runs(script []step) bool {
	open := true
	for _, s := range script {
		open = s.do == "resume" || open && s.do != "suspend"
	}
	return open
}

func decoded(t testing.TB, frames []string) func(func(agui.Event) bool) {
	var events []agui.Event
	for _, frame := range frames {
		e, err := agui.Decode([]byte(frame))
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	return slices.Values(events)
}

// finals are the rounds as JSON, without revisions: holds are not stored, so a
// restored Builder counts as if there had been none.
func finals(rounds []Round) []string {
	var out []string
	for _, r := range latest(rounds) {
		for _, m := range r.Messages {
			info, _ := InfoOf(m)
			info.Revision = 0
			m.Extra[ExtraKey] = string(encode(info))
		}
		r.Revision = 0
		data, err := json.MarshalIndent(r, "", " ")
		if err != nil {
			panic(err)
		}
		out = append(out, string(data))
	}
	return out
}

func TestRestoreRefusesAnotherTurn(t *testing.T) {
	base := agui.Base{}
	for name, e := range map[string]agui.Event{
		"text":             &agui.TextMessageStart{MessageID: "other123-m1"},
		"reasoning":        &agui.ReasoningMessageStart{MessageID: "m1"},
		"no number":        &agui.TextMessageStart{MessageID: testPrefix + "-mx"},
		"no letter":        &agui.TextMessageStart{MessageID: testPrefix + "-"},
		"call":             &agui.ToolCallStart{Base: base, ToolCallID: "x", ToolCallName: "ls", ParentMessageID: testPrefix + "-m1"},
		"carrier":          &agui.ToolCallStart{ToolCallID: testPrefix + "-c1", ToolCallName: "ls", ParentMessageID: "x"},
		"a sub-agent's id": &agui.SubagentStarted{Base: agui.Base{SubagentRunID: "x"}, Name: "x"},
	} {
		if _, err := Restore(Config{Prefix: testPrefix}, slices.Values([]agui.Event{e})); err == nil {
			t.Errorf("%s: restored", name)
		}
	}
}

// TestRestoreOfNonsense: events that name nothing known do no harm.
func TestRestoreOfNonsense(t *testing.T) {
	id := testPrefix + "-c1"
	events := []agui.Event{
		&agui.ToolCallArgs{ToolCallID: id, Delta: "{}"},
		&agui.ToolCallEnd{ToolCallID: id},
		&agui.ToolCallResult{MessageID: testPrefix + "-t1", ToolCallID: id, Content: agui.StringContent("x")},
		&agui.TextMessageContent{MessageID: id, Delta: "x"},
		&agui.TextMessageEnd{MessageID: id},
		&agui.SubagentError{Base: agui.Base{SubagentRunID: id}, Message: "x"},
		&agui.SubagentFinished{Base: agui.Base{SubagentRunID: id}, Outcome: &agui.Outcome{Type: agui.OutcomeSuspended}},
		&agui.Custom{Name: "agentstream.arguments", Value: json.RawMessage(`{"toolCallId":"` + id + `","from":0,"text":"x"}`)},
		&agui.Custom{Name: "agentstream.context", Value: json.RawMessage(`[]`)},
		&agui.Custom{Name: "agentstream.tool"},
		&agui.ToolCallStart{ToolCallID: id, ToolCallName: "ls", ParentMessageID: testPrefix + "-m2"},
		&agui.Custom{Name: "agentstream.arguments", Value: json.RawMessage(`{"toolCallId":"` + id + `","from":9,"text":"x"}`)},
		&agui.Custom{Name: "agentstream.arguments", Value: json.RawMessage(`{"toolCallId":"` + id + `","from":-1,"text":"x"}`)},
		&agui.ToolCallResult{MessageID: "other", ToolCallID: "none", Content: agui.StringContent("x")},
		&agui.Unknown{Name: "NEW"},
	}
	var rounds []Round
	b, err := Restore(Config{Prefix: testPrefix, OnRound: func(r Round) { rounds = append(rounds, r) }}, slices.Values(events))
	if err != nil {
		t.Fatal(err)
	}
	b.Close("failed")
	if len(rounds) != 1 || rounds[0].Messages[0].ToolCalls[0].Function.Arguments != "{}" {
		t.Errorf("got %+v", rounds)
	}
}
