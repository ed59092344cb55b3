package source

import (
	"context"

	"github.com/agentstream-go/agentstream"
)

// Source opens sessions with one agent. It is safe for concurrent calls.
type Source interface {
	// Open starts or connects the agent and gives a session that is ready for
	// Run. ctx bounds the opening alone; when it ends, Open returns its cause
	// and leaves nothing behind. Errors are *Error or match ErrNoSession.
	Open(ctx context.Context, o Options) (Session, error)
}

// Options say how a session is opened.
type Options struct {
	Cwd   string   // absolute working folder
	Roots []string // further absolute folders the agent may use

	// Resume is the agent's own id of a session to go on with; empty: a new
	// one. If the agent cannot or does not know it, Open fails with an error
	// that matches ErrNoSession, and the caller opens a new session.
	Resume string

	Mode, Model string // ids to select after opening; empty: the agent's own

	// Observe gets what concerns the session and no turn. It is called in
	// order, never twice at once, from Open until Close, and must not block
	// for long: the wire waits meanwhile. May be nil.
	Observe func(Fact)

	// Record asks for every raw wire line as Fact.Line.
	Record bool
}

// Session is one conversation with an agent.
type Session interface {
	// ID is the agent's own session id, for Options.Resume. It may be empty
	// if the agent has none, and does not change.
	ID() string

	// Run carries out one turn and returns when it is over: the stop reason,
	// or an error (*Error, the cause of ctx, or one that matches ErrSpoilt,
	// ErrBusy or ErrClosed). One Run at a time. When ctx ends, the turn is
	// cancelled, and the error matches context.Cause(ctx) whatever the agent
	// answers. The guarantees in the package comment hold for the handler.
	Run(ctx context.Context, t Turn) (StopReason, error)

	// Close ends the session and everything that belongs to it, a running Run
	// included. It may be called from any goroutine and more than once.
	Close() error
}

// Setter is implemented by sessions whose mode and model can change between
// turns. An id that the agent does not know is an *Error.
type Setter interface {
	SetMode(ctx context.Context, id string) error
	SetModel(ctx context.Context, id string) error
}

// Turn is one prompt and who takes part in the answer.
type Turn struct {
	Prompt  []Part
	Handler agentstream.StreamHandler

	// Ask is called for each question of the agent, in wire order between the
	// handler's calls, and returns at once. reply is called once, from any
	// goroutine, also from within Ask; later calls do nothing, nor do calls
	// after Request.Done is closed. A nil Ask refuses everything.
	Ask func(q Request, reply func(Answer))
}

// StopReason says how a turn ended without an error. The set is open: a reason
// that an agent makes up is passed on.
type StopReason string

// The reasons that the protocols know.
const (
	EndTurn         StopReason = "end_turn"
	MaxTokens       StopReason = "max_tokens"
	MaxTurnRequests StopReason = "max_turn_requests"
	Refusal         StopReason = "refusal"
	Cancelled       StopReason = "cancelled"
)
