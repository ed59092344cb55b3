package acpwire

import (
	"bytes"
	"io"
	"slices"
)

const (
	chunkSize = 64 << 10 // what is asked of the pipe at once
	keepSize  = 1 << 20  // buffers beyond this are not kept for reuse
)

// lineReader cuts a stream into batches of whole lines. A line longer than max
// is dropped alone.
type lineReader struct {
	r    io.Reader
	max  int
	rest []byte // the beginning of a line whose end was not yet read
	err  error
}

// next fills buf with whole lines, newlines included, or says how many bytes
// of a line that was too long it dropped. What stands unterminated at the end
// of the stream comes with the error.
func (l *lineReader) next(buf []byte) (lines []byte, dropped int, err error) {
	buf = append(buf[:0], l.rest...)
	l.rest = l.rest[:0]
	searched := 0
	for {
		if n := bytes.LastIndexByte(buf[searched:], '\n'); n >= 0 {
			end := searched + n + 1
			l.keep(buf[end:])
			return buf[:end], 0, nil
		}
		searched = len(buf)
		switch {
		case len(buf) > l.max:
			n, tail := l.skipLine()
			l.keep(tail)
			return nil, len(buf) + n, nil
		case l.err != nil:
			return buf, 0, l.err
		case len(buf) >= keepSize:
			return l.longLine(buf)
		}
		buf = slices.Grow(buf, chunkSize)
		buf = buf[:len(buf)+l.fill(buf[len(buf):][:chunkSize])]
	}
}

func (l *lineReader) fill(buf []byte) int {
	n, err := l.r.Read(buf)
	l.err = err
	return n
}

// longLine collects the rest of a line in pieces and joins them once, so that
// a huge line is never held more than twice.
func (l *lineReader) longLine(first []byte) (line []byte, dropped int, err error) {
	pieces, size := [][]byte{first}, len(first)
	for l.err == nil {
		piece := make([]byte, 0, keepSize)
		for len(piece) < cap(piece) && l.err == nil {
			n := l.fill(piece[len(piece):cap(piece)])
			end := bytes.IndexByte(piece[len(piece):len(piece)+n], '\n')
			if end >= 0 {
				end += len(piece) + 1
				l.keep(piece[end : len(piece)+n])
				return slices.Concat(append(pieces, piece[:end])...), 0, nil
			}
			piece = piece[:len(piece)+n]
		}
		pieces, size = append(pieces, piece), size+len(piece)
		if size > l.max {
			pieces = nil
			n, tail := l.skipLine()
			l.keep(tail)
			return nil, size + n, nil
		}
	}
	return slices.Concat(pieces...), 0, l.err
}

func (l *lineReader) keep(rest []byte) { l.rest = append(l.rest[:0], rest...) }

// skipLine reads on to the end of the line and gives what was read behind it.
func (l *lineReader) skipLine() (dropped int, tail []byte) {
	buf := make([]byte, chunkSize)
	for l.err == nil {
		n := l.fill(buf)
		if end := bytes.IndexByte(buf[:n], '\n'); end >= 0 {
			return dropped + end + 1, buf[end+1 : n]
		}
		dropped += n
	}
	return dropped, nil
}
