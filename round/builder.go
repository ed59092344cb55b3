package round

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

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
// the receiver's: no other round shares them.
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
	mu       sync.Mutex
	cfg      Config
	events   agui.EventHandler
	clock    func() int64 // Unix milliseconds
	minted   int          // the counter of ids
	next     int          // number of the next round
	runNo    int          // counts the turn's runs
	main     *lane
	subs     []*lane // open sub-agents, in order of announcement
	usage    []agui.TokenUsage
	closed   bool
	restored bool
	failure  *handlerPanic // of the call under way
}

var (
	_ agentstream.StreamHandler = (*Builder)(nil)
	_ agentstream.Forwarder     = (*Builder)(nil)
)

// NewBuilder returns a Builder for one turn.
func NewBuilder(cfg Config) *Builder {
	now := cfg.Now
	if now == nil {
		now = time.Now
	}
	b := &Builder{
		cfg:    cfg,
		events: cfg.Events,
		clock:  func() int64 { return now().UnixMilli() },
		next:   cfg.FirstRound,
	}
	if b.events == nil {
		b.events = nobody{}
	}
	b.main = newLane(b, nil, "", "")
	return b
}

// OnMessageChunk implements agentstream.StreamHandler.
func (b *Builder) OnMessageChunk(text string) {
	b.mu.Lock()
	defer b.unlock()
	b.main.chunk(agui.KindText, text)
}

// OnThoughtChunk implements agentstream.StreamHandler.
func (b *Builder) OnThoughtChunk(text string) {
	b.mu.Lock()
	defer b.unlock()
	b.main.chunk(agui.KindReasoning, text)
}

// OnToolCall implements agentstream.StreamHandler.
func (b *Builder) OnToolCall(id, title string) {
	b.mu.Lock()
	defer b.unlock()
	b.main.declare(id, title)
}

// OnToolCallUpdate implements agentstream.StreamHandler.
func (b *Builder) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	b.mu.Lock()
	defer b.unlock()
	b.main.update(id, content, status)
}

// OnToolCallArgsSnapshot implements agentstream.StreamHandler.
func (b *Builder) OnToolCallArgsSnapshot(id, args string) {
	b.mu.Lock()
	defer b.unlock()
	b.main.snapshot(id, args)
}

// OnTokenUsage implements agentstream.StreamHandler.
func (b *Builder) OnTokenUsage(totalTokens int) {
	b.mu.Lock()
	defer b.unlock()
	b.main.gauge(totalTokens)
}

// CallID returns the public id of a call that the agent knows as agentID.
func (b *Builder) CallID(agentID string) (public string, ok bool) {
	b.mu.Lock()
	defer b.unlock()
	c := b.find(agentID)
	if c == nil {
		return "", false
	}
	return c.id, true
}

// Usage is the turn's tokens as the source gave them, for RUN_FINISHED.usage;
// nil if it gave none.
func (b *Builder) Usage() []agui.TokenUsage {
	b.mu.Lock()
	defer b.unlock()
	return b.usage
}

// NextRound is the number that the next round of the thread gets.
func (b *Builder) NextRound() int {
	b.mu.Lock()
	defer b.unlock()
	return b.next
}

// find looks for a call by the agent's id: the agent's own, then those of
// sub-agents.
func (b *Builder) find(agentID string) *call {
	if c := b.main.calls[agentID]; c != nil {
		return c
	}
	for _, l := range b.subs {
		if c := l.calls[agentID]; c != nil {
			return c
		}
	}
	return nil
}

// mint makes an id; the letter tells its kind.
func (b *Builder) mint(letter byte) string {
	b.minted++
	id := make([]byte, 0, 40)
	id = append(id, b.cfg.Prefix...)
	id = append(id, '-', letter)
	return string(strconv.AppendInt(id, int64(b.minted), 10))
}

// unlock ends a call from outside. A handler's panic goes on only now, when the
// state and every other handler have had their part.
func (b *Builder) unlock() {
	failure := b.failure
	b.failure = nil
	b.mu.Unlock()
	if failure != nil {
		panic(failure)
	}
}

// caught keeps a handler's panic for unlock. It has to be deferred directly.
func (b *Builder) caught() {
	if p := recover(); p != nil && b.failure == nil {
		b.failure = &handlerPanic{value: p, stack: debug.Stack()}
	}
}

func (b *Builder) start(i agui.Item) {
	defer b.caught()
	b.events.Start(i)
}

func (b *Builder) delta(kind agui.Kind, id, text string) {
	defer b.caught()
	b.events.Delta(kind, id, text)
}

func (b *Builder) end(kind agui.Kind, id string, metadata []byte) {
	defer b.caught()
	b.events.End(kind, id, metadata)
}

func (b *Builder) replaceArgs(id, args string) {
	defer b.caught()
	b.events.ReplaceArgs(id, args)
}

func (b *Builder) result(r agui.Result) {
	defer b.caught()
	b.events.Result(r)
}

func (b *Builder) emit(e agui.Event) {
	defer b.caught()
	b.events.Emit(e)
}

// handlerPanic is what the Builder panics with when a handler did: the handler's
// value, and the stack where it happened, which would be lost otherwise.
type handlerPanic struct {
	value any
	stack []byte
}

// Error gives both.
func (p *handlerPanic) Error() string {
	return fmt.Sprintf("round: panic in a handler: %v\n%s", p.value, p.stack)
}

// Unwrap gives the handler's value if it was an error.
func (p *handlerPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// nobody hears nothing.
type nobody struct{}

func (nobody) Start(agui.Item)                        {}
func (nobody) Delta(agui.Kind, string, string)        {}
func (nobody) End(agui.Kind, string, json.RawMessage) {}
func (nobody) ReplaceArgs(string, string)             {}
func (nobody) Result(agui.Result)                     {}
func (nobody) Emit(agui.Event)                        {}

// valid makes text valid UTF-8, so that what is stored and what an encoder
// writes are the same.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
