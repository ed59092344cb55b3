package engine

import (
	"encoding/json"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/round"
)

// verify checks what holds of every thread that is at rest: both published
// clients take its log, the list is what they make of it, the rounds are what
// every provider takes, each run has one terminal.
func (w *world) verify() {
	w.tb.Helper()
	page, err := w.Threads(bg, ThreadQuery{Limit: 200})
	if err != nil {
		w.tb.Fatal(err)
	}
	for _, th := range page.Threads {
		if th.State == "idle" {
			w.verifyThread(th.ID)
		}
	}
}

func (w *world) verifyThread(id string) {
	w.tb.Helper()
	list := agui.NewList()
	verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
	terminals := map[string]int{}
	for f, err := range w.Events(bg, id, eventlog.Cursor{}, EventOptions{NoWait: true}) {
		if err != nil {
			w.tb.Fatal(err)
		}
		e, err := agui.Decode(f.Data)
		if err != nil {
			w.tb.Fatal(err)
		}
		for _, v := range verifiers {
			if err := v.Check(e); err != nil {
				w.tb.Errorf("%s: %v: %s", id, err, f.Data)
			}
		}
		if f.Terminal {
			terminals[f.Run]++
		}
		list.Apply(e)
	}
	m, err := w.Messages(bg, id, 0, "")
	if err != nil {
		w.tb.Fatal(err)
	}
	if diff := cmp.Diff(plain(list.Messages()), plain(m.Messages)); diff != "" {
		w.tb.Errorf("%s: the list is not what a client makes of the log: %s", id, diff)
	}
	runs, err := w.Runs(bg, id)
	if err != nil {
		w.tb.Fatal(err)
	}
	floor := w.record(id).Floor
	for _, run := range runs {
		if to, err := eventlog.ParseCursor(run.To); err == nil && to.Seq < floor {
			continue // its events are gone
		}
		if n := terminals[run.ID]; n != 1 && run.State != RunQueued && run.StartedAt != nil {
			w.tb.Errorf("%s: run %s (%s) has %d terminals", id, run.ID, run.State, n)
		}
	}
	w.verifyRounds(id)
}

func (w *world) verifyRounds(id string) {
	w.tb.Helper()
	rounds, _, err := w.Rounds(bg, id)
	if err != nil {
		w.tb.Fatal(err)
	}
	var all []*schema.Message
	for i, r := range rounds {
		if r.Round != i+1 {
			w.tb.Errorf("%s: round %d stands at %d", id, r.Round, i)
		}
		for _, m := range r.Input {
			all = append(all, schema.UserMessage(m.Text()))
		}
		all = append(all, r.Messages...)
	}
	for _, provider := range []string{round.Eino, round.OpenAI, round.Anthropic} {
		if err := round.Validate(provider, all); err != nil {
			w.tb.Errorf("%s: %s does not take the rounds: %v", id, provider, err)
		}
	}
}

// plain is a list as JSON values, so that absent and empty are the same.
func plain(messages []agui.Message) (out []any) {
	data, _ := json.Marshal(messages)
	_ = json.Unmarshal(data, &out)
	return out
}
