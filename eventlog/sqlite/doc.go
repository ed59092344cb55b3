// Package sqlite is the default store of an engine: an [eventlog.Log] in one
// SQLite file, without cgo.
//
// # How it works
//
// One goroutine writes. Whoever calls Append while a transaction is being made
// durable waits, and all who wait share the next one: the more producers there
// are, the fewer syncs an event costs. A batch that is refused does not touch
// the others of its transaction.
//
// Records are stored in segments, one row for what one transaction added to
// a thread, under a key that is made of the thread's number and the segment's
// last sequence number. Reading on from a cursor is therefore a walk along one
// B-tree, without an index.
//
// Old segments can be packed ([Log.Compact]): joined up to 256 KiB and
// compressed, in a table of their own. Every cursor is served as before. Pages
// that this frees, or a trim or a deletion, are used for what comes next; the
// file itself does not shrink (VACUUM does that, while nobody has it open).
// [Log.Size] counts what is in use.
//
// Readers that are up to date are woken by the writer and served from a ring of
// the thread's latest segments in memory; a reader that lags behind the ring
// reads from the file until it has caught up. No reader has a queue, so none can
// overflow.
//
// Checkpoints run on a connection of their own, so that the writer's latency
// has no tail.
//
// # Several logs on one file
//
// Several processes may open one file, and several logs in one process. Batches,
// leases and epochs hold across all of them. To see what others appended a
// log looks four times a second at SQLite's data version, and only while
// somebody waits for new records; whoever knows to be alone sets
// [Options.Exclusive] and then nothing at all runs while nothing happens. The
// file must be on a local disk: SQLite's WAL mode needs shared memory.
package sqlite
