package sqlite

import (
	"database/sql/driver"
	"encoding/binary"
	"errors"
)

// The journal is where a transaction puts what it adds to any number of
// threads, as one row: few pages to write, however many threads there are.
// Before it has become too long, everything in it is moved to the table of
// segments, where each thread's records lie together in few big rows. A thread's
// records are those of its packed segments, then those of its other ones, then those
// of the journal.
//
// A row is a sequence of: uvarint thread number, uvarint last, uvarint n,
// uvarint len(data), data.

const (
	// journalBytes and journalRows are the length at which the journal is moved.
	// All of it is read by whoever catches up with a thread or asks for its end,
	// and small rows take their time.
	journalBytes = 1 << 20
	journalRows  = 1024

	insertJournal   = "INSERT INTO journal (data) VALUES (?)"
	selectJournal   = "SELECT data FROM journal ORDER BY id"
	truncateJournal = "DELETE FROM journal"
)

func appendJournal(dst []byte, num int64, s *segment) []byte {
	dst = binary.AppendUvarint(dst, uint64(num))
	dst = binary.AppendUvarint(dst, s.last)
	dst = binary.AppendUvarint(dst, s.n)
	dst = binary.AppendUvarint(dst, uint64(len(s.data)))
	return append(dst, s.data...)
}

// eachJournaled calls fn for every segment in a row; it has no generation. The
// data points into the row.
func eachJournaled(row []byte, fn func(num int64, s segment) error) error {
	for len(row) > 0 {
		var head [4]uint64
		for i := range head {
			v, w := binary.Uvarint(row)
			if w <= 0 {
				return errors.New("a journal row is cut")
			}
			head[i], row = v, row[w:]
		}
		length := head[3]
		if length > uint64(len(row)) || head[0] > maxThread || head[1] > maxSeq {
			return errors.New("a journal row is cut")
		}
		s := segment{last: head[1], n: head[2], data: row[:length:length]}
		if err := s.check(); err != nil {
			return err
		}
		if err := fn(int64(head[0]), s); err != nil {
			return err
		}
		row = row[length:]
	}
	return nil
}

// journaled calls fn for every segment in the journal.
func (c *conn) journaled(path string, fn func(num int64, s segment) error) error {
	return c.each(func(row []driver.Value) (bool, error) {
		if err := eachJournaled(bytesOf(row[0]), fn); err != nil {
			return false, damaged(path, "%w", err)
		}
		return true, nil
	}, selectJournal)
}

// journal is what the writer knows of the journal: all of it.
type journal struct {
	loaded  bool // false: what is in the file must be read first
	bytes   int
	rows    int
	threads map[int64][]segment // joined
}

func (j *journal) forget() { *j = journal{} }

func (j *journal) load(path string, c *conn) error {
	if j.loaded {
		return nil
	}
	*j = journal{threads: make(map[int64][]segment)}
	if err := c.journaled(path, func(num int64, s segment) error {
		j.add(num, s)
		return nil
	}); err != nil {
		return err
	}
	rows, err := c.number("SELECT count(*) FROM journal")
	if err != nil {
		return failure(path, err)
	}
	j.rows, j.loaded = int(rows), true
	return nil
}

// add joins a segment to those of its thread.
func (j *journal) add(num int64, s segment) {
	j.bytes += len(s.data)
	list := j.threads[num]
	if n := len(list); n > 0 && len(list[n-1].data)+len(s.data) <= segmentSize {
		list[n-1] = list[n-1].join(&s)
		return
	}
	// The bytes belong to readers as well: what is joined to them later
	// must not land behind them.
	s.data = s.data[:len(s.data):len(s.data)]
	j.threads[num] = append(list, s)
}

// head returns the number of the thread's last record in the journal.
func (j *journal) head(num int64) uint64 {
	if list := j.threads[num]; len(list) > 0 {
		return list[len(list)-1].last
	}
	return 0
}

// store writes segments, with names, to the journal, or moves the journal
// with them to the table of segments if it would become too long or all of it
// must be there.
func (t *tx) store(list []published, move bool) error {
	j := &t.writer.journal
	size := 0
	for i := range list {
		size += len(list[i].data)
	}
	move = move || j.bytes+size > journalBytes || j.rows >= journalRows
	if !move && len(list) > 0 {
		row := make([]byte, 0, size+16*len(list))
		for i := range list {
			row = appendJournal(row, list[i].num, &list[i].segment)
		}
		t.bytes += len(row)
		j.rows++
		if err := t.exec(insertJournal, row); err != nil {
			return err
		}
	}
	for i := range list {
		j.add(list[i].num, list[i].segment)
	}
	if !move || j.bytes == 0 {
		return nil
	}
	for num, segs := range j.threads {
		for i := range segs {
			segs[i].seal()
			if err := t.insert(insertSegment, num, segs[i]); err != nil {
				return err
			}
		}
	}
	*j = journal{loaded: true, threads: make(map[int64][]segment)}
	return t.exec(truncateJournal)
}
