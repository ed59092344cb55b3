package sqlite

import "database/sql/driver"

// thread reads a thread, without its head.
func (c *conn) thread(name string) (*thread, error) {
	row, err := c.first(selectThread, name)
	if err != nil || row == nil {
		return nil, err
	}
	th := &thread{name: name}
	th.read(row)
	return th, nil
}

// stored reads the number of the last record that is not in the journal.
func (c *conn) stored(th *thread) (uint64, error) {
	head, err := c.number(selectHead, segmentID(th.num, 0), segmentID(th.num, maxSeq))
	if err == nil && head == 0 {
		head, err = c.number(selectPackedHead, segmentID(th.num, 0), segmentID(th.num, maxSeq))
	}
	return max(uint64(head)&maxSeq, th.floor), err
}

// head reads the number of the last record.
func (c *conn) head(path string, th *thread) (uint64, error) {
	head, err := c.stored(th)
	if err != nil {
		return 0, failure(path, err)
	}
	err = c.journaled(path, func(num int64, s segment) error {
		if num == th.num {
			head = s.last
		}
		return nil
	})
	return head, failure(path, err)
}

// segments reads those that hold records after seq, about chunkBytes of them. It
// does not stop within what replaces trimmed records: a position in there could
// not be gone on from.
func (c *conn) segments(path string, th *thread, seq uint64) (segs []segment, more bool, err error) {
	size, limit := 0, max(th.floor, 1)
	add := func(s segment) error {
		if n := len(segs); n > 0 && segs[n-1].last+1 != s.first() {
			return damaged(path, "thread %q: records %d to %d are missing", th.name, segs[n-1].last+1, s.first()-1)
		}
		segs = append(segs, s)
		size += len(s.data)
		return nil
	}
	for _, query := range []string{selectPacked, selectSegments} {
		if err != nil || more {
			break
		}
		err = c.each(func(row []driver.Value) (bool, error) {
			s, err := readSegment(path, th.gen, row)
			if err != nil {
				return false, err
			}
			more = size+len(s.data) >= chunkBytes && s.last >= limit
			return !more, add(s)
		}, query, segmentID(th.num, seq), segmentID(th.num, maxSeq))
	}
	if err == nil && !more {
		err = c.journaled(path, func(num int64, s segment) error {
			if num != th.num || s.last <= seq || more {
				return nil
			}
			s.gen = th.gen
			more = size+len(s.data) >= chunkBytes && s.last >= limit
			return add(s)
		})
	}
	return segs, more, failure(path, err)
}
