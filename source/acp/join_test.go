package acp

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/join"
	"github.com/agentstream-go/agentstream/internal/join/jointest"
	"github.com/agentstream-go/agentstream/round"
)

// threadOf is the log of a session as AG-UI has it, a run a turn.
func threadOf(t *testing.T, turns []*playedTurn) (log []agui.Event) {
	t.Helper()
	first := 1
	for n, turn := range turns {
		run := fmt.Sprint("run", n)
		emit := agui.NewEmitter(agui.EmitterConfig{Thread: jointest.Thread, Run: run, Now: func() time.Time { return time.UnixMilli(1) }, Sink: func(_ agui.Type, data []byte) {
			e, err := agui.Decode(bytes.Clone(data))
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, e)
		}})
		question := agui.Message{ID: fmt.Sprint("u", n), Role: agui.RoleUser, Content: agui.StringContent("question")}
		emit.Begin(agui.RunStarted{Input: &agui.Input{ThreadID: jointest.Thread, RunID: run, Messages: []agui.Message{question}}})
		b := round.NewBuilder(round.Config{Thread: jointest.Thread, Run: run, Prefix: fmt.Sprintf("turn%04d", n), FirstRound: first, Events: emit})
		for _, e := range turn.rec.Events() {
			agentstream.Send(b, e)
		}
		b.Close("")
		first = b.NextRound()
		emit.Finish(agui.RunFinished{})
	}
	return log
}

// Recorded sessions are joined at every event: by a reader of ours, and where
// AGENTSTREAM_E2E=1 by both published clients, who join as many sessions as
// AGENTSTREAM_JOINED says, 40 if nothing.
func TestRecordingsAreJoined(t *testing.T) {
	recorded := recordings(t)
	limit := 40
	if s := os.Getenv("AGENTSTREAM_JOINED"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		limit = n
	}
	var crowd *jointest.Crowd
	if os.Getenv("AGENTSTREAM_E2E") == "1" {
		crowd = jointest.NewCrowd(t)
	}
	logs, joins, withClients := 0, 0, 0
	names := slices.Sorted(maps.Keys(recorded))
	for i := range names {
		name := names[i*61%len(names)] // all of them, those of one agent not in a row
		p := play(recorded[name])
		for _, s := range p.order {
			log := threadOf(t, s.turns)
			if len(log) < 5 || len(log) > 3000 {
				continue
			}
			logs++
			joins += joinEverywhere(t, name, log)
			if crowd != nil && withClients < limit && len(log) < 250 && len(log) > 15 {
				withClients++
				crowd.Everywhere(name, log)
			}
		}
		if t.Failed() {
			break
		}
	}
	t.Logf("%d logs, %d joins, %d logs with both clients", logs, joins, withClients)
	if crowd != nil {
		crowd.Wait()
	}
}

// joinEverywhere has a reader join at every event, in both forms.
func joinEverywhere(t *testing.T, name string, log []agui.Event) (joins int) {
	t.Helper()
	for i := 1; i <= len(log); i += max(1, len(log)/150) {
		want := jointest.Fold(log[:jointest.RunEnd(log, i)])
		for _, f := range []join.Form{join.Replay, join.Snapshot} {
			got := agui.NewList()
			verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
			for _, e := range jointest.At(log, i, join.Reader{Form: f}, nil) {
				for _, v := range verifiers {
					if err := v.Check(e); err != nil {
						t.Fatalf("%s, form %d, joined at %d: %v", name, f, i, err)
					}
				}
				got.Apply(e)
			}
			if joins++; !bytes.Equal(want.AppendJSON(nil), got.AppendJSON(nil)) {
				t.Fatalf("%s, form %d, joined at %d:\n%s\nthere from the start:\n%s", name, f, i, got.AppendJSON(nil), want.AppendJSON(nil))
			}
		}
	}
	return joins
}
