package engine

import (
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/eventlog"
)

// StartRequest asks for a run. Input.ThreadID is required; an empty Input.RunID
// and empty message ids are filled in, messages in a way that makes a retry with
// the same run id the same request.
type StartRequest struct {
	Agent string
	Input agui.Input
	Cwd   string // only when the thread is made; wins over forwardedProps.agentstream.cwd
	By    string // who asks, for the record of approvals

	Enqueue bool // wait for an open run instead of being refused with run_active
	Strict  bool // refuse with interrupted while requests are pending (REST), instead of Started.Pending
}

// Started is what became of a StartRequest.
type Started struct {
	Run      Run
	Attached bool // nothing was started: Run is what runs, or ran, for this request

	// After is the place in the log just before the run's RUN_STARTED.
	After eventlog.Cursor

	// Pending is set when nothing was started because these requests wait for
	// an answer; Run is then not in the log and carries the id asked for.
	Pending []Request

	// Conflict says that the request tried to answer Conflicts otherwise than
	// they had been.
	Conflicts []Request

	// Resumed says that the request carried answers: if the run fails, the
	// reader is to get an empty run after it (Join adds it).
	Resumed bool

	posted []agui.Message // what an AG-UI client says it holds; nil for REST
}
