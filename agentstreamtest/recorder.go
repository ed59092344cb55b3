package agentstreamtest

import (
	"slices"
	"strings"
	"sync"

	"github.com/agentstream-go/agentstream"
)

var (
	_ agentstream.StreamHandler = (*Recorder)(nil)
	_ agentstream.Forwarder     = (*Recorder)(nil)
)

// Recorder is a handler that keeps every event in the order of arrival. The
// zero value is ready. All methods are safe for concurrent calls.
type Recorder struct {
	mu     sync.Mutex
	events []agentstream.Event
}

func (r *Recorder) add(e agentstream.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

// OnMessageChunk keeps a MessageChunk.
func (r *Recorder) OnMessageChunk(text string) { r.add(agentstream.MessageChunk{Text: text}) }

// OnThoughtChunk keeps a ThoughtChunk.
func (r *Recorder) OnThoughtChunk(text string) { r.add(agentstream.ThoughtChunk{Text: text}) }

// OnToolCall keeps a ToolCall.
func (r *Recorder) OnToolCall(id, title string) { r.add(agentstream.ToolCall{ID: id, Title: title}) }

// OnToolCallUpdate keeps a ToolCallUpdate.
func (r *Recorder) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	r.add(agentstream.ToolCallUpdate{ID: id, Content: content, Status: status})
}

// OnToolCallArgsSnapshot keeps a ToolCallArgsSnapshot.
func (r *Recorder) OnToolCallArgsSnapshot(id, args string) {
	r.add(agentstream.ToolCallArgsSnapshot{ID: id, Args: args})
}

// OnTokenUsage keeps a TokenUsage.
func (r *Recorder) OnTokenUsage(totalTokens int) {
	r.add(agentstream.TokenUsage{TotalTokens: totalTokens})
}

// Forward keeps a rich event and says that it was taken.
func (r *Recorder) Forward(e agentstream.Event) bool {
	r.add(e)
	return true
}

// Events returns a copy of what has come so far.
func (r *Recorder) Events() []agentstream.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

// Text returns the message chunks that have come so far, joined.
func (r *Recorder) Text() string {
	var b strings.Builder
	for _, e := range r.Events() {
		if c, ok := e.(agentstream.MessageChunk); ok {
			b.WriteString(c.Text)
		}
	}
	return b.String()
}

// String returns what has come so far in the form that ParseScript reads.
func (r *Recorder) String() string { return Script(r.Events()).String() }
