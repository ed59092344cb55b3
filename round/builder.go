package round

import (
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// Config says what a Builder is for and who hears of it. Events and OnRound are
// called in order, never two at once, while the Builder is locked: they must not
// call it. A panic in one of them goes on to whoever drove the Builder, after
// everything that the call meant has been done.
type Config struct {
	Thread, Run string            // Run: the AG-UI run now
	Prefix      string            // of the ids made here, unique in the thread: [a-z0-9]{8}
	FirstRound  int               // number of the turn's first round in the thread
	Events      agui.EventHandler // nil: rounds only
	OnRound     func(Round)       // nil: AG-UI calls only
	Now         func() time.Time  // nil: time.Now
}

// Round is one round as far as it is known: an assistant message and a tool
// message for each of its calls. Readers keep the highest Revision of a
// (Thread, Number). Complete means that no result is a placeholder. Messages are
// shared with other revisions and must not be changed.
type Round struct {
	Thread, Run      string // Run: the run in which the round began
	Number, Revision int
	Complete         bool
	Messages         []*schema.Message
}

// Builder is a StreamHandler and a Forwarder that takes every event. It is for
// one turn (one prompt of the agent), which may span several AG-UI runs. All
// methods may be called from any goroutine. After Close it ignores everything.
type Builder struct {
	cfg Config
}

var (
	_ agentstream.StreamHandler = (*Builder)(nil)
	_ agentstream.Forwarder     = (*Builder)(nil)
)

// NewBuilder returns a Builder for one turn.
func NewBuilder(cfg Config) *Builder { return &Builder{cfg: cfg} }

// OnMessageChunk implements agentstream.StreamHandler.
func (b *Builder) OnMessageChunk(text string) {}

// OnThoughtChunk implements agentstream.StreamHandler.
func (b *Builder) OnThoughtChunk(text string) {}

// OnToolCall implements agentstream.StreamHandler.
func (b *Builder) OnToolCall(id, title string) {}

// OnToolCallUpdate implements agentstream.StreamHandler.
func (b *Builder) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {}

// OnToolCallArgsSnapshot implements agentstream.StreamHandler.
func (b *Builder) OnToolCallArgsSnapshot(id, args string) {}

// OnTokenUsage implements agentstream.StreamHandler.
func (b *Builder) OnTokenUsage(totalTokens int) {}

// Forward takes every event there is, the core ones included; false for nil.
func (b *Builder) Forward(e agentstream.Event) bool { return false }

// Hold marks an approval of the call as open: its round is not handed out until
// Release was called as often, or the turn is closed. agentID is the agent's own
// id of the call; an unknown one is ignored.
func (b *Builder) Hold(agentID string) {}

// Release takes a Hold back, and hands the round out if it was due.
func (b *Builder) Release(agentID string) {}

// CallID returns the public id of a call that the agent knows as agentID.
func (b *Builder) CallID(agentID string) (public string, ok bool) { return "", false }

// Usage is the turn's tokens as the source gave them, for RUN_FINISHED.usage;
// nil if it gave none.
func (b *Builder) Usage() []agui.TokenUsage { return nil }

// NextRound is the number that the next round of the thread gets.
func (b *Builder) NextRound() int { return 0 }

// Close ends the turn: open texts end, each call without a result gets its
// arguments, its end and a placeholder with the reason ("cancelled", "failed",
// "unfinished"; "" stands for a turn that ended by itself and counts as
// "unfinished" for whatever call has none), and every round that is due is
// handed out, approvals or not. The terminal event is the caller's. A second
// Close does nothing.
func (b *Builder) Close(reason string) {}

// Suspend closes what is open for the end of a run that is not the end of the
// turn: texts end, calls end without arguments and without a result. The run's
// terminal is the caller's. Until Resume nothing may be passed in but Hold,
// Release and CallID.
func (b *Builder) Suspend() {}

// Resume goes on in another run of the turn. What follows opens new messages;
// results still go to the calls of earlier runs.
func (b *Builder) Resume(run string, events agui.EventHandler) {}
