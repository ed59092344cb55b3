package round

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
)

// TestRestoreAtEveryStep cuts turns everywhere: the Builder that is folded from
// what was stored closes the turn as the one that lived would have.
func TestRestoreAtEveryStep(t *testing.T) {
	first := seed(t)
	n := uint64(60)
	if testing.Short() {
		n = 10
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

func checkRestore(t testing.TB, script []step, reason string) {
	t.Helper()
	live := newStage(t)
	live.play(script)

	again := newStage(t)
	again.frames = nil
	for _, frame := range live.frames {
		e, err := agui.Decode([]byte(frame))
		if err != nil {
			t.Fatal(err)
		}
		again.folded.Apply(e)
	}
	// The list and the emitter of the run that goes on are the engine's to
	// restore; here the list is folded, and what is open is opened again.
	again.driven = again.folded.Clone()
	again.runs, again.tick, again.opened = live.runs, live.tick, live.opened
	again.v0, again.v1 = agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)
	cfg := again.config()
	cfg.Events = again.driven
	b, err := Restore(cfg, decoded(t, live.frames))
	if err != nil {
		t.Fatal(err)
	}
	if len(again.rounds) > 0 {
		t.Fatal("rounds were handed out while events were folded")
	}
	if !live.opened {
		b.Resume("run"+string(rune('0'+live.runs+1)), again.driven)
	}
	again.tick++
	b.Close(reason)
	b.Close(reason)
	live.close(reason)

	if diff := cmp.Diff(indent(live.driven.AppendJSON(nil)), indent(again.driven.AppendJSON(nil))); diff != "" {
		t.Errorf("lists (-live +restored):\n%s", diff)
	}
	if diff := cmp.Diff(finals(live.rounds), finals(again.rounds)); diff != "" {
		t.Errorf("rounds (-live +restored):\n%s", diff)
	}
	revisions := map[int]int{}
	for _, r := range live.rounds {
		revisions[r.Number] = r.Revision
	}
	for _, r := range again.rounds {
		if r.Revision < revisions[r.Number] {
			t.Errorf("round %d restored with revision %d, it had %d", r.Number, r.Revision, revisions[r.Number])
		}
	}
	if got, want := b.NextRound(), live.builder.NextRound(); got != want {
		t.Errorf("the next round is %d, want %d", got, want)
	}
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
