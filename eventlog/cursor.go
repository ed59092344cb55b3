package eventlog

import (
	"cmp"
	"fmt"
)

// Cursor is a place in a thread's log: that of a record, or before the first.
// The zero value stands for the start, of any generation.
type Cursor struct {
	// Gen is the generation of the thread's log, a random number that is never
	// 0. A log that was deleted and made anew has another.
	Gen uint32
	// Seq is the record's number, 0 before the first.
	Seq uint64
}

const (
	genDigits = 8
	seqDigits = 20
	// CursorLen is the length of a cursor's text in bytes.
	CursorLen = genDigits + 1 + seqDigits
)

// IsZero reports whether c is the start of any generation.
func (c Cursor) IsZero() bool { return c == Cursor{} }

// Compare orders cursors of one generation by their place, as the texts are
// ordered. The order of cursors of different generations means nothing.
func (c Cursor) Compare(o Cursor) int {
	return cmp.Or(cmp.Compare(c.Gen, o.Gen), cmp.Compare(c.Seq, o.Seq))
}

// String returns the text form, 8 hexadecimal digits, a hyphen and 20 decimal
// digits, such as "00c0ffee-00000000000000000042".
func (c Cursor) String() string {
	return string(c.Append(make([]byte, 0, CursorLen)))
}

// Append appends the text form to dst and returns the longer slice.
func (c Cursor) Append(dst []byte) []byte {
	const hex = "0123456789abcdef"
	for shift := 4 * (genDigits - 1); shift >= 0; shift -= 4 {
		dst = append(dst, hex[c.Gen>>shift&15])
	}
	dst = append(dst, '-')
	var digits [seqDigits]byte
	for i, n := seqDigits-1, c.Seq; i >= 0; i, n = i-1, n/10 {
		digits[i] = byte('0' + n%10)
	}
	return append(dst, digits[:]...)
}

// ParseCursor reads what String wrote, and nothing else: other lengths, signs,
// capital letters and numbers beyond 64 bits are errors, which match
// ErrInvalid.
func ParseCursor(s string) (Cursor, error) {
	bad := func() (Cursor, error) {
		return Cursor{}, fmt.Errorf("%w: %q is no cursor", ErrInvalid, s[:min(len(s), 2*CursorLen)])
	}
	if len(s) != CursorLen || s[genDigits] != '-' {
		return bad()
	}
	var c Cursor
	for _, d := range []byte(s[:genDigits]) {
		switch {
		case '0' <= d && d <= '9':
			c.Gen = c.Gen<<4 | uint32(d-'0')
		case 'a' <= d && d <= 'f':
			c.Gen = c.Gen<<4 | uint32(d-'a'+10)
		default:
			return bad()
		}
	}
	for _, d := range []byte(s[genDigits+1:]) {
		if d < '0' || d > '9' || c.Seq > (1<<64-1-uint64(d-'0'))/10 {
			return bad()
		}
		c.Seq = c.Seq*10 + uint64(d-'0')
	}
	return c, nil
}
