package eventlog

import "errors"

// Errors that a Log returns, found with errors.Is. Everything else is a defect
// of the store (disk, damage, rights) and comes as the store's own error.
var (
	// ErrFenced refuses a batch whose epoch is not the thread's: the producer
	// has lost its lease and must stop.
	ErrFenced = errors.New("eventlog: fenced: the lease is another's now")
	// ErrConflict refuses a batch because the thread's last record is not the
	// expected one.
	ErrConflict = errors.New("eventlog: conflict: the thread has moved on")
	// ErrHeld refuses a lease that another owner holds.
	ErrHeld = errors.New("eventlog: the lease is held by another owner")
	// ErrGone refuses a cursor that can not be served without a gap.
	ErrGone = errors.New("eventlog: the cursor is gone")
	// ErrInvalid refuses arguments that contradict the documentation.
	ErrInvalid = errors.New("eventlog: invalid argument")
	// ErrClosed says that the log is closed.
	ErrClosed = errors.New("eventlog: closed")
)
