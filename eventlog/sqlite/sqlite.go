package sqlite

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	driver "modernc.org/sqlite"

	"github.com/agentstream-go/agentstream/eventlog"
)

// Options are the parameters of a log. The zero value is a good one.
type Options struct {
	// Now is the clock that leases run by; time.Now if nil.
	Now func() time.Time
	// Exclusive says that nobody else has the file open, as the holder of a
	// lock on its folder knows. The log then never looks for what others
	// wrote while it waits. Wrongly said, readers hear of others' records only
	// when this log writes; everything else stays right.
	Exclusive bool
	// Patience is how long another process may keep the file locked before
	// what needs it fails. Zero is 15 s, for logs that share a file, and 3 s
	// for an exclusive one, where only a stranger can hold it.
	Patience time.Duration
}

// Log is an [eventlog.Log], and all that one can be besides, in one SQLite file. All methods may be called by any number of goroutines.
type Log struct {
	path string
	opts Options

	queue   queue
	writer  *writer
	hub     hub
	readers readers
	wal     checkpointer

	done       chan struct{} // closed when Close begins
	closing    sync.Once
	closeErr   error
	background sync.WaitGroup
}

var (
	_ eventlog.Log           = (*Log)(nil)
	_ eventlog.ThreadDeleter = (*Log)(nil)
	_ eventlog.LeaseTaker    = (*Log)(nil)
	_ eventlog.Compactor     = (*Log)(nil)
	_ eventlog.Sizer         = (*Log)(nil)
)

// Open opens the log in the file of that path, and makes the file, though not
// its folder, if there is none. Beside it there are PATH-wal and PATH-shm while
// it is open. Errors are of type *[Error].
func Open(path string, o Options) (*Log, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Patience <= 0 {
		o.Patience = time.Duration(busyTimeout) * time.Millisecond
		if o.Exclusive {
			o.Patience = min(o.Patience, 3*time.Second)
		}
	}
	l := &Log{path: path, opts: o, done: make(chan struct{})}
	// While another process makes the file, or is the last to close it, SQLite
	// refuses without waiting.
	for begin := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		err := failure(path, l.start())
		switch {
		case err == nil:
			return l, nil
		case !errors.Is(err, ErrLocked) || time.Since(begin) > o.Patience:
			return nil, err
		}
	}
}

func (l *Log) start() error {
	if err := touch(l.path); err != nil {
		return err
	}
	// The same durability in half the time where the system has it; an
	// error says that it has not.
	_, _ = driver.Fdatasync(true)

	c, err := open(l.path, l.opts.Patience, "journal_mode=WAL", "synchronous=FULL", "wal_autocheckpoint=0",
		"journal_size_limit=33554432", "cache_size=-16384", "temp_store=MEMORY")
	if err != nil {
		return err
	}
	if err := l.begin(c); err != nil {
		return errors.Join(err, c.close())
	}
	return nil
}

func (l *Log) begin(c *conn) error {
	mode, err := c.first("PRAGMA journal_mode")
	if err != nil {
		return err
	}
	if m := textOf(mode[0]); m != "wal" {
		return fmt.Errorf("journal mode is %q and can not be made wal", m)
	}
	if err := prepareSchema(l.path, c); err != nil {
		return err
	}
	version, err := c.number("PRAGMA data_version")
	if err != nil {
		return err
	}
	ck, err := open(l.path, l.opts.Patience, "synchronous=FULL", "wal_autocheckpoint=0")
	if err != nil {
		return err
	}
	l.queue.init()
	l.hub.init(l)
	l.readers.init(l.path, l.opts.Patience)
	l.wal.init(ck)
	l.writer = &writer{log: l, conn: c, version: version, threads: make(map[string]*thread)}
	l.background.Go(l.writer.loop)
	l.background.Go(func() { l.wal.loop(l.queue.checkpoint) })
	return nil
}

// Close ends readers, waits for what is being written and for views, and closes
// the file.
func (l *Log) Close() error {
	l.closing.Do(func() {
		close(l.done)
		l.hub.stop()
		l.queue.close()
		l.wal.stop()
		l.background.Wait()
		// The last connection to go makes a checkpoint and removes the
		// write-ahead log, which two that go at once would leave.
		l.closeErr = failure(l.path, errors.Join(l.wal.conn.close(), l.readers.close(), l.writer.conn.close()))
	})
	return l.closeErr
}

func (l *Log) closed() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// Append implements [eventlog.Log].
func (l *Log) Append(ctx context.Context, b eventlog.Batch) (eventlog.Cursor, error) {
	if err := validate(&b); err != nil {
		return eventlog.Cursor{}, err
	}
	var c eventlog.Cursor
	err := l.do(ctx, func(t *tx) (err error) {
		c, err = t.append(&b)
		return err
	})
	if err != nil {
		return eventlog.Cursor{}, err
	}
	return c, nil
}

// Lease implements [eventlog.Log].
func (l *Log) Lease(ctx context.Context, thread, owner string, ttl time.Duration) (uint64, error) {
	if thread == "" || owner == "" {
		return 0, fmt.Errorf("%w: a lease needs a thread and an owner", eventlog.ErrInvalid)
	}
	var epoch uint64
	err := l.do(ctx, func(t *tx) (err error) {
		epoch, err = t.lease(thread, owner, ttl)
		return err
	})
	if err != nil {
		return 0, err
	}
	return epoch, nil
}

// Takeover implements [eventlog.LeaseTaker].
func (l *Log) Takeover(ctx context.Context, owner string) error {
	return l.do(ctx, func(t *tx) error { return t.takeover(owner) })
}

// Trim implements [eventlog.Log].
func (l *Log) Trim(ctx context.Context, thread string, upTo eventlog.Cursor, replacement []eventlog.Event) error {
	if thread == "" || upTo.Seq == 0 {
		return fmt.Errorf("%w: nothing to trim", eventlog.ErrInvalid)
	}
	return l.do(ctx, func(t *tx) error { return t.trim(thread, upTo, replacement) })
}

// DeleteThread implements [eventlog.ThreadDeleter].
func (l *Log) DeleteThread(ctx context.Context, thread string, epoch uint64, b eventlog.Batch) error {
	if thread == "" || len(b.Events)+len(b.Put)+len(b.Delete) > 0 || b.Thread != "" || b.Epoch != 0 || b.Expect != nil {
		return fmt.Errorf("%w: only global keys can be changed with a deletion", eventlog.ErrInvalid)
	}
	if err := validate(&b); err != nil {
		return err
	}
	return l.do(ctx, func(t *tx) error { return t.deleteThread(thread, epoch, &b) })
}

// maxValue is the size of a value, in bytes, that SQLite is sure to take.
const maxValue = 512 << 20

func validate(b *eventlog.Batch) error {
	if b.Thread == "" && (len(b.Events)+len(b.Put)+len(b.Delete) > 0 || b.Epoch != 0 || b.Expect != nil) {
		return fmt.Errorf("%w: a batch without thread can hold global keys only", eventlog.ErrInvalid)
	}
	for i := range b.Events {
		if len(b.Events[i].Data)+len(b.Events[i].Run) > maxValue {
			return fmt.Errorf("%w: an event of %d bytes is too big", eventlog.ErrInvalid, len(b.Events[i].Data))
		}
	}
	for _, entries := range [][]eventlog.Entry{b.Put, b.PutGlobal} {
		for i := range entries {
			if entries[i].Key == "" {
				return fmt.Errorf("%w: a key is empty", eventlog.ErrInvalid)
			}
			if len(entries[i].Value)+len(entries[i].Key) > maxValue {
				return fmt.Errorf("%w: a value of %d bytes is too big", eventlog.ErrInvalid, len(entries[i].Value))
			}
		}
	}
	return nil
}
