package term

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxHeld is how much of a line waits for the end of a span, in bytes. What is
// longer is shown as it was written, because a reader would see it stall.
const maxHeld = 240

// span is a piece of a line in one style: SGR codes, joined by semicolons.
type span struct{ style, text string }

func (s span) in(style string) span {
	switch {
	case s.style == "":
		s.style = style
	case style != "":
		s.style = style + ";" + s.style
	}
	return s
}

// inline finds the spans of a line of Markdown, of which more may come unless it
// is final. What cannot be told yet is returned as rest. Before is the character
// in front of s.
func inline(s string, before rune, final bool) (spans []span, rest string) {
	plainFrom := 0
	add := func(upTo int, more ...span) {
		if upTo > plainFrom {
			spans = append(spans, span{text: s[plainFrom:upTo]})
		}
		spans = append(spans, more...)
	}
	for i := 0; i < len(s); {
		near := s[i:min(len(s), i+maxHeld)] // so that the cost stays linear
		found, n, waits := marked(near, before, final || len(s)-i > maxHeld)
		if waits {
			add(i)
			return spans, s[i:]
		}
		if n == 0 {
			r, size := utf8.DecodeRuneInString(s[i:])
			before = r
			i += size
			continue
		}
		add(i, found...)
		i += n
		plainFrom = i
		before, _ = utf8.DecodeLastRuneInString(s[:i])
	}
	add(len(s))
	return spans, ""
}

// marked reads a span at the beginning of s: its n bytes, or waits for more.
func marked(s string, before rune, final bool) (found []span, n int, waits bool) {
	switch s[0] {
	case '\\':
		if len(s) == 1 {
			return nil, 0, !final
		}
		if strings.IndexByte("\\`*_~[]()#+-.!|<>{}", s[1]) >= 0 {
			return []span{{text: s[1:2]}}, 2, false
		}
	case '`':
		return codeSpan(s, final)
	case '*', '_':
		return emphasis(s, before, final)
	case '~':
		if strings.HasPrefix(s, "~~") {
			return emphasis(s, before, final)
		}
		return nil, 0, len(s) == 1 && !final
	case '[':
		return link(s, final)
	}
	return nil, 0, false
}

// runOf is how many of its first byte s begins with.
func runOf(s string) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

func codeSpan(s string, final bool) ([]span, int, bool) {
	n := runOf(s)
	for i := n; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		m := runOf(s[i:])
		if i+m == len(s) && !final {
			break
		}
		if m == n {
			text := s[n:i]
			if t := strings.TrimSpace(text); t != "" && len(text)-len(t) == 2 && text[0] == ' ' && text[len(text)-1] == ' ' {
				text = t
			}
			return []span{{cyan, text}}, i + m, false
		}
		i += m
	}
	if final {
		return []span{{text: s[:n]}}, n, false
	}
	return nil, 0, true
}

var emphases = map[string]string{"*": "3", "_": "3", "**": bold, "__": bold, "***": "1;3", "___": "1;3", "~~": "9"}

func emphasis(s string, before rune, final bool) ([]span, int, bool) {
	n := runOf(s)
	if n == len(s) {
		return nil, 0, !final
	}
	style := emphases[s[:n]]
	next, _ := utf8.DecodeRuneInString(s[n:])
	if style == "" || unicode.IsSpace(next) || s[0] == '_' && wordy(before) {
		return []span{{text: s[:n]}}, n, false
	}
	for i := n; i < len(s); i++ {
		if s[i] == '`' { // a marker in code is none
			if _, m, waits := codeSpan(s[i:], final); waits {
				return nil, 0, true
			} else if m > 0 {
				i += m - 1
			}
			continue
		}
		if s[i] != s[0] {
			continue
		}
		m := runOf(s[i:])
		last, _ := utf8.DecodeLastRuneInString(s[:i])
		after, _ := utf8.DecodeRuneInString(s[i+m:])
		if m >= n && !unicode.IsSpace(last) && (s[0] != '_' || !wordy(after)) {
			if i+m == len(s) && !final {
				return nil, 0, true
			}
			inner, _ := inline(s[n:i], 0, true)
			for k := range inner {
				inner[k] = inner[k].in(style)
			}
			return inner, i + n, false
		}
		i += m - 1
	}
	if final {
		return []span{{text: s[:n]}}, n, false
	}
	return nil, 0, true
}

func wordy(r rune) bool {
	return r != 0 && r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}

// link shows where it leads, because nobody should follow one that hides it.
func link(s string, final bool) ([]span, int, bool) {
	end := strings.IndexByte(s, ']')
	if end < 0 || end == len(s)-1 {
		return nil, 0, !final
	}
	if s[end+1] != '(' {
		return nil, 0, false
	}
	size := strings.IndexByte(s[end:], ')')
	if size < 0 {
		return nil, 0, !final
	}
	text, _ := inline(s[1:end], 0, true)
	for i := range text {
		text[i] = text[i].in("4")
	}
	to, _, _ := strings.Cut(strings.TrimSpace(s[end+2:end+size]), " ")
	if to != "" && to != s[1:end] {
		text = append(text, span{dim, " (" + to + ")"})
	}
	return text, end + size + 1, false
}
