package engine

import "fmt"

// Error is a refusal with a stable code: bad_request, cwd_forbidden,
// agent_unknown, thread_unknown, run_unknown, request_unknown,
// unknown_interrupt, grant_unknown, run_active, interrupted, run_conflict,
// agent_mismatch, resume_invalid, already_resolved, cursor_gone, limited,
// draining, unsupported, storage or internal.
type Error struct {
	Code    string
	Message string // one line, for people
	Thread  string // with cursor_gone: whose messages to fetch
	Run     string // with run_active: the open run
	Err     error  // the cause, may be nil
}

// Error gives the message.
func (e *Error) Error() string { return e.Message }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

func refuse(code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}
