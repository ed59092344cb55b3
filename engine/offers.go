package engine

import (
	"context"
	"encoding/json"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// offers is what an agent lets a user choose from.
type offers struct {
	Modes    *source.Choices  `json:"modes,omitempty"`
	Models   *source.Choices  `json:"models,omitempty"`
	Commands []source.Command `json:"commands,omitempty"`
}

// observe takes what the session says beside its turns. Within a turn it goes
// with the turn's next group, else it is stored by itself.
func (c *conversation) observe(f source.Fact) {
	c.mu.Lock()
	if f.Modes != nil {
		c.offers.Modes, c.unsaid = f.Modes, true
	}
	if f.Models != nil {
		c.offers.Models, c.unsaid = f.Models, true
	}
	if f.Commands != nil {
		c.offers.Commands, c.unsaid = *f.Commands, true
	}
	t := c.turn
	c.mu.Unlock()
	if t != nil && t.observe(f) {
		return
	}
	if f.Diagnostic != "" {
		c.e.o.Logger.Info("the agent's diagnostics", "thread", c.id, "line", clip(f.Diagnostic, 1000))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.facts) >= maxFacts {
		c.e.o.Logger.Warn("the agent says too much outside of turns; some of it is lost", "thread", c.id)
		return
	}
	c.facts = append(c.facts, f)
	if !c.storing {
		c.storing = c.later(c.storeFacts)
	}
}

// maxFacts bounds what waits to be stored.
const maxFacts = 4096

// storeFacts stores what came while no turn was open, in order.
func (c *conversation) storeFacts(ctx context.Context) {
	for {
		c.mu.Lock()
		facts := c.facts
		c.facts = nil
		c.storing = len(facts) > 0
		c.mu.Unlock()
		if len(facts) == 0 {
			return
		}
		if err := c.storeIdle(ctx, facts); err != nil {
			c.e.o.Logger.Warn("what the agent said outside a turn was not stored", "thread", c.id, "error", err)
		}
	}
}

// observe takes a fact within the turn; false: the turn is over.
func (t *turn) observe(f source.Fact) bool {
	t.j.room(t.ctx)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ending {
		return false
	}
	if f.Diagnostic != "" {
		t.e.o.Logger.Info("the agent's diagnostics", "thread", t.c.id, "run", t.run.ID, "line", clip(f.Diagnostic, 1000))
	}
	if t.rec.take(f) {
		if f.Diagnostic != "" {
			t.run.Diagnostics++
		}
		t.save()
	}
	if note := t.rec.noteOf(f); note != nil && !t.limited {
		t.j.event(eventlog.KindNote, "", note)
		if !t.waiting {
			t.run.Bytes += int64(len(note))
		}
		t.bound()
	}
	t.j.commit()
	return true
}

// take puts into the record what belongs there and reports whether it did.
func (r *threadRecord) take(f source.Fact) bool {
	changed := false
	if f.Title != nil && *f.Title != "" && !r.Titled && r.Title != *f.Title {
		r.Title, changed = clip(*f.Title, 200), true
	}
	if f.Diagnostic != "" {
		r.Diagnostics, changed = r.Diagnostics+1, true
	}
	return changed
}

// maxShown is how many of a thread's diagnostics are kept; all are counted.
const maxShown = 100

// noteOf is what stays of a fact in the log beside the events: what was said
// outside a turn, raw lines, and what was odd about them.
func (r *threadRecord) noteOf(f source.Fact) []byte {
	switch {
	case f.Diagnostic != "" && r.Diagnostics <= maxShown:
		return encode(map[string]string{"diagnostic": clip(f.Diagnostic, 1000)})
	case f.Late != nil:
		return noteEvent("late", f.Late)
	case f.Line != nil:
		from := "client"
		if f.Line.FromAgent {
			from = "agent"
		}
		return encode(map[string]any{"line": map[string]string{"from": from, "text": string(f.Line.Text)}})
	}
	return nil
}

func noteEvent(name string, e agentstream.Event) []byte {
	return encode(map[string]json.RawMessage{name: agentstream.AppendEvent(nil, e)})
}

func (c *conversation) storeIdle(ctx context.Context, facts []source.Fact) error {
	if err := c.lock(ctx); err != nil {
		return err
	}
	defer c.unlock()
	if t := c.open(); t != nil {
		for len(facts) > 0 && t.observe(facts[0]) {
			facts = facts[1:]
		}
		if len(facts) == 0 {
			return nil
		}
		<-t.done
	}
	batch := eventlog.Batch{Thread: c.id}
	err := c.known(ctx, func(_ eventlog.View, rec *threadRecord, _ eventlog.Cursor) error {
		changed := false
		for _, f := range facts {
			changed = rec.take(f) || changed
			if note := rec.noteOf(f); note != nil {
				batch.Events = append(batch.Events, eventlog.Event{Kind: eventlog.KindNote, Data: note})
			}
		}
		if changed {
			batch.PutGlobal = []eventlog.Entry{{Key: keyThread + c.id, Value: encode(rec)}}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if c.takeOffers() {
		batch.Put = []eventlog.Entry{{Key: keyFacts, Value: encode(c.offered())}}
	}
	if len(batch.Events)+len(batch.Put)+len(batch.PutGlobal) == 0 {
		return nil
	}
	_, err = c.e.o.Log.Append(ctx, batch)
	c.e.threads.beat()
	return err
}

func (c *conversation) offered() offers {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.offers
}

// takeOffers reports whether offers are to be stored, which the caller then does.
func (c *conversation) takeOffers() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	unsaid := c.unsaid
	c.unsaid = false
	return unsaid
}
