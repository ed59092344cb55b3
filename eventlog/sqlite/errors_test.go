package sqlite

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	lib "modernc.org/sqlite/lib"
)

func TestKinds(t *testing.T) {
	for code, want := range map[int]error{
		lib.SQLITE_BUSY: ErrLocked, lib.SQLITE_BUSY_SNAPSHOT: ErrLocked, lib.SQLITE_LOCKED: ErrLocked, lib.SQLITE_PROTOCOL: ErrLocked,
		lib.SQLITE_READONLY: ErrReadOnly, lib.SQLITE_READONLY_DBMOVED: ErrReadOnly,
		lib.SQLITE_FULL: ErrFull, lib.SQLITE_NOTADB: ErrNotDatabase,
		lib.SQLITE_CORRUPT: ErrDamaged, lib.SQLITE_CORRUPT_INDEX: ErrDamaged,
		lib.SQLITE_CANTOPEN: ErrAccess, lib.SQLITE_CANTOPEN_ISDIR: ErrAccess, lib.SQLITE_PERM: ErrAccess, lib.SQLITE_AUTH: ErrAccess,
		lib.SQLITE_IOERR: ErrIO, lib.SQLITE_IOERR_FSYNC: ErrIO, lib.SQLITE_IOERR_SHMMAP: ErrIO,
		lib.SQLITE_ERROR: nil, lib.SQLITE_MISUSE: nil, lib.SQLITE_CONSTRAINT: nil,
	} {
		if got := kindOf(code); got != want {
			t.Errorf("code %d is %v, want %v", code, got, want)
		}
	}
}

func TestFailure(t *testing.T) {
	if failure("db", nil) != nil {
		t.Error("no error has become one")
	}
	cause := errors.New("cause")
	err := failure("db", cause)
	if !errors.Is(err, cause) || err.Error() != "database db: cause" {
		t.Errorf("got %v", err)
	}
	if again := failure("other", broken(err)); again != err {
		t.Errorf("an Error was wrapped again: %v", again)
	}
	if err := failure("db", &fs.PathError{Op: "open", Path: "db", Err: fs.ErrPermission}); !errors.Is(err, ErrAccess) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
	for _, kind := range []error{ErrLocked, ErrReadOnly, ErrFull, ErrNotDatabase, ErrDamaged, ErrNewer, ErrAccess, ErrIO} {
		text := (&Error{Path: "db", Kind: kind}).Error()
		if !strings.HasPrefix(text, "database db: "+kind.Error()+"; ") {
			t.Errorf("%v does not say what to do: %s", kind, text)
		}
	}
}
