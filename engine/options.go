package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/source"
)

// Options make an Engine. Only Log is required; New copies the struct.
type Options struct {
	Log    eventlog.Log // stays the caller's, to be closed after the engine
	Agents []Agent

	Policy     Policy        // what answers an agent's request; default ask
	RequestTTL time.Duration // how long a request waits for an answer; default 24 h

	// Ask, if set, is asked at once instead of interrupting the run (someone
	// sits at a terminal). It is called from a goroutine of its own; false
	// says that nobody is there, which refuses.
	Ask func(ctx context.Context, r Request) (Answer, bool)

	// OnInterrupt also tells of an interrupt by CUSTOM on_interrupt, for
	// clients older than the interrupt outcome.
	OnInterrupt bool

	Cwd   string   // working folder of new threads, absolute; default: the process's
	Roots []string // a client may ask for a folder inside these; default: Cwd

	Limits          Limits
	Retention       Retention
	ShutdownTimeout time.Duration // what running turns get at Close; default 5 s
	LeaseTTL        time.Duration // default 30 s; renewed at a third of it

	// Shared says that other engines use the log too. Then their leases are
	// waited out; else New takes every lease, because whoever held it is dead.
	Shared bool

	Owner  string           // of leases; default: made up
	Now    func() time.Time // stored times; default time.Now
	Logger *slog.Logger     // default: discards
	Record bool             // keep the raw wire lines as notes
}

// Agent is one agent that can be run.
type Agent struct {
	Name   string // [a-z0-9][a-z0-9_-]{0,31}
	Type   string // of source, for people
	Source source.Source

	Cwd         string // default working folder, absolute; default Options.Cwd
	Mode, Model string // selected when a session is opened; empty: the agent's own

	// Caller's choice per agent; zero means the default.
	IdleTimeout    time.Duration // an idle session is kept that long; default 10 min
	StartTimeout   time.Duration // starting ends that long after the last fact; default 120 s, negative: the source sees to it
	SilenceTimeout time.Duration // a turn without an event for that long fails; default: never
}

// Limits bound what the engine uses. Zero means the default.
type Limits struct {
	Processes    int // sessions with agents, running or idle; default 16
	JournalBytes int // of one turn, not yet durable or held for an approval; the agent waits beyond; default 4 MiB

	// A run that says more than this is cancelled and fails with limited.
	// Negative: no limit.
	RunEvents int   // default 1,000,000
	RunBytes  int64 // of its events as they are logged; default 256 MiB

	// ThreadBytes bounds the events of a thread's closed runs, as they were
	// logged: beyond it the oldest are collapsed early. Default 1 GiB;
	// negative: no limit. Messages and rounds stay and do not count.
	ThreadBytes int64

	// TotalBytes bounds what the log takes on disk, which is looked at when a
	// turn ends: beyond it the oldest closed runs are compacted, then collapsed
	// early, and if that does not suffice, new runs are refused with limited.
	// Zero: no limit. It needs a log that is an eventlog.Sizer.
	TotalBytes int64
}

// Retention says when closed runs take less room. Zero means the default,
// negative never.
type Retention struct {
	CompactAfter  time.Duration // since a run's end: its events are compacted, if the log is an eventlog.Compactor; default 15 min
	CollapseAfter time.Duration // since a run's end: the log up to there becomes one snapshot of the messages; default 30 days
}

// Policy says who answers the requests of agents.
type Policy string

const (
	PolicyAsk   Policy = "ask"   // a person: the run is interrupted
	PolicyReads Policy = "reads" // reads and searches inside the thread's folder are allowed, all else refused
	PolicyAll   Policy = "all"   // everything is allowed
	PolicyNone  Policy = "none"  // everything is refused
)
