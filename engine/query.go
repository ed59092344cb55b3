package engine

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// ThreadQuery selects threads, newest first.
type ThreadQuery struct {
	Limit  int    // default 50, at most 200
	Before string // a ThreadPage's Next
	Text   string // part of a title or id, case ignored
}

// ThreadPage is one page of threads.
type ThreadPage struct {
	Threads []Thread `json:"threads"`
	Next    string   `json:"next,omitempty"`
	Cursor  string   `json:"cursor"` // of what the page shows, for WatchThreads
}

// ThreadPatch changes a thread; nil leaves a field as it is.
type ThreadPatch struct {
	Title, Mode, Model *string
}

// heal ends a turn that nobody runs, before a reader looks. What is queued behind
// none, because who had queued it has stopped, begins.
func (c *conversation) heal(ctx context.Context) error {
	if c.open() != nil {
		return nil
	}
	stray, queued := false, false
	err := c.view(ctx, func(_ eventlog.View, rec *threadRecord, _ eventlog.Cursor) error {
		stray = rec != nil && rec.Turn != nil
		queued = rec != nil && rec.Turn == nil && len(rec.Queue) > 0
		return nil
	})
	if err == nil && queued {
		c.later(c.next)
	}
	if err != nil || !stray {
		return err
	}
	if err := c.settleStray(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	return nil // whoever holds it runs it; a log that fails fails the reader too
}

// Thread gives a thread with what its agent offers.
func (e *Engine) Thread(ctx context.Context, id string) (out Thread, err error) {
	c := e.use(id)
	defer c.release()
	if err := c.heal(ctx); err != nil {
		return out, storage(err)
	}
	err = c.known(ctx, func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) error {
		out = rec.public(head)
		stored, _, err := decode[offers](v.Get(keyFacts))
		now := c.offered()
		if now.Modes != nil {
			stored.Modes = now.Modes
		}
		if now.Models != nil {
			stored.Models = now.Models
		}
		if now.Commands != nil {
			stored.Commands = now.Commands
		}
		out.Modes, out.Models, out.Commands = selected(stored.Modes, rec.Mode), selected(stored.Models, rec.Model), stored.Commands
		return err
	})
	return out, storage(err)
}

// selected shows what was asked for as the current choice.
func selected(c *source.Choices, asked string) *source.Choices {
	if c == nil || asked == "" {
		return c
	}
	return &source.Choices{Current: asked, Available: c.Available}
}

func choiceIDs(c *source.Choices) (out []string) {
	if c != nil {
		for _, one := range c.Available {
			out = append(out, one.ID)
		}
	}
	return out
}

// Threads lists threads, the last changed first.
func (e *Engine) Threads(ctx context.Context, q ThreadQuery) (ThreadPage, error) {
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.Limit = min(q.Limit, 200)
	page := ThreadPage{Threads: []Thread{}}
	after, err := base64.RawURLEncoding.DecodeString(q.Before)
	if err != nil {
		return page, refuse("bad_request", "before is not the next of a page")
	}
	text := strings.ToLower(q.Text)
	var recs []*threadRecord
	err = e.o.Log.View(ctx, "", func(v eventlog.View) error {
		for entry, err := range v.GlobalKeys(keyRecent, keyRecent+string(after), 0) {
			if err != nil {
				return err
			}
			rec, err := getThread(v, string(entry.Value))
			if err != nil {
				return err
			}
			if rec == nil || text != "" && !strings.Contains(strings.ToLower(rec.Title+"\x00"+rec.ID), text) {
				continue
			}
			if len(recs) == q.Limit {
				page.Next = base64.RawURLEncoding.EncodeToString([]byte(recs[q.Limit-1].Recent[len(keyRecent):]))
				break
			}
			recs = append(recs, rec)
		}
		return nil
	})
	for _, rec := range recs {
		if err != nil {
			break
		}
		err = e.o.Log.View(ctx, rec.ID, func(v eventlog.View) error {
			head, err := v.Head()
			page.Threads = append(page.Threads, rec.public(head))
			return err
		})
	}
	page.mark()
	return page, storage(err)
}

// Runs lists a thread's runs in the order they were made.
func (e *Engine) Runs(ctx context.Context, thread string) ([]Run, error) {
	c := e.use(thread)
	defer c.release()
	out := []Run{}
	err := c.known(ctx, func(v eventlog.View, _ *threadRecord, head eventlog.Cursor) error {
		for entry, err := range v.Keys(keyRun, "", 0) {
			run, _, err := decode[*runRecord](entry.Value, err)
			if err != nil {
				return err
			}
			shown := run.public(head.Gen)
			if shown.State == RunQueued {
				if shown.Prompt, err = promptOf(v, run); err != nil {
					return err
				}
			}
			out = append(out, shown)
		}
		return nil
	})
	return out, storage(err)
}

// promptOf gives how the text of a queued run begins.
func promptOf(v eventlog.View, run *runRecord) (string, error) {
	const most = 500
	r, _, err := decode[StartRequest](v.Get(keyQueued + run.ID))
	if err != nil {
		return "", err
	}
	var texts []string
	for _, m := range r.Input.Messages {
		if slices.ContainsFunc(run.Inputs, func(in inputRef) bool { return in.ID == m.ID }) {
			texts = append(texts, m.Text())
		}
	}
	text := strings.Join(texts, "\n\n")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text, nil
}

// Run gives a run. An empty thread is allowed if the id is unambiguous.
func (e *Engine) Run(ctx context.Context, thread, run string) (out Run, err error) {
	if thread, err = e.threadOf(ctx, thread, run); err != nil {
		return out, err
	}
	c := e.use(thread)
	defer c.release()
	if err := c.heal(ctx); err != nil {
		return out, storage(err)
	}
	err = c.view(ctx, func(v eventlog.View, _ *threadRecord, head eventlog.Cursor) error {
		rec, err := getRun(v, run)
		if err == nil && rec == nil {
			err = refuse("run_unknown", "no run %q in thread %q", run, thread)
		}
		if err == nil {
			out = rec.public(head.Gen)
		}
		return err
	})
	return out, storage(err)
}

// threadOf finds the thread of a run.
func (e *Engine) threadOf(ctx context.Context, thread, run string) (string, error) {
	if thread != "" {
		return thread, nil
	}
	prefix := runsKey(run, "")
	var threads []string
	err := e.o.Log.View(ctx, "", func(v eventlog.View) error {
		for entry, err := range v.GlobalKeys(prefix, "", 2) {
			if err != nil {
				return err
			}
			threads = append(threads, entry.Key[len(prefix):])
		}
		return nil
	})
	switch {
	case err != nil:
		return "", storage(err)
	case len(threads) == 0:
		return "", refuse("run_unknown", "no run %q", run)
	case len(threads) > 1:
		return "", refuse("bad_request", "several threads have a run %q; say which by threadId", run)
	}
	return threads[0], nil
}

// Rounds gives the rounds and the cursor they are as of. Those of an open turn
// are there as soon as they are handed out.
func (e *Engine) Rounds(ctx context.Context, thread string) (out []Round, at eventlog.Cursor, err error) {
	c := e.use(thread)
	defer c.release()
	if err := c.heal(ctx); err != nil {
		return nil, at, storage(err)
	}
	err = c.known(ctx, func(v eventlog.View, _ *threadRecord, head eventlog.Cursor) error {
		at = head
		out, err = readRounds(v)
		return err
	})
	return out, at, storage(err)
}

// Messages gives the AG-UI list, atomic with its cursor: the last limit messages
// (0: all) before the message with the id before (empty: the end).
func (e *Engine) Messages(ctx context.Context, thread string, limit int, before string) (Messages, error) {
	c := e.use(thread)
	defer c.release()
	if err := c.heal(ctx); err != nil {
		return Messages{}, storage(err)
	}
	m, live, err := c.liveMessages(ctx)
	if err == nil && !live {
		m, err = c.storedMessages(ctx)
	}
	if err != nil {
		return m, storage(err)
	}
	return m, m.page(limit, before)
}

// liveMessages gives the list of the open turn, once all it holds is durable.
func (c *conversation) liveMessages(ctx context.Context) (m Messages, live bool, err error) {
	t := c.open()
	if t == nil {
		return m, false, nil
	}
	t.mu.Lock()
	if t.ending {
		t.mu.Unlock()
		select {
		case <-t.done:
			return m, false, nil
		case <-ctx.Done():
			return m, false, context.Cause(ctx)
		}
	}
	list := t.list.Clone()
	seq, group := t.j.seq, t.j.put
	if !t.waiting {
		run := t.run.ID
		m.OpenRun = &run
	}
	m.Pending = []Request{}
	for _, a := range t.asks {
		m.Pending = append(m.Pending, a.req)
	}
	t.mu.Unlock()
	head, err := t.durable(ctx, group)
	if errors.Is(err, errEnded) {
		return Messages{}, false, nil
	}
	m.Messages, m.State = list.Messages(), list.State()
	m.Cursor = eventlog.Cursor{Gen: head.Gen, Seq: seq}.String()
	return m, true, err
}

// storedMessages gives the list as of the end of the log.
func (c *conversation) storedMessages(ctx context.Context) (m Messages, err error) {
	m.Pending = []Request{}
	err = c.known(ctx, func(v eventlog.View, rec *threadRecord, head eventlog.Cursor) error {
		list, err := c.folded(v, head, rec.floor())
		if err != nil {
			return err
		}
		m.Messages, m.State, m.Cursor = list.Messages(), list.State(), head.String()
		if rec.Turn == nil {
			return nil
		}
		if !rec.Turn.Waiting {
			m.OpenRun = &rec.Last.ID
		}
		m.Pending, err = pendingOf(v)
		return err
	})
	return m, err
}

// page keeps limit messages before one.
func (m *Messages) page(limit int, before string) error {
	if before != "" {
		i := indexOf(m.Messages, before)
		if i < 0 {
			return refuse("bad_request", "no message %q in this thread", before)
		}
		m.Messages = m.Messages[:i]
	}
	if limit > 0 && len(m.Messages) > limit {
		m.Messages, m.More = m.Messages[len(m.Messages)-limit:], true
	}
	if m.Messages == nil {
		m.Messages = []agui.Message{}
	}
	return nil
}

func indexOf(messages []agui.Message, id string) int {
	for i, m := range messages {
		if m.ID == id {
			return i
		}
	}
	return -1
}

func contains(list []string, s string) bool {
	for _, one := range list {
		if one == s {
			return true
		}
	}
	return false
}
