package sqlite

import (
	"errors"
	"sync/atomic"
)

const (
	// checkpointBytes is how much is written between checkpoints, roughly.
	checkpointBytes = 4 << 20
	// finishFrames is the length of the write-ahead log, in pages, above
	// which the writer waits for a checkpoint: only when everything is in the
	// database file does the next transaction begin at its start again.
	finishFrames = 8192
	// stallBytes is how much is written before the writer makes a checkpoint
	// itself, because none was made beside it.
	stallBytes = 64 << 20
)

// checkpointer moves what is in the write-ahead log to the database file, on a
// connection of its own, while the writer goes on.
type checkpointer struct {
	conn    *conn
	pending atomic.Int64 // bytes since the last one
	signal  chan struct{}
	quit    chan struct{}
}

func (k *checkpointer) init(c *conn) {
	k.conn = c
	k.signal = make(chan struct{}, 1)
	k.quit = make(chan struct{})
}

// wrote is told by the writer how much it has written with its connection.
func (k *checkpointer) wrote(c *conn, n int) {
	switch pending := k.pending.Add(int64(n)); {
	case pending < checkpointBytes:
	case pending < stallBytes:
		select {
		case k.signal <- struct{}{}:
		default:
		}
	default:
		k.pending.Store(0)
		k.finish(c)
	}
}

// loop makes checkpoints. If the write-ahead log has grown nevertheless, because
// the writer never paused, it asks for the rest to be done between two
// transactions.
func (k *checkpointer) loop(finish func()) {
	for {
		select {
		case <-k.signal:
		case <-k.quit:
			return
		}
		k.pending.Store(0)
		// A checkpoint that fails costs space, not data; the next one may
		// succeed, and a disk that fails shows in the writer as well.
		if frames, err := k.passive(k.conn); err == nil && frames > finishFrames {
			finish()
		}
	}
}

// finish is called by the writer, outside of a transaction. Little is left
// to do after the checkpoint before.
func (k *checkpointer) finish(c *conn) { _, _ = k.passive(c) }

func (k *checkpointer) passive(c *conn) (frames int64, err error) {
	row, err := c.first("PRAGMA wal_checkpoint(PASSIVE)")
	if err != nil {
		return 0, err
	}
	if len(row) != 3 {
		return 0, errors.New("a checkpoint returned no row")
	}
	return intOf(row[1]), nil
}

func (k *checkpointer) stop() { close(k.quit) }
