package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

const (
	// schemaVersion is kept in user_version. A file with a greater one is
	// refused, one with a smaller one is brought up to date.
	schemaVersion = 2
	// applicationID marks the file as ours ("agst").
	applicationID = 0x61677374
)

// A segment's id is the thread's number and the last sequence number in it.
// Entries of thread 0 are the global ones.
const schema = `
CREATE TABLE threads (
	num     INTEGER PRIMARY KEY,
	name    TEXT    NOT NULL UNIQUE,
	gen     INTEGER NOT NULL,
	floor   INTEGER NOT NULL DEFAULT 0,
	epoch   INTEGER NOT NULL DEFAULT 0,
	owner   TEXT    NOT NULL DEFAULT '',
	expires INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE segments (
	id   INTEGER PRIMARY KEY,
	n    INTEGER NOT NULL,
	data BLOB    NOT NULL
) STRICT;
CREATE TABLE packed (
	id   INTEGER PRIMARY KEY,
	n    INTEGER NOT NULL,
	data BLOB    NOT NULL
) STRICT;
CREATE TABLE journal (
	id   INTEGER PRIMARY KEY,
	data BLOB    NOT NULL
) STRICT;
CREATE TABLE entries (
	thread INTEGER NOT NULL,
	key    TEXT    NOT NULL,
	value  BLOB    NOT NULL,
	PRIMARY KEY (thread, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE counters (
	name  TEXT    PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters VALUES ('epoch', 0), ('thread', 0);
`

// migrations lead from each version to the next; the first is the one from 1.
var migrations = []string{
	"CREATE TABLE packed (id INTEGER PRIMARY KEY, n INTEGER NOT NULL, data BLOB NOT NULL) STRICT;",
}

// touch makes the file, readable by its owner only, if there is none. SQLite
// gives the files beside it the same rights. A file that is there is not
// opened: closing it would drop the locks that this process has on it.
func touch(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// prepareSchema checks whose file it is and which version, and makes the tables
// of a new one. Several processes may do so at the same time.
func prepareSchema(path string, c *conn) error {
	if err := c.run("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if err := migrate(path, c); err != nil {
		return errors.Join(err, c.run("ROLLBACK"))
	}
	return c.run("COMMIT")
}

func migrate(path string, c *conn) error {
	id, err := c.number("PRAGMA application_id")
	if err != nil {
		return err
	}
	version, err := c.number("PRAGMA user_version")
	if err != nil {
		return err
	}
	tables, err := c.number("SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return err
	}
	switch {
	case id == applicationID && version == schemaVersion:
		return nil
	case id == applicationID && 0 < version && version < schemaVersion:
		return c.script(fmt.Sprintf("%s PRAGMA user_version = %d;", strings.Join(migrations[version-1:], "\n"), schemaVersion))
	case id == applicationID && version > schemaVersion:
		return &Error{Path: path, Kind: ErrNewer,
			Err: fmt.Errorf("schema %d, known is %d", version, schemaVersion)}
	case id != 0 || version != 0 || tables != 0:
		return &Error{Path: path, Kind: ErrNotDatabase,
			Err: fmt.Errorf("application id %#x, version %d, %d tables and indexes", id, version, tables)}
	}
	return c.script(fmt.Sprintf("%s PRAGMA application_id = %d; PRAGMA user_version = %d;",
		schema, applicationID, schemaVersion))
}
