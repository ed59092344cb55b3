package sqlite

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"sync"
)

// Old segments are packed: joined to bigger ones, compressed, and kept in a
// table of their own. All of a thread's packed segments come before those that
// are not.
//
// The data of one is as a segment's, with another version byte, and behind the
// checksum, which covers what is stored: uvarint length of the records, the
// records as a DEFLATE stream. What would not become smaller is kept as it is.

const (
	packedVersion = 2
	// packedSize is how many bytes of records go into one packed segment, if no
	// record alone has more. A reader that starts inside of it inflates all
	// of it.
	packedSize = 256 << 10
	// maxInflated is the greatest length of records, in bytes, that are
	// compressed, and that stored bytes are believed to have.
	maxInflated = 64 << 20
	// maxRatio is more than DEFLATE can reach.
	maxRatio = 1100

	// These take an id that is exclusive and one that is inclusive.
	selectPacked     = "SELECT id, n, data FROM packed WHERE id > ? AND id <= ? ORDER BY id"
	selectLastPacked = "SELECT id, n, data FROM packed WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1"
	selectPackedHead = "SELECT id FROM packed WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1"

	insertPacked = "INSERT INTO packed (id, n, data) VALUES (?, ?, ?)"
)

// deflater compresses segments, one after the other.
type deflater struct {
	buf bytes.Buffer
	w   *flate.Writer
}

// deflate returns the segment as it is to be stored, sealed. Its data is good
// until the next call.
func (d *deflater) deflate(s segment) (segment, error) {
	s.seal()
	records := s.data[segmentHeader:]
	if len(records) > maxInflated {
		return s, nil
	}
	var head [segmentHeader + binary.MaxVarintLen64]byte
	head[0] = packedVersion
	d.buf.Reset()
	d.buf.Write(binary.AppendUvarint(head[:segmentHeader], uint64(len(records))))
	if d.w == nil {
		d.w, _ = flate.NewWriter(&d.buf, flate.DefaultCompression) // the level is a good one
	} else {
		d.w.Reset(&d.buf)
	}
	if _, err := d.w.Write(records); err != nil {
		return s, err
	}
	if err := d.w.Close(); err != nil {
		return s, err
	}
	if data := d.buf.Bytes(); len(data) < len(s.data) {
		s.data = data
		binary.LittleEndian.PutUint32(data[1:], crc32.Checksum(data[segmentHeader:], castagnoli))
	}
	return s, nil
}

// inflated returns how many bytes of records the data holds. It has not been
// checked.
func (s *segment) inflated() (length int, stream []byte, err error) {
	if len(s.data) < segmentHeader || s.data[0] != packedVersion {
		return max(len(s.data)-segmentHeader, 0), nil, nil
	}
	body := s.data[segmentHeader:]
	n, w := binary.Uvarint(body)
	if w <= 0 || n > maxInflated || n > maxRatio*uint64(len(body)) {
		return 0, nil, errors.New("a packed segment's length is wrong")
	}
	return int(n), body[w:], nil
}

// inflaters holds readers of DEFLATE streams, which are big.
var inflaters = sync.Pool{New: func() any { return flate.NewReader(nil) }}

// unpack finds out whether stored bytes are still what was written, and
// inflates them if they are packed. The data is its own then.
func (s *segment) unpack() error {
	length, stream, err := s.inflated()
	if stream == nil && err == nil {
		return s.check()
	}
	if binary.LittleEndian.Uint32(s.data[1:]) != crc32.Checksum(s.data[segmentHeader:], castagnoli) {
		return errors.New("a packed segment's checksum is wrong")
	}
	if err != nil {
		return err
	}
	if s.n == 0 || s.n > s.last {
		return errors.New("a packed segment's numbers are wrong")
	}
	r := inflaters.Get().(io.Reader)
	defer inflaters.Put(r)
	if err := r.(flate.Resetter).Reset(bytes.NewReader(stream), nil); err != nil {
		return err
	}
	data := make([]byte, segmentHeader+length)
	data[0] = segmentVersion
	if _, err := io.ReadFull(r, data[segmentHeader:]); err != nil {
		return errors.New("a packed segment is cut")
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		return errors.New("a packed segment is longer than it says")
	}
	s.data, s.sealed = data, false
	return nil
}
