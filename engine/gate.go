package engine

import (
	"time"

	"github.com/agentstream-go/agentstream"
)

// gate is the handler that a source drives. It makes the source wait while the
// journal is full or too much is held, holds back what is said while no run is
// open, and lets nothing through once the turn is ending.
type gate struct{ t *turn }

var (
	_ agentstream.StreamHandler = gate{}
	_ agentstream.Forwarder     = gate{}
)

// enter takes the turn's lock; false: nothing is to be passed on. What is held
// back is asked for only if it has to be.
func (g gate) enter(held func() agentstream.Event) bool {
	t := g.t
	t.j.room(t.ctx)
	t.mu.Lock()
	for t.waiting && !t.ending && t.heldBytes >= t.e.o.Limits.JournalBytes && t.ctx.Err() == nil {
		reopened := t.reopened
		t.mu.Unlock()
		select {
		case <-reopened:
		case <-t.ctx.Done():
		}
		t.mu.Lock()
	}
	if t.ending || t.limited {
		return false
	}
	t.said = true
	t.lastSaid = time.Now()
	if t.run.SilentSeconds > 0 {
		t.run.SilentSeconds = 0
		t.save()
	}
	if t.waiting {
		t.hold(held())
		return false
	}
	return true
}

// leave commits what the call has made. A panic in the builder ends the turn
// instead of the process.
func (g gate) leave() {
	t := g.t
	if p := recover(); p != nil {
		t.e.o.Logger.Error("panic while an event was taken", "thread", t.c.id, "panic", p)
		t.cancel(errPanic)
	}
	t.bound()
	t.j.commit()
	t.mu.Unlock()
}

func (g gate) OnMessageChunk(text string) {
	defer g.leave()
	if g.enter(func() agentstream.Event { return agentstream.MessageChunk{Text: text} }) {
		g.t.b.OnMessageChunk(text)
	}
}

func (g gate) OnThoughtChunk(text string) {
	defer g.leave()
	if g.enter(func() agentstream.Event { return agentstream.ThoughtChunk{Text: text} }) {
		g.t.b.OnThoughtChunk(text)
	}
}

func (g gate) OnToolCall(id, title string) {
	defer g.leave()
	if g.enter(func() agentstream.Event { return agentstream.ToolCall{ID: id, Title: title} }) {
		g.t.b.OnToolCall(id, title)
	}
}

func (g gate) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	defer g.leave()
	if g.enter(func() agentstream.Event {
		return agentstream.ToolCallUpdate{ID: id, Content: content, Status: status}
	}) {
		g.t.b.OnToolCallUpdate(id, content, status)
	}
}

func (g gate) OnToolCallArgsSnapshot(id, args string) {
	defer g.leave()
	if g.enter(func() agentstream.Event { return agentstream.ToolCallArgsSnapshot{ID: id, Args: args} }) {
		g.t.b.OnToolCallArgsSnapshot(id, args)
	}
}

func (g gate) OnTokenUsage(totalTokens int) {
	defer g.leave()
	if g.enter(func() agentstream.Event { return agentstream.TokenUsage{TotalTokens: totalTokens} }) {
		g.t.b.OnTokenUsage(totalTokens)
	}
}

// Forward takes every event.
func (g gate) Forward(e agentstream.Event) bool {
	defer g.leave()
	if g.enter(func() agentstream.Event { return e }) {
		g.t.note(e)
		g.t.b.Forward(e)
	}
	return true
}
