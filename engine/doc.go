// Package engine decides who runs what and how it ends: threads, runs, approvals
// and leases over a durable log.
//
// A thread is one conversation with one agent and one ordered log. A turn is one
// prompt of the agent; it has one AG-UI run, and one more after each approval
// that was waited for. A run's life is its own: no connection carries it. Nothing
// reaches a reader that is not in the log.
//
// An Engine is safe for concurrent calls. Its methods return *Error for
// everything that a caller can do something about; other errors are the log's.
package engine
