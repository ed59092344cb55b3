package torture_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	"github.com/agentstream-go/agentstream/agui"
)

// tab is a client that posts as a stock one does, and goes on when it is cut: by
// cursor, or by the same POST again. For one goroutine.
type tab struct {
	*view
	rand   *rand.Rand
	agent  string
	thread string
	cwd    string
}

func (b *tab) attach(query string) string {
	return "/agui/" + b.agent + "?threadId=" + url.QueryEscape(b.thread) + query
}

func message(id, text string) agui.Message {
	return agui.Message{ID: id, Role: agui.RoleUser, Content: agui.StringContent(text)}
}

// refused is an answer that is none: the tab's message is not in the thread.
type refused struct {
	status int
	code   string
	body   []byte
}

func (r *refused) Error() string { return fmt.Sprintf("%d %.500s", r.status, r.body) }

// post makes a run of what the tab holds and a new message (an empty text: none),
// or answers, and reads it to its end. A tab whose message did not get into the
// thread is refused, and loaded anew, so that it forgets the message.
func (b *tab) post(ctx context.Context, run, text string, resume []agui.Resume) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s: run %s does not end", b.who, run))
	defer cancel()
	if text != "" {
		b.list.Add(message("user-"+run, text))
	}
	b.stale, b.over = true, false // until RUN_STARTED says what is new
	err := b.exchange(ctx, run, resume)
	b.stale = false
	if err != nil && !errors.As(err, new(*refused)) || text == "" {
		return err
	}
	path := "/v1/runs/" + url.PathEscape(run) + "?threadId=" + url.QueryEscape(b.thread)
	a, found := b.w.ask(ctx, "GET", path, nil)
	switch {
	case found != nil || a.status == http.StatusOK:
		return errors.Join(err, found)
	case a.status != http.StatusNotFound:
		return a.bad(path)
	case err == nil:
		err = &refused{status: http.StatusOK, code: "pending"}
	}
	return errors.Join(err, b.refresh(ctx))
}

func (b *tab) exchange(ctx context.Context, run string, resume []agui.Resume) error {
	var no *refused
	refuse := func(status int, body []byte) {
		no = &refused{status: status, body: body}
		var p struct{ Code string }
		_ = json.Unmarshal(body, &p)
		no.code = p.Code
	}
	from := b.last
	c := call{method: "POST", path: "/agui/" + b.agent, body: b.input(run, resume), refused: refuse}
	for {
		before := b.last
		c.bytes = cutAt(b.rand)
		if _, err := b.read(ctx, c); err != nil {
			return err
		}
		switch {
		case no != nil:
			return no
		case b.over:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case b.last != from && (c.method == "GET" || b.rand.IntN(3) > 0):
			b.stale = false
			c = call{method: "GET", path: b.attach(""), after: b.last, refused: refuse}
		case b.last != from:
			b.stale = false
			c.body = b.input(run, resume) // the same run again, by who holds a part of it
		}
		if err := b.breathe(ctx, before); err != nil {
			return err
		}
	}
}

// breathe lets a moment pass where nothing came.
func (b *tab) breathe(ctx context.Context, before string) error {
	if b.last != before {
		return nil
	}
	return pause(ctx, time.Duration(1+b.rand.IntN(20))*time.Millisecond)
}

func (b *tab) input(run string, resume []agui.Resume) map[string]any {
	in := map[string]any{
		"threadId": b.thread, "runId": run, "messages": b.messages(), "state": map[string]any{}, "tools": []any{},
		"context": []any{}, "forwardedProps": map[string]any{"agentstream": map[string]any{"cwd": b.cwd}},
	}
	if resume != nil {
		in["resume"] = resume
	}
	return in
}

// refresh loads the tab anew.
func (b *tab) refresh(ctx context.Context) error {
	for {
		b.reload()
		whole, err := b.read(ctx, call{method: "GET", path: b.attach("&prelude=" + pick(b.rand, "replay", "snapshot")), bytes: cutAt(b.rand)})
		if err != nil || whole && (b.over || b.last == "") {
			return err
		}
		if err := b.breathe(ctx, b.last); err != nil {
			return err
		}
	}
}

// catchUp reads what the tab has not seen up to an event.
func (b *tab) catchUp(ctx context.Context, last string) error {
	for b.last < last {
		before := b.last
		c := call{method: "GET", path: b.attach(""), after: b.last, bytes: cutAt(b.rand)}
		if _, err := b.read(ctx, c); err != nil {
			return err
		}
		if err := b.breathe(ctx, before); err != nil {
			return fmt.Errorf("%s is at %s, and the end is %s: %w", b.who, b.last, last, err)
		}
	}
	return nil
}
