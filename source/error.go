package source

import (
	"errors"
	"strings"
)

// Errors that Open and Run return, to be matched with errors.Is.
var (
	// ErrNoSession: Options.Resume names a session that cannot be had again.
	ErrNoSession = errors.New("the agent does not have that session")
	// ErrSpoilt: an earlier turn was cancelled and the agent did not end it;
	// the session is of no more use, open another.
	ErrSpoilt = errors.New("the session is spoilt by a turn that did not end")
	// ErrBusy: a turn is already running.
	ErrBusy = errors.New("a turn is already running in this session")
	// ErrClosed: the session was closed.
	ErrClosed = errors.New("the session is closed")
)

// Codes of an Error. They are stable and part of the public interface.
const (
	CodeAgentMissing     = "agent_missing"
	CodeAgentStartFailed = "agent_start_failed"
	CodeAuthRequired     = "auth_required"
	CodeAgentExited      = "agent_exited"
	CodeAgentProtocol    = "agent_protocol"
	CodeAgentError       = "agent_error"
	CodeTimeout          = "timeout"
)

// Error is a failure of an agent, with a stable code.
type Error struct {
	Code    string
	Message string // one line: what happened
	Detail  string // what the agent itself said: its data, or the end of its stderr
	Fix     string // what to do about it, if known: often a command line
	Err     error  // the cause, may be nil
}

// Error gives what happened and what to do, on one line.
func (e *Error) Error() string {
	text := strings.Join(strings.Fields(e.Message), " ")
	if text == "" {
		text = e.Code
	}
	if e.Fix != "" {
		text += " (" + e.Fix + ")"
	}
	return text
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }
