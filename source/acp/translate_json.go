package acp

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// An update is read where it lies: a scanner steps through one object or array
// and gives slices of it. It builds nothing, so that a chunk costs one
// allocation, its text. Broken JSON ends a scan early; where raw JSON is passed
// on, well checks it first.
type scanner struct {
	data []byte
	pos  int // behind the opening bracket or the last value; -1: over
}

// object scans v's members, array its elements. Both give nothing if v is
// something else.
func object(v []byte) scanner { return scan(v, '{') }
func array(v []byte) scanner  { return scan(v, '[') }

func scan(v []byte, open byte) scanner {
	if i := skipSpace(v, 0); i < len(v) && v[i] == open {
		return scanner{data: v, pos: i + 1}
	}
	return scanner{pos: -1}
}

// member gives the next name, without quotes, and its value. null is nil: an
// agent that writes it means "nothing new".
func (s *scanner) member() (name, value []byte, ok bool) {
	i := s.start()
	if i < 0 || s.data[i] != '"' {
		return nil, nil, false
	}
	end := skipString(s.data, i)
	if end < 0 {
		return nil, nil, s.stop()
	}
	name = s.data[i+1 : end-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = appendText(nil, s.data[i:end])
	}
	i = skipSpace(s.data, end)
	if i >= len(s.data) || s.data[i] != ':' {
		return nil, nil, s.stop()
	}
	value, ok = s.value(skipSpace(s.data, i+1))
	if string(value) == "null" {
		value = nil
	}
	return name, value, ok
}

// element gives the next element of an array.
func (s *scanner) element() (value []byte, ok bool) {
	i := s.start()
	if i < 0 {
		return nil, false
	}
	return s.value(i)
}

func (s *scanner) start() int {
	if s.pos < 0 {
		return -1
	}
	i := skipSpace(s.data, s.pos)
	if i < len(s.data) && s.data[i] == ',' {
		i = skipSpace(s.data, i+1)
	}
	if i >= len(s.data) || s.data[i] == '}' || s.data[i] == ']' {
		s.pos = -1
		return -1
	}
	return i
}

func (s *scanner) value(i int) ([]byte, bool) {
	end := skipValue(s.data, i)
	if end < 0 {
		return nil, s.stop()
	}
	s.pos = end
	return s.data[i:end], true
}

func (s *scanner) stop() bool { s.pos = -1; return false }

// field gives a member of v by its path, nil if there is none or it is null.
func field(v []byte, path ...string) []byte {
	for _, want := range path {
		s, found := object(v), []byte(nil)
		for name, value, ok := s.member(); ok; name, value, ok = s.member() {
			if string(name) == want {
				found = value
			}
		}
		v = found
	}
	return v
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString gives the index behind the string that begins at i, -1 if it does
// not end.
func skipString(b []byte, i int) int {
	for i++; ; {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		escapes := 0
		for j := i + n - 1; j >= i && b[j] == '\\'; j-- {
			escapes++
		}
		i += n + 1
		if escapes%2 == 0 {
			return i
		}
	}
}

func skipValue(b []byte, i int) int {
	depth := 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return -1
			}
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			if depth == 0 {
				return -1
			}
			i++
			continue
		default:
			i = skipLiteral(b, i)
		}
		if depth <= 0 {
			return i
		}
	}
	return -1
}

func skipLiteral(b []byte, i int) int {
	for i < len(b) {
		switch b[i] {
		case ',', ':', ' ', '\t', '\n', '\r', '}', ']', '{', '[', '"':
			return i
		}
		i++
	}
	return i
}

// maxDepth bounds how deep JSON may be nested that is passed on: what wraps it
// later must still be readable for every decoder.
const maxDepth = 1000

// well reports whether v is a JSON value, not nested too deep.
func well(v []byte) bool {
	return depth(v) <= maxDepth && jsontext.Value(v).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

func depth(v []byte) (deepest int) {
	now := 0
	for i := 0; i < len(v); i++ {
		switch v[i] {
		case '"':
			end := skipString(v, i)
			if end < 0 {
				return deepest
			}
			i = end - 1
		case '{', '[':
			now++
			deepest = max(deepest, now)
		case '}', ']':
			now--
		}
	}
	return deepest
}

// compact gives v on one line, in valid UTF-8, with numbers and the order of
// names as they are.
func compact(v []byte) ([]byte, bool) {
	b, err := jsontext.AppendFormat(nil, v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return bytes.ToValidUTF8(b, []byte("\uFFFD")), err == nil
}

// text decodes a JSON string into valid UTF-8. Anything else gives "".
func text(v []byte) string {
	if len(v) < 2 || v[0] != '"' {
		return ""
	}
	if inner := v[1 : len(v)-1]; bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	return whole(appendText(nil, v))
}

// appendText appends the bytes of the JSON string v. A surrogate without its
// other half becomes the three bytes that UTF-8 would have for it, so that half
// can wait for half; see halves.
func appendText(dst, v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return dst
	}
	for v = v[1 : len(v)-1]; ; {
		i := bytes.IndexByte(v, '\\')
		if i < 0 || i+1 >= len(v) {
			return append(dst, v...)
		}
		dst = append(dst, v[:i]...)
		c := v[i+1]
		v = v[i+2:]
		switch c {
		case 'n', 't', 'r', 'b', 'f':
			dst = append(dst, "\n\t\r\b\f"[strings.IndexByte("ntrbf", c)])
		case 'u':
			var r rune
			r, v = unit(v)
			if isHigh(r) && len(v) >= 6 && v[0] == '\\' && v[1] == 'u' {
				if low, rest := unit(v[2:]); isLow(low) {
					r, v = pair(r, low), rest
				}
			}
			dst = appendUnit(dst, r)
		default:
			dst = append(dst, c)
		}
	}
}

// unit reads four hexadecimal digits.
func unit(v []byte) (rune, []byte) {
	if len(v) < 4 {
		return utf8.RuneError, nil
	}
	n, err := strconv.ParseUint(string(v[:4]), 16, 16)
	if err != nil {
		return utf8.RuneError, v
	}
	return rune(n), v[4:]
}

func isHigh(r rune) bool        { return 0xD800 <= r && r < 0xDC00 }
func isLow(r rune) bool         { return 0xDC00 <= r && r < 0xE000 }
func pair(high, low rune) rune  { return (high-0xD800)<<10 | (low - 0xDC00) + 0x10000 }
func surrogate(b []byte) rune   { return rune(b[0]&0x0F)<<12 | rune(b[1]&0x3F)<<6 | rune(b[2]&0x3F) }
func isSurrogate(b []byte) bool { return len(b) >= 3 && b[0] == 0xED && b[1] >= 0xA0 && b[2]>>6 == 2 }

func appendUnit(dst []byte, r rune) []byte {
	if isHigh(r) || isLow(r) {
		return append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
	}
	return utf8.AppendRune(dst, r)
}

// number reads a count as agents write it: an integer, a float, or either as a
// string.
func number(v []byte) (float64, bool) {
	if len(v) > 1 && v[0] == '"' {
		v = v[1 : len(v)-1]
	}
	f, err := strconv.ParseFloat(string(v), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

// count is number as an int, 0 if there is none or it is no count.
func count(v []byte) int {
	f, ok := number(v)
	if !ok || f < 0 || f > math.MaxInt32*1024 {
		return 0
	}
	return int(math.Round(f))
}
