package sqlite

import (
	"errors"
	"fmt"
	"io/fs"

	driver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Kinds of failure, found with errors.Is on what this package returns.
var (
	// ErrLocked: another process keeps the database locked.
	ErrLocked = errors.New("the database is locked")
	// ErrReadOnly: the file or its folder can not be written.
	ErrReadOnly = errors.New("the database can not be written")
	// ErrFull: there is no space left, or a quota is used up.
	ErrFull = errors.New("the disk is full")
	// ErrNotDatabase: the file is something else.
	ErrNotDatabase = errors.New("not an agentstream database")
	// ErrDamaged: the file's content contradicts itself.
	ErrDamaged = errors.New("the database is damaged")
	// ErrNewer: a newer version of the program has written the file.
	ErrNewer = errors.New("the database was written by a newer version")
	// ErrAccess: the file or its folder is missing or not permitted.
	ErrAccess = errors.New("the database can not be opened")
	// ErrIO: the disk failed.
	ErrIO = errors.New("the disk failed")
)

// Error is a failure of the database: what, why and what to do about it.
type Error struct {
	Path string // the database file
	Kind error  // one of the kinds above, nil if it is none of them
	Err  error  // the cause, may be nil
}

// Error returns one line.
func (e *Error) Error() string {
	s := "database " + e.Path
	if e.Kind != nil {
		s += ": " + e.Kind.Error()
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	if fix := e.fix(); fix != "" {
		s += "; " + fix
	}
	return s
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	var errs []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func (e *Error) fix() string {
	switch e.Kind {
	case ErrLocked:
		return "stop the other program that uses it, or wait until it is done"
	case ErrReadOnly, ErrAccess:
		return "check that the folder exists and that it and the files in it may be written"
	case ErrFull:
		return "free some space; what was acknowledged is safe"
	case ErrNotDatabase:
		return "choose another data folder, or move the file away"
	case ErrDamaged:
		return "restore a backup, or save what is left with: sqlite3 FILE .recover"
	case ErrNewer:
		return "use the newer version, or choose another data folder"
	case ErrIO:
		return "check the disk and the system's log"
	}
	return ""
}

// failure makes an Error of whatever the driver returned.
func failure(path string, err error) error {
	if err == nil {
		return nil
	}
	if known, ok := errors.AsType[*Error](err); ok {
		return known
	}
	e := &Error{Path: path, Err: err}
	if de, ok := errors.AsType[*driver.Error](err); ok {
		e.Kind = kindOf(de.Code())
	} else if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		e.Kind = ErrAccess
	}
	return e
}

// kindOf looks at the low byte of a result code; the rest only refines it.
func kindOf(code int) error {
	switch code & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED, lib.SQLITE_PROTOCOL:
		return ErrLocked
	case lib.SQLITE_READONLY:
		return ErrReadOnly
	case lib.SQLITE_FULL:
		return ErrFull
	case lib.SQLITE_NOTADB:
		return ErrNotDatabase
	case lib.SQLITE_CORRUPT:
		return ErrDamaged
	case lib.SQLITE_CANTOPEN, lib.SQLITE_PERM, lib.SQLITE_AUTH:
		return ErrAccess
	case lib.SQLITE_IOERR:
		return ErrIO
	}
	return nil
}

func damaged(path, format string, args ...any) error {
	return &Error{Path: path, Kind: ErrDamaged, Err: fmt.Errorf(format, args...)}
}
