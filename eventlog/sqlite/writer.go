package sqlite

import (
	"errors"
	"runtime"

	"github.com/agentstream-go/agentstream/eventlog"
)

// writer owns the only connection that changes the file.
type writer struct {
	log     *Log
	conn    *conn
	version int64              // data version: another one says that somebody else wrote
	threads map[string]*thread // what is known of threads; dropped when somebody else wrote
	journal journal            // likewise
}

const (
	// maxThreads bounds the cache of threads.
	maxThreads = 4096
	// maxGroup bounds the requests of a transaction, so that its first
	// caller does not wait for too many others.
	maxGroup = 1024
)

func (w *writer) loop() {
	var spare []*request
	for {
		group, checkpoint := w.log.queue.take(spare)
		if checkpoint {
			w.log.wal.finish(w.conn)
		}
		if len(group) == 0 && !checkpoint {
			return
		}
		live := group[:0]
		for _, r := range group {
			if r.state.CompareAndSwap(requestWaiting, requestTaken) {
				live = append(live, r)
			}
		}
		for part := live; len(part) > 0; {
			n := min(len(part), maxGroup)
			w.commit(part[:n])
			part = part[n:]
		}
		clear(group)
		spare = group
		// Those who were just woken may have more to say: one transaction
		// for all of them instead of one for the first and one for the rest.
		runtime.Gosched()
	}
}

// commit makes a group durable. If the database fails, each request is tried
// alone: one that is too big for the disk must not take others with it.
func (w *writer) commit(group []*request) {
	err := w.conn.run("BEGIN IMMEDIATE")
	if err != nil {
		err = failure(w.log.path, err)
	} else if err = w.transact(group); err != nil && len(group) > 1 {
		for i := range group {
			w.commit(group[i : i+1])
		}
		return
	}
	for _, r := range group {
		if err != nil {
			r.err = err
		}
		close(r.done)
	}
}

// transact applies the requests in the transaction that has begun and ends it.
// An error is one of the database, after which nothing of the group is
// written.
func (w *writer) transact(group []*request) error {
	t := &tx{writer: w, conn: w.conn, now: w.log.opts.Now()}
	if err := w.apply(t, group); err != nil {
		// What the failed transaction did to the cache is unknown. The
		// rollback's own error is that there is nothing to roll back any more.
		w.forget()
		_ = w.conn.run("ROLLBACK")
		return failure(w.log.path, err)
	}
	w.log.hub.publish(t.sealed, t.unsettled)
	w.log.wal.wrote(w.conn, t.bytes)
	if len(w.threads) > maxThreads {
		clear(w.threads)
	}
	return nil
}

func (w *writer) apply(t *tx, group []*request) error {
	if err := w.look(); err != nil {
		return err
	}
	for _, r := range group {
		r.err = r.apply(t)
		if _, broken := errors.AsType[*databaseError](r.err); broken {
			return r.err
		}
	}
	if err := t.flush(false); err != nil {
		return err
	}
	if !t.changed {
		return w.conn.run("ROLLBACK")
	}
	return w.conn.run("COMMIT")
}

// look finds out whether another connection has changed the file since the
// last look. Only within a transaction is the answer good for more than a
// moment.
func (w *writer) look() error {
	version, err := w.conn.number("PRAGMA data_version")
	if err != nil {
		return err
	}
	if version != w.version {
		w.version = version
		w.forget()
		w.log.hub.unsettle()
	}
	return w.journal.load(w.log.path, w.conn)
}

// forget drops what is known of the file's content.
func (w *writer) forget() {
	clear(w.threads)
	w.journal.forget()
}

// databaseError marks an error of the database among a request's errors.
type databaseError struct{ err error }

func (e *databaseError) Error() string { return e.err.Error() }
func (e *databaseError) Unwrap() error { return e.err }

// broken wraps an error of the database.
func broken(err error) error {
	if err == nil {
		return nil
	}
	return &databaseError{err}
}

// thread is what the writer knows of a thread.
type thread struct {
	name    string
	num     int64
	gen     uint32
	floor   uint64 // numbers up to this one were trimmed
	head    uint64 // number of the last record
	epoch   uint64 // of the lease, 0: none
	owner   string
	expires int64 // Unix milliseconds
	open    *segmentWriter
}

func (t *thread) cursor() eventlog.Cursor { return eventlog.Cursor{Gen: t.gen, Seq: t.head} }
