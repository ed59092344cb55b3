package eventlog

import (
	"context"
	"iter"
	"time"
)

// Kind tells records apart by whom they are for; a log does not look at it.
type Kind uint8

// The kinds of an engine's records. A log stores any other value as well.
const (
	// KindEvent is an event that every reader gets.
	KindEvent Kind = 1
	// KindNote is a remark that only readers of the raw log get.
	KindNote Kind = 2
)

// Event is what is appended.
type Event struct {
	Kind Kind
	Run  string // the run that the event belongs to; may be empty
	Data []byte // opaque; may be empty; the caller's again once Append has returned
}

// Record is an event that has its place in a thread.
type Record struct {
	Cursor Cursor // place of this record
	Kind   Kind
	Run    string
	Data   []byte // shared with other readers: not to be changed, may be kept
}

// Entry is a key with its value. Keys are any strings but the empty one, in
// order of their bytes.
type Entry struct {
	Key   string
	Value []byte
}

// Batch is what one Append writes, all or nothing. A batch without events
// changes keys only. Within a batch deletions come before puts.
type Batch struct {
	// Thread is the thread that Events, Put and Delete belong to. It comes
	// into being with its first batch. Empty: the batch holds global keys
	// only, and Epoch and Expect must be zero.
	Thread string
	// Epoch is what [Log.Lease] gave. A batch whose epoch is not the thread's
	// current one is refused with ErrFenced; that the lease's time has run
	// out does not matter as long as nobody else has taken it. Zero: without
	// lease, refused with ErrFenced while somebody holds one.
	Epoch uint64

	Events []Event
	Put    []Entry  // keys of the thread
	Delete []string // keys of the thread; those that do not exist are no error

	PutGlobal    []Entry  // keys outside of threads
	DeleteGlobal []string // keys outside of threads

	// Expect, unless nil, is the sequence number that the thread's last
	// record must have before this batch (0: none yet), else ErrConflict.
	Expect *uint64
}

// Log is a durable store of threads. All methods may be called by any number
// of goroutines at once. After Close they return an error that matches
// [ErrClosed].
type Log interface {
	// Append writes a batch and returns the cursor of the thread's last
	// record, or the zero cursor for a batch without thread. What it returns
	// without error is durable. An error that matches ctx's says that nothing
	// was written; once writing has begun ctx is not looked at any more.
	// Errors: ErrFenced, ErrConflict, ErrInvalid, ErrClosed, the store's own.
	Append(ctx context.Context, b Batch) (Cursor, error)

	// After yields the thread's records after the cursor and then, as they
	// are appended, all further ones until ctx ends; that end is no error. The
	// zero cursor stands for the oldest record there is, of any generation;
	// a thread that does not exist yet is waited for. An error is yielded
	// last, with a zero record: ErrGone for a cursor of another generation, in
	// the future or trimmed away, also when that befalls a reader on the way
	// because the thread is deleted or trimmed; ErrClosed; the store's own.
	After(ctx context.Context, thread string, after Cursor) iter.Seq2[Record, error]

	// View calls fn with a view of one moment: whatever is appended
	// meanwhile, fn does not see it. Thread may be one that does not exist; it
	// has then no keys and no records. With an empty thread only global keys
	// can be read. The view is not to be used after fn has returned, nor by
	// several goroutines at once. View returns fn's error as it is.
	View(ctx context.Context, thread string, fn func(View) error) error

	// Lease gives owner the right to write to the thread for ttl from now.
	// The lease of another owner that has not run out is ErrHeld. Renewal by
	// the owner keeps the epoch, even if the time had run out, unless somebody
	// else had the lease in between. A ttl ≤ 0 gives the lease back: its
	// epoch is fenced off from then on; it is no error if owner has none.
	// ErrInvalid: the thread or the owner is empty.
	Lease(ctx context.Context, thread, owner string, ttl time.Duration) (epoch uint64, err error)

	// Trim removes the thread's records up to and including upTo and puts
	// the replacement in their place. Its events get the last numbers up to
	// upTo.Seq, so there can not be more of them than that (ErrInvalid), and
	// numbering goes on unchanged. Afterwards the zero cursor yields the
	// replacement first; every other cursor before upTo is gone, those of the
	// replacement itself included. An upTo that the thread does not have is
	// ErrGone.
	Trim(ctx context.Context, thread string, upTo Cursor, replacement []Event) error

	// Close waits for what is being written and for views, ends all readers
	// with ErrClosed and frees what the log holds. A second call does nothing.
	Close() error
}

// View is a thread and the global keys at one moment.
type View interface {
	// Get returns the value of a key of the thread, nil if there is none.
	Get(key string) ([]byte, error)
	// GetGlobal returns the value of a global key, nil if there is none.
	GetGlobal(key string) ([]byte, error)
	// Keys yields the thread's entries whose keys begin with prefix and are
	// greater than after, by key, at most limit (≤ 0: all). It ends after an
	// error.
	Keys(prefix, after string, limit int) iter.Seq2[Entry, error]
	// GlobalKeys does the same with the global entries.
	GlobalKeys(prefix, after string, limit int) iter.Seq2[Entry, error]
	// Records yields the records with numbers greater than after, at most
	// limit (≤ 0: all). What was trimmed away is not there: the first record
	// may have a greater number than after+1. It ends after an error.
	Records(after uint64, limit int) iter.Seq2[Record, error]
	// Head returns the cursor of the last record; its Seq is 0 if the thread
	// has none yet, and it is the zero cursor if there is no such thread.
	Head() (Cursor, error)
}

// ThreadDeleter is a Log that can delete threads.
type ThreadDeleter interface {
	// DeleteThread removes the thread with its records, keys and lease. Epoch
	// is checked as Append does. Global keys that speak of the thread are put
	// and deleted in the same transaction: of the batch only PutGlobal and
	// DeleteGlobal may be set. Readers of the thread end with ErrGone; a
	// thread of the same name that is made later has another generation. A
	// thread that does not exist is no error.
	DeleteThread(ctx context.Context, thread string, epoch uint64, b Batch) error
}

// LeaseTaker is a Log whose leases can be taken away from whoever holds them.
type LeaseTaker interface {
	// Takeover drops the leases of all owners but the given one, whatever
	// their time. Their epochs are fenced off. It is for whoever knows that
	// the others are dead, such as the holder of a lock on the store's folder.
	Takeover(ctx context.Context, owner string) error
}

// Compactor is a Log that can keep old records smaller.
type Compactor interface {
	// Compact stores the thread's records up to and including upTo so that
	// they take less space. Readers see no difference: every record, cursor
	// and boundary stays, and readers on the way go on. It is for records that
	// are seldom read, as reading them may cost more afterwards. A second call
	// does nothing and is cheap, as is one when there is little to gain.
	// Appends and readers go on meanwhile; when ctx ends or the process dies
	// what has been done stays done, and another call does the rest. Errors:
	// ErrGone for an upTo that the thread does not have, as with Trim;
	// ErrInvalid, ErrClosed, ctx's, the store's own.
	Compact(ctx context.Context, thread string, upTo Cursor) error
}

// Sizer is a Log that knows how much space it takes.
type Sizer interface {
	// Size returns how many bytes on disk hold what the store keeps now. Space
	// that was freed and is used again for what comes is not counted, nor are
	// the traces of what is being written, so that it falls when records are
	// compacted, trimmed or deleted. It is cheap enough for a call a second.
	Size(ctx context.Context) (bytes int64, err error)
}
