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
