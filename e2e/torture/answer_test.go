package torture_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
)

func (a answer) into(out any) error {
	if a.status != http.StatusOK {
		return a.bad("the answer")
	}
	return json.Unmarshal(a.body, out)
}

func (d *driver) pending(ctx context.Context) ([]engine.Request, error) {
	var out struct{ Requests []engine.Request }
	err := d.w.get(ctx, "/v1/requests?state=pending&threadId="+url.QueryEscape(d.id), &out)
	return out.Requests, err
}

// answer has devices answer all that waits, as the step says.
func (d *driver) answer(ctx context.Context, n int, s step) error {
	asks, err := d.pending(ctx)
	if err != nil || len(asks) == 0 {
		return err
	}
	run := fmt.Sprintf("answer-%d-%d-%d", d.plan.n, n, d.rand.Uint32())
	switch s.answer {
	case answerCancel:
		return d.cancel(ctx)
	case answerTab:
		return d.byTab(ctx, run, "", asks, s.yes)
	case answerSteer:
		return d.byTab(ctx, run, "echo never mind", asks, s.yes)
	case answerSame, answerOther:
		failed := make(chan error, 1)
		go func() { failed <- d.byTab(ctx, run, "", asks, s.yes == (s.answer == answerSame)) }()
		return errors.Join(d.byREST(ctx, asks, s.yes), <-failed)
	case answerUnsaid:
		b := d.newTab(8, d.rand.Uint64())
		err := b.post(ctx, run, "echo do you hear me?", nil)
		if no := (*refused)(nil); errors.As(err, &no) && (no.code == "pending" || no.code == "run_active") {
			err = nil
		}
		if err != nil {
			return err
		}
	}
	return d.byREST(ctx, asks, s.yes)
}

func (d *driver) byREST(ctx context.Context, asks []engine.Request, yes bool) error {
	for _, q := range asks {
		a, err := d.w.ask(ctx, "POST", "/v1/requests/"+url.PathEscape(q.ID)+"/resolve", map[string]any{"approved": yes})
		if err != nil {
			return err
		}
		if a.status != http.StatusOK && a.code != "already_resolved" {
			return a.bad("resolve " + q.ID)
		}
		if a.status == http.StatusOK {
			d.answers[q.ID] = append(d.answers[q.ID], string(a.body))
		}
	}
	return nil
}

// byTab has a tab answer: the first one, which may hold little or much, or a new
// one. With a text it cancels what waits and goes on with that.
func (d *driver) byTab(ctx context.Context, run, text string, asks []engine.Request, yes bool) error {
	var entries []agui.Resume
	for _, q := range asks {
		r := agui.Resume{InterruptID: q.ID, Status: "resolved", Payload: json.RawMessage(fmt.Sprintf(`{"approved":%v}`, yes))}
		if text != "" {
			r.Status, r.Payload = "cancelled", nil
		}
		entries = append(entries, r)
	}
	b := d.newTab(8, d.rand.Uint64())
	err := b.post(ctx, run, text, entries)
	var no *refused
	if errors.As(err, &no) && (no.code == "run_active" || no.code == "pending") {
		return nil // another one's run, or question, was faster
	}
	return err
}
