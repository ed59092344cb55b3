package torture_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/round"
)

func decode(data []byte) (agui.Event, error) { return agui.Decode(data) }

// same reports whether two JSON texts say the same.
func same(a, b []byte) bool { return bytes.Equal(a, b) || diff(a, b) == "" }

func diff(want, got []byte) string {
	var a, b any
	if json.Unmarshal(want, &a) != nil || json.Unmarshal(got, &b) != nil {
		return fmt.Sprintf("%.500s\n%.500s", want, got)
	}
	d := cmp.Diff(a, b)
	return d[:min(len(d), 4000)]
}

// check holds everything that is stored of the thread, and everything that anybody
// has seen, against each other.
func (d *driver) check(ctx context.Context) (faults []string, log []entry, err error) {
	if log, err = d.log(ctx); err != nil {
		return nil, nil, err
	}
	m, err := d.messages(ctx)
	if err != nil {
		return nil, log, err
	}
	if m.OpenRun != nil || len(m.Pending) > 0 {
		faults = append(faults, fmt.Sprintf("open run %v, pending %v", m.OpenRun, m.Pending))
	}
	stored, err := json.Marshal(m.Messages)
	if err != nil {
		return nil, log, err
	}
	list := agui.NewList()
	for _, e := range log {
		list.Apply(e.Event)
	}
	if folded := list.AppendJSON(nil); !same(stored, folded) {
		faults = append(faults, "the log folded (-stored +log):\n"+diff(stored, folded))
	}
	for _, v := range d.views() {
		faults = append(faults, v.check(log, stored)...)
	}
	for _, also := range []func(context.Context, []entry) ([]string, error){d.checkRuns, d.checkRounds, d.checkRequests} {
		more, err := also(ctx, log)
		if err != nil {
			return faults, log, err
		}
		faults = append(faults, more...)
	}
	return faults, log, nil
}

// messages are the stored ones. One of several engines that does not know yet that
// it lost the thread gives those as of an earlier cursor.
func (d *driver) messages(ctx context.Context) (m engine.Messages, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the messages are not as of the thread's end"))
	defer cancel()
	for {
		m = engine.Messages{}
		if err := d.w.get(ctx, d.path("/messages"), &m); err != nil || !d.w.several || m.Cursor >= d.end.last {
			return m, err
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return m, err
		}
	}
}

func (d *driver) views() []*view {
	views := []*view{d.watching.view}
	for _, r := range d.readers {
		views = append(views, r.view)
	}
	for _, b := range d.tabs {
		views = append(views, b.view)
	}
	return views
}

// checkRuns: both clients take the log, each run in it has one start and one
// terminal, and is stored as just that.
func (d *driver) checkRuns(ctx context.Context, log []entry) (faults []string, err error) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	verifiers := []*agui.Verifier{agui.NewVerifier(agui.V0), agui.NewVerifier(agui.V1)}
	type span struct{ From, To string }
	spans, open := map[string]span{}, ""
	for _, e := range log {
		for _, v := range verifiers {
			if err := v.Check(e.Event); err != nil {
				fault("%s: %v", e.id, err)
			}
		}
		if start, ok := e.Event.(*agui.RunStarted); ok {
			if _, twice := spans[start.RunID]; twice || open != "" {
				fault("%s: run %s starts; open is %q", e.id, start.RunID, open)
			}
			open = start.RunID
			spans[open] = span{From: e.id}
		} else if e.Type().Terminal() {
			spans[open] = span{spans[open].From, e.id}
			open = ""
		}
	}
	if open != "" {
		fault("run %s has no terminal", open)
	}
	var stored struct{ Runs []engine.Run }
	if err := d.w.get(ctx, d.path("/runs"), &stored); err != nil {
		return nil, err
	}
	for _, r := range stored.Runs {
		if r.State.Open() || r.EndedAt == nil || spans[r.ID] != (span{r.From, r.To}) {
			fault("run %+v; in the log it is %v", r, spans[r.ID])
		}
		delete(spans, r.ID)
	}
	if len(spans) > 0 {
		fault("runs that are only in the log: %v", spans)
	}
	return faults, nil
}

// checkRounds: numbered without a gap, paired, and taken by every provider.
func (d *driver) checkRounds(ctx context.Context, _ []entry) (faults []string, err error) {
	var stored struct{ Rounds []engine.Round }
	if err := d.w.get(ctx, d.path("/rounds?format=eino"), &stored); err != nil {
		return nil, err
	}
	var history []*schema.Message
	for i, r := range stored.Rounds {
		cut := slices.ContainsFunc(r.Messages, func(m *schema.Message) bool {
			info, _ := round.InfoOf(m)
			return info.Placeholder != ""
		})
		if r.Round != i+1 || r.Complete == cut {
			faults = append(faults, fmt.Sprintf("round %d: number %d, complete %v, with placeholders %v", i+1, r.Round, r.Complete, cut))
		}
		for _, m := range r.Input {
			history = append(history, schema.UserMessage(m.Text()))
		}
		history = append(history, r.Messages...)
	}
	for _, provider := range []string{"openai", "anthropic", "gemini", "eino"} {
		if err := round.Validate(provider, history); err != nil {
			faults = append(faults, fmt.Sprintf("rounds for %s: %v", provider, err))
		}
	}
	return faults, nil
}

// checkRequests: each has ended, says how, and as those were told who answered.
func (d *driver) checkRequests(ctx context.Context, _ []entry) (faults []string, err error) {
	var out struct{ Requests []engine.Request }
	if err := d.w.get(ctx, "/v1/requests?threadId="+url.QueryEscape(d.id), &out); err != nil {
		return nil, err
	}
	stored := map[string]engine.Request{}
	for _, q := range out.Requests {
		stored[q.ID] = q
		r := q.Resolution
		if q.State == "pending" || r == nil || r.By == "" || q.State != "resolved" && r.Reason == "" {
			faults = append(faults, fmt.Sprintf("request %+v, %+v", q, r))
		}
	}
	for id, told := range d.answers {
		for _, text := range told {
			var q engine.Request
			if err := json.Unmarshal([]byte(text), &q); err != nil {
				return nil, err
			}
			if d := cmp.Diff(stored[id], q); d != "" {
				faults = append(faults, "who answered was told otherwise (-stored +told):\n"+d)
			}
		}
	}
	return faults, nil
}
