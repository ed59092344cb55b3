package sqlite

import (
	"encoding/binary"
	"errors"
	"hash/crc32"

	"github.com/agentstream-go/agentstream/eventlog"
)

// segment is a run of consecutive records of one thread, as it is stored and as
// the ring keeps it. It never changes once it is written, so that records may
// point into it.
//
// Data is a version byte, a CRC-32C of the rest, and for each record
//
//	kind byte; uvarint 2*len(data) + 1 if the run is another than the record's
//	before or this is the first; in that case uvarint len(run), run; data
//
// Segments that follow on one another are joined by joining their records.
type segment struct {
	gen  uint32
	last uint64 // number of the last record
	n    uint64 // how many
	data []byte
	// sealed says that the checksum is right. One that readers have is: its
	// bytes are not written any more.
	sealed bool
}

const (
	segmentVersion = 1
	segmentHeader  = 1 + crc32.Size
	// segmentSize is the size above which a transaction begins another
	// segment for the same thread, in bytes. A reader that starts inside of a segment
	// has to walk through it.
	segmentSize = 64 << 10
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (s *segment) first() uint64 { return s.last - s.n + 1 }

// writer appends records to a segment that is not complete yet.
type segmentWriter struct {
	segment
	run string
}

func newSegment(gen uint32, head uint64) *segmentWriter {
	return &segmentWriter{segment: segment{gen: gen, last: head}}
}

func (w *segmentWriter) add(e *eventlog.Event) {
	if w.data == nil {
		w.data = make([]byte, segmentHeader, segmentHeader+len(e.Data)+len(e.Run)+12)
		w.data[0] = segmentVersion
	}
	size := uint64(len(e.Data)) << 1
	w.data = append(w.data, byte(e.Kind))
	if e.Run != w.run || w.n == 0 {
		w.run = e.Run
		w.data = binary.AppendUvarint(w.data, size|1)
		w.data = binary.AppendUvarint(w.data, uint64(len(e.Run)))
		w.data = append(w.data, e.Run...)
	} else {
		w.data = binary.AppendUvarint(w.data, size)
	}
	w.data = append(w.data, e.Data...)
	w.last++
	w.n++
}

// seal completes the segment; no record may be added after it.
func (s *segment) seal() {
	if s.sealed {
		return
	}
	s.sealed = true
	binary.LittleEndian.PutUint32(s.data[1:], crc32.Checksum(s.data[segmentHeader:], castagnoli))
}

// join returns a segment of the records of both, not sealed. The memory of the
// receiver is used again if it belongs to a join before.
func (s *segment) join(next *segment) segment {
	return segment{
		gen:  s.gen,
		last: next.last,
		n:    s.n + next.n,
		data: append(s.data, next.data[segmentHeader:]...),
	}
}

// check finds out whether stored bytes are still what was written.
func (s *segment) check() error {
	switch {
	case len(s.data) < segmentHeader || s.data[0] != segmentVersion:
		return errors.New("a segment's header is unknown")
	case binary.LittleEndian.Uint32(s.data[1:]) != crc32.Checksum(s.data[segmentHeader:], castagnoli):
		return errors.New("a segment's checksum is wrong")
	case s.n == 0 || s.n > s.last:
		return errors.New("a segment's numbers are wrong")
	}
	s.sealed = true
	return nil
}

// decoder walks through a segment. A run's name is made a string once, not for
// each record.
type decoder struct {
	run string
}

// each calls fn for every record with a number greater than after, until it
// returns false. It reports whether fn did not.
func (d *decoder) each(s *segment, after uint64, fn func(eventlog.Record) bool) (bool, error) {
	broken := errors.New("a segment is cut")
	rest, seq := s.data[segmentHeader:], s.first()
	run := []byte(nil)
	for ; seq <= s.last; seq++ {
		if len(rest) == 0 {
			return false, broken
		}
		kind := rest[0]
		size, w := binary.Uvarint(rest[1:])
		if w <= 0 {
			return false, broken
		}
		rest = rest[1+w:]
		if size&1 != 0 {
			length, w := binary.Uvarint(rest)
			if w <= 0 || length > uint64(len(rest)-w) {
				return false, broken
			}
			run, rest = rest[w:w+int(length)], rest[w+int(length):]
		}
		if size >>= 1; size > uint64(len(rest)) {
			return false, broken
		}
		if seq > after {
			if d.run != string(run) {
				d.run = string(run)
			}
			r := eventlog.Record{Cursor: eventlog.Cursor{Gen: s.gen, Seq: seq}, Kind: eventlog.Kind(kind), Run: d.run, Data: rest[:size:size]}
			if !fn(r) {
				return false, nil
			}
		}
		rest = rest[size:]
	}
	if len(rest) != 0 {
		return false, broken
	}
	return true, nil
}
