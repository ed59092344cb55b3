package sqlite

import (
	"database/sql/driver"

	"github.com/agentstream-go/agentstream/eventlog"
)

const (
	selectThread = "SELECT num, gen, floor, epoch, owner, expires FROM threads WHERE name = ?"
	// The next two take an id that is exclusive and one that is inclusive.
	selectHead     = "SELECT id FROM segments WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1"
	selectSegments = "SELECT id, n, data FROM segments WHERE id > ? AND id <= ? ORDER BY id"

	insertSegment = "INSERT INTO segments (id, n, data) VALUES (?, ?, ?)"
	putEntry      = "INSERT INTO entries (thread, key, value) VALUES (?, ?, ?) " +
		"ON CONFLICT (thread, key) DO UPDATE SET value = excluded.value"
	deleteEntry = "DELETE FROM entries WHERE thread = ? AND key = ?"
	selectEntry = "SELECT value FROM entries WHERE thread = ? AND key = ?"
	// The fourth argument is greater than all keys with the prefix, the third.
	selectEntries = "SELECT key, value FROM entries WHERE thread = ? AND key > ? AND key >= ? AND key < ? ORDER BY key LIMIT ?"
	// For prefixes that nothing comes after.
	selectLastEntries = "SELECT key, value FROM entries WHERE thread = ? AND key > ? AND key >= ? ORDER BY key LIMIT ?"
)

// globalThread is the number under which global entries are kept.
const globalThread = 0

func (th *thread) read(row []driver.Value) {
	th.num = intOf(row[0])
	th.gen = uint32(intOf(row[1]))
	th.floor = uint64(intOf(row[2]))
	th.epoch = uint64(intOf(row[3]))
	th.owner = textOf(row[4])
	th.expires = intOf(row[5])
}

func rawSegment(gen uint32, row []driver.Value) segment {
	return segment{gen: gen, last: uint64(intOf(row[0])) & maxSeq, n: uint64(intOf(row[1])), data: bytesOf(row[2])}
}

// readSegment makes a segment of a row of selectSegments or selectPacked.
func readSegment(path string, gen uint32, row []driver.Value) (segment, error) {
	s := rawSegment(gen, row)
	if err := s.unpack(); err != nil {
		return segment{}, damaged(path, "record %d: %w", s.last, err)
	}
	return s, nil
}

// flush stores whatever was appended so far; with move also all that is in the
// journal goes where it stays.
func (t *tx) flush(move bool) error {
	for _, th := range t.open {
		t.seal(th)
	}
	t.open = t.open[:0]
	list := t.sealed[t.written:]
	t.written = len(t.sealed)
	return t.store(list, move)
}

// insert stores a segment by a statement that puts it into one of the two tables.
func (t *tx) insert(into string, num int64, s segment) error {
	t.bytes += len(s.data)
	return t.exec(into, segmentID(num, s.last), int64(s.n), s.data)
}

// keys deletes and puts entries of a thread.
func (t *tx) keys(num int64, del []string, put []eventlog.Entry) error {
	for _, key := range del {
		if err := t.exec(deleteEntry, num, key); err != nil {
			return err
		}
	}
	for i := range put {
		value := put[i].Value
		if value == nil {
			value = []byte{}
		}
		t.bytes += len(value)
		if err := t.exec(putEntry, num, put[i].Key, value); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) global(b *eventlog.Batch) error {
	return t.keys(globalThread, b.DeleteGlobal, b.PutGlobal)
}

// entry reads one entry.
func (c *conn) entry(num int64, key string) ([]byte, error) {
	row, err := c.first(selectEntry, num, key)
	if err != nil || row == nil {
		return nil, err
	}
	if value := bytesOf(row[0]); value != nil {
		return value, nil
	}
	return []byte{}, nil // the driver gives nil for it
}

// entries reads at most limit entries.
func (c *conn) entries(num int64, prefix, after string, limit int) (list []eventlog.Entry, err error) {
	add := func(row []driver.Value) (bool, error) {
		e := eventlog.Entry{Key: textOf(row[0]), Value: bytesOf(row[1])}
		if e.Value == nil {
			e.Value = []byte{}
		}
		list = append(list, e)
		return true, nil
	}
	if end, ok := prefixEnd(prefix); ok {
		err = c.each(add, selectEntries, num, after, prefix, end, int64(limit))
	} else {
		err = c.each(add, selectLastEntries, num, after, prefix, int64(limit))
	}
	return list, err
}

// prefixEnd returns the smallest string that is greater than all with the
// prefix; there is none if the prefix is empty or all 0xff.
func prefixEnd(prefix string) (string, bool) {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			return prefix[:i] + string([]byte{prefix[i] + 1}), true
		}
	}
	return "", false
}
