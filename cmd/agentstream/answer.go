package main

import (
	"context"
	"fmt"
	"net/url"

	"github.com/agentstream-go/agentstream/engine"
)

// answer settles what the agent asks. Where nobody can be asked the requests stay
// as they are, for another device.
func (t *turn) answer(ctx context.Context) (done bool, err error) {
	var m engine.Messages
	if err := t.client.call(ctx, "GET", threadPath(t.run.thread)+"/messages?limit=1", nil, &m); err != nil {
		return true, err
	}
	for _, q := range m.Pending {
		asking, over := context.WithCancel(t.asking)
		go t.watch(asking, over, q.ID, t.last)
		a, ok := t.asker.ask(asking, q)
		elsewhere := asking.Err() != nil
		over()
		switch {
		case !ok:
			fmt.Fprintf(t.errw, "agentstream: the agent asks: %s\nagentstream: nobody can be asked here; 'agentstream approve %s' or 'deny' answers\n", oneLine(q.Title), q.ID)
			t.refused = true
			return true, nil
		case t.asking.Err() != nil:
			return false, nil // the turn is being cancelled
		case elsewhere:
			fmt.Fprintln(t.errw, "agentstream: answered elsewhere")
			continue
		}
		err := t.client.call(ctx, "POST", requestPath(q.ID)+"/resolve", a.body, nil)
		if code := codeOf(err); code == "already_resolved" || code == "request_unknown" {
			fmt.Fprintln(t.errw, "agentstream: answered elsewhere")
			continue
		}
		if err != nil {
			return true, err
		}
		t.refused = t.refused || a.refuses
	}
	return false, nil
}

// watch ends the asking when the request is settled by somebody else.
func (t *turn) watch(ctx context.Context, over context.CancelFunc, id, after string) {
	for ctx.Err() == nil {
		var q engine.Request
		if t.client.call(ctx, "GET", requestPath(id), nil, &q) != nil {
			return // the answer will tell
		}
		if q.State != "pending" {
			over()
			return
		}
		var page struct{ Cursor string }
		if t.client.call(ctx, "GET", threadPath(t.run.thread)+"/events?wait=25s&after="+url.QueryEscape(after), nil, &page) != nil {
			return
		}
		after = page.Cursor
	}
}

func requestPath(id string) string { return "/v1/requests/" + url.PathEscape(id) }
