package acp

import "unicode/utf8"

// halves is what waits between two chunks: a surrogate without its other half,
// or the first bytes of a rune. At most three bytes.
type halves struct {
	b [3]byte
	n int
}

// join gives what waits and b as text, and keeps what is half at the end. Bytes
// that can never become a rune are replaced by U+FFFD.
func (w *halves) join(b []byte) string {
	if w.n == 0 && utf8.Valid(b) {
		return string(b)
	}
	all := append(append(make([]byte, 0, w.n+len(b)), w.b[:w.n]...), b...)
	out, rest := mend(all, false)
	w.n = copy(w.b[:], rest)
	return string(out)
}

// rest gives what waits as text: nobody will complete it any more.
func (w *halves) rest() string {
	out, _ := mend(w.b[:w.n], true)
	w.n = 0
	return string(out)
}

// whole gives b as valid UTF-8.
func whole(b []byte) string {
	if utf8.Valid(b) {
		return string(b)
	}
	out, _ := mend(b, true)
	return string(out)
}

// mend joins surrogate halves and replaces what is no rune. What may be the
// beginning of a rune at the end is given back, unless this is the last piece.
func mend(b []byte, last bool) (out, rest []byte) {
	out = make([]byte, 0, len(b)+4)
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		switch {
		case r != utf8.RuneError || size > 1:
			out = append(out, b[:size]...)
		case isSurrogate(b):
			size = 3
			r = surrogate(b)
			switch {
			case isHigh(r) && isSurrogate(b[3:]) && isLow(surrogate(b[3:])):
				out = utf8.AppendRune(out, pair(r, surrogate(b[3:])))
				size = 6
			case isHigh(r) && len(b) == 3 && !last:
				return out, b
			default:
				out = utf8.AppendRune(out, utf8.RuneError)
			}
		case !last && !utf8.FullRune(b):
			return out, b
		default:
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		b = b[size:]
	}
	return out, nil
}
