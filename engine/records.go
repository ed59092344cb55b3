package engine

import (
	"encoding/json"
	"time"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/source"
)

// Thread is one conversation. Modes, Models, Commands and Grants are only set by
// Engine.Thread, and only if the agent has them.
type Thread struct {
	ID          string    `json:"id"`
	Agent       string    `json:"agent"`
	Title       string    `json:"title"`
	Cwd         string    `json:"cwd"`
	State       string    `json:"state"` // idle, running or waiting (for approvals)
	LastRun     *Run      `json:"lastRun,omitempty"`
	Pending     int       `json:"pending"` // requests that wait for an answer
	Diagnostics int       `json:"diagnostics,omitempty"`
	CreatedAt   time.Time `json:"createdAt"`
	UpdatedAt   time.Time `json:"updatedAt"`
	Cursor      string    `json:"cursor,omitempty"` // end of the log

	Modes    *source.Choices  `json:"modes,omitempty"`
	Models   *source.Choices  `json:"models,omitempty"`
	Commands []source.Command `json:"commands,omitempty"`
}

// RunState says where a run is in its life. All but queued and running are final.
type RunState string

// The states of a run.
const (
	RunQueued      RunState = "queued"
	RunRunning     RunState = "running"
	RunFinished    RunState = "finished"
	RunFailed      RunState = "failed"
	RunCancelled   RunState = "cancelled"
	RunInterrupted RunState = "interrupted"
	RunLost        RunState = "lost"
)

// Open reports whether the run has not ended.
func (s RunState) Open() bool { return s == RunQueued || s == RunRunning }

// Run is one AG-UI run: a range of the thread's log, both ends included.
type Run struct {
	ID            string            `json:"id"`
	Thread        string            `json:"thread"`
	Agent         string            `json:"agent"`
	Parent        string            `json:"parent,omitempty"` // the interrupted run that this one goes on with, or the one that a client says it tries again
	State         RunState          `json:"state"`
	StopReason    source.StopReason `json:"stopReason,omitempty"`
	Error         *Failure          `json:"error,omitempty"`
	CreatedAt     time.Time         `json:"createdAt"`
	StartedAt     *time.Time        `json:"startedAt,omitempty"`
	EndedAt       *time.Time        `json:"endedAt,omitempty"`
	From          string            `json:"from,omitempty"` // cursor of RUN_STARTED
	To            string            `json:"to,omitempty"`   // cursor of the terminal
	SilentSeconds int               `json:"silentSeconds,omitempty"`
	Diagnostics   int               `json:"diagnostics,omitempty"`
	Refused       int               `json:"refused,omitempty"` // requests that the policy refused
	Prompt        string            `json:"prompt,omitempty"`  // how the text of a queued run begins; Runs alone tells it
}

// Failure says why a run failed. Code is one of agent_missing,
// agent_start_failed, auth_required, agent_exited, agent_protocol, agent_error,
// timeout, limited, run_lost, server_stopping, storage and internal.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Messages is the AG-UI list of a thread at a cursor: what a stock client that
// has seen everything up to there holds.
type Messages struct {
	Messages []agui.Message  `json:"messages"`
	State    json.RawMessage `json:"state,omitempty"`
	Cursor   string          `json:"cursor"`
	OpenRun  *string         `json:"openRun"` // null: none
	Pending  []Request       `json:"pending"`
	More     bool            `json:"more,omitempty"` // there are earlier ones
}

// Round is a stored round: an assistant message and the results of its calls.
// Input is what the user said before it, on the first round after it.
type Round struct {
	Run      string            `json:"run"`
	Round    int               `json:"round"`
	Revision int               `json:"revision"`
	Complete bool              `json:"complete"`
	Input    []agui.Message    `json:"input"`
	Messages []*schema.Message `json:"messages"`
}

// Stats count what the engine holds at a moment.
type Stats struct {
	OpenRuns int // turns that run or wait for approvals
	Sessions int // places of agent sessions that are taken
}
