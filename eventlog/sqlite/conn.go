package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	sqlite "modernc.org/sqlite"
)

// conn is one connection with its prepared statements, used by one goroutine
// at a time. It stands on the driver itself: database/sql would take locks and
// start a goroutine for each call with a context.
type conn struct {
	raw   driver.Conn
	stmts map[string]*stmt
}

type stmt struct {
	exec  driver.StmtExecContext
	query driver.StmtQueryContext
	raw   driver.Stmt
	args  []driver.NamedValue // reused from call to call
}

// busyTimeout is how long another process may hold the write lock unless the
// options say otherwise, in ms; tests are less patient.
var busyTimeout = 15_000

// open opens one connection. Statements run before a pragma of the list fail
// with the pragma's error.
func open(path string, patience time.Duration, pragmas ...string) (*conn, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs // a drive letter
	}
	q := url.Values{"_busy_timeout": {fmt.Sprint(patience.Milliseconds())}, "_dqs": {"0"}, "_error_rc": {"1"}}
	u := url.URL{Scheme: "file", Path: abs, RawQuery: q.Encode()}
	raw, err := new(sqlite.Driver).Open(u.String())
	if err != nil {
		return nil, err
	}
	c := &conn{raw: raw, stmts: make(map[string]*stmt)}
	for _, p := range pragmas {
		if err := c.run("PRAGMA " + p); err != nil {
			return nil, errors.Join(err, c.close())
		}
	}
	return c, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.raw.Close())
	}
	clear(c.stmts)
	return errors.Join(append(errs, c.raw.Close())...)
}

func (c *conn) prepare(query string, args []any) (*stmt, error) {
	s := c.stmts[query]
	if s == nil {
		raw, err := c.raw.Prepare(query)
		if err != nil {
			return nil, err
		}
		s = &stmt{raw: raw, exec: raw.(driver.StmtExecContext), query: raw.(driver.StmtQueryContext)}
		s.args = make([]driver.NamedValue, len(args))
		for i := range s.args {
			s.args[i].Ordinal = i + 1
		}
		c.stmts[query] = s
	}
	for i, a := range args {
		s.args[i].Value = a
	}
	return s, nil
}

// run executes a statement, prepared once. Args are int64, string or []byte.
func (c *conn) run(query string, args ...any) error {
	s, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	_, err = s.exec.ExecContext(context.Background(), s.args)
	return err
}

// script executes several statements, unprepared and without arguments.
func (c *conn) script(text string) error {
	_, err := c.raw.(driver.ExecerContext).ExecContext(context.Background(), text, nil)
	return err
}

// each calls fn for every row until it returns false. The row is fn's only
// until it returns, the byte slices in it are fn's for ever.
func (c *conn) each(fn func(row []driver.Value) (bool, error), query string, args ...any) (err error) {
	s, err := c.prepare(query, args)
	if err != nil {
		return err
	}
	rows, err := s.query.QueryContext(context.Background(), s.args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
		if more, err := fn(row); err != nil || !more {
			return err
		}
	}
}

// first returns the first row, nil if there is none.
func (c *conn) first(query string, args ...any) (row []driver.Value, err error) {
	err = c.each(func(r []driver.Value) (bool, error) {
		row = r
		return false, nil
	}, query, args...)
	return row, err
}

// number returns the first column of the first row, which must be an integer.
func (c *conn) number(query string, args ...any) (int64, error) {
	row, err := c.first(query, args...)
	if err != nil {
		return 0, err
	}
	if len(row) == 0 {
		return 0, nil
	}
	return intOf(row[0]), nil
}

// The values of a column of another type than the schema's are taken as zero;
// the checks of what they mean find out.
func intOf(v driver.Value) int64 {
	n, _ := v.(int64)
	return n
}

func bytesOf(v driver.Value) []byte {
	b, _ := v.([]byte)
	return b
}

func textOf(v driver.Value) string {
	s, _ := v.(string)
	return s
}
