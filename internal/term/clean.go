package term

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes untrusted text safe to show: control characters but newline and
// tab, line and paragraph separators, and characters that change the direction
// of what follows are shown escaped; invalid UTF-8 is replaced.
func Clean(s string) string {
	if safe(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for _, r := range s {
		switch {
		case !unsafe(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func safe(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' || c == 0x7f {
			return !strings.ContainsFunc(s, unsafe) && utf8.ValidString(s)
		}
	}
	return true
}

func unsafe(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r): // C0, DEL and C1
		return true
	case r == 0x2028 || r == 0x2029 || r == 0xfeff:
		return true
	}
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f || r == 0x061c
}

// cleaner cleans a text that comes in pieces: CRLF, also split over two of
// them, becomes a newline.
type cleaner struct{ cr bool }

func (c *cleaner) next(s string) string {
	if s == "" {
		return ""
	}
	if c.cr {
		s = "\r" + s
	}
	if c.cr = strings.HasSuffix(s, "\r"); c.cr {
		s = s[:len(s)-1]
	}
	return Clean(strings.ReplaceAll(s, "\r\n", "\n"))
}

// rest is what was held back.
func (c *cleaner) rest() string {
	if !c.cr {
		return ""
	}
	c.cr = false
	return `\x0d`
}

// oneLine is cleaned text on one line.
func oneLine(s string) string { return Clean(strings.Join(strings.Fields(s), " ")) }

// fit cuts a line to so many columns.
func fit(s string, columns int) string {
	width := 0
	for i, r := range s {
		w := columnsOf(r)
		if width+w > columns {
			return cut(s[:i], columns-1) + "…"
		}
		width += w
	}
	return s
}

func cut(s string, columns int) string {
	width := 0
	for i, r := range s {
		if width += columnsOf(r); width > columns {
			return s[:i]
		}
	}
	return s
}

// wide are the ranges of characters that take two columns.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf}, {0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xac00, 0xd7a3},
	{0xf900, 0xfaff}, {0xfe30, 0xfe4f}, {0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f}, {0x1f680, 0x1f6ff},
	{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
}

func columnsOf(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	for _, w := range wide {
		if r >= w[0] && r <= w[1] {
			return 2
		}
	}
	return 1
}
