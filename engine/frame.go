package engine

import (
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
)

// Frame is one event for a reader. Data is one JSON object on one line, not to be
// changed.
type Frame struct {
	ID       string // cursor; empty on events made for this reader, except the last of them
	Data     []byte
	Run      string
	Note     bool // said while no run was open, or a raw line; not AG-UI
	Terminal bool // the run ends with it
	More     bool // another frame follows at once, so that a writer may put off its flush
}

// EventOptions say what Engine.Events yields.
type EventOptions struct {
	Notes  bool   // the notes too
	Tail   int    // with the zero cursor: begin with the last so many records
	NoWait bool   // end at the end of the log instead of going live
	Run    string // only this run, and end with its terminal
}

// JoinRequest asks for a stream of one run as a stock AG-UI client takes it.
type JoinRequest struct {
	Thread string

	// Started is what the POST that is answered started; nil: attach.
	Started *Started

	// Held is what a reader without a cursor says it holds; it chooses the prelude.
	Held []agui.Message

	// After is where the reader is; zero: it has nothing of the run.
	After eventlog.Cursor

	Prelude string // replay or snapshot; with After the prelude as of that cursor. Empty: none with a cursor, else replay
	Follow  bool   // go on after the run's end
	Window  int    // how many of the last messages a snapshot is to have; 0: all
	Version string // protocolVersion that the client names; empty: an old one
}
