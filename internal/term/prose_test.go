package term

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shown is a text as prose writes it, in pieces of so many bytes at character bounds.
func shown(text string, piece, width int, color bool) string {
	var b strings.Builder
	p := &prose{width: width, color: color, out: func(s string) { b.WriteString(s) }}
	for runes := []rune(text); len(runes) > 0; {
		n := min(piece, len(runes))
		p.write(string(runes[:n]))
		runes = runes[n:]
	}
	p.flush()
	return b.String()
}

// readable shows styles as tags.
func readable(s string) string {
	s = strings.ReplaceAll(s, "\x1b[0m", ">")
	s = strings.ReplaceAll(s, "\x1b[", "<")
	for _, code := range []string{"1;4", "1;3", "1;9", "1;36", "4;1", "1", "2", "3", "4", "9", "36"} {
		s = strings.ReplaceAll(s, "<"+code+"m", "<"+code+":")
	}
	return s
}

func TestProse(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"words":           {"one two three four five six", "one two three four\nfive six"},
		"long word":       {"a 123456789012345678901234567890 b", "a 123456789012345678901234567890\nb"},
		"lines are kept":  {"one\ntwo\n\nthree\n", "one\ntwo\n\nthree\n"},
		"bold":            {"a **b c** d", "a <1:b> <1:c> d"},
		"italic":          {"*a* _b_ ***c***", "<3:a> <3:b> <1;3:c>"},
		"strike":          {"~~no~~ ~x", "<9:no> ~x"},
		"code":            {"`a*b*` ``c`d``", "<36:a*b*> <36:c`d>"},
		"nested":          {"**a `b`**", "<1:a> <1;36:b>"},
		"not emphasis":    {"2 * 3 ** 4 _ 5", "2 * 3 ** 4 _ 5"},
		"kwargs":          {"f(**kw) a_b_c", "f(**kw) a_b_c"},
		"unclosed":        {"a **b\nc", "a **b\nc"},
		"escaped":         {`\*a\* \x`, `*a* \x`},
		"link":            {"[a b](http://x y)", "<4:a> <4:b> <2:(http://x)>"},
		"link to itself":  {"[http://x](http://x)", "<4:http://x>"},
		"brackets":        {"a[0] [b]", "a[0] [b]"},
		"heading":         {"# One\n## Two `x`", "<1;4:One>\n<1:Two> <1;36:x>"},
		"no heading":      {"#hash", "#hash"},
		"list":            {"- one two three four five\n- [x] b\n  * c\n1. d", "• one two three\n  four five\n☑ b\n  • c\n1. d"},
		"quote":           {"> one two three four five\n> > b", "<2:│ >one two three\n<2:│ >four five\n<2:│ ><2:│ >b"},
		"rule":            {"a\n---\nb", "a\n<2:───────────────────>\nb"},
		"fence":           {"```go\nif *a {\n\n}\n```\nx *y*", "<2:```go>\n<36:  if *a {>\n\n<36:  }>\n<2:```>\nx <3:y>"},
		"open fence":      {"~~~\n```\nlong line that is not wrapped", "<2:~~~>\n<36:  ```>\n<36:  long line that is not wrapped>"},
		"not a fence":     {"``` a `b", "``` a `b"},
		"table":           {"|a|b c|\n|-|:-:|\n|`1`|2|\nend", "<1:a><2: │ ><1:b c>\n<2:──┼────>\n<36:1><2: │ >2\nend"},
		"wide table":      {"|a long cell|another long cell|\n|-|-|", "|a long cell|another long cell|\n|-|-|\n"},
		"table at an end": {"| a |", "a\n"},
		"wide script":     {"漢字漢字漢字漢字漢字漢字", "漢字漢字漢字漢字漢\n字漢字"},
		"trailing space":  {"a  \nb ", "a\nb"},
	} {
		for _, piece := range []int{1, 2, 3, 7, 1000} {
			got := shown(c.in, piece, 20, true)
			if name == "fence" || name == "open fence" { // code is written as it comes
				got = strings.ReplaceAll(got, "\x1b[0m\x1b[36m", "")
			}
			if diff := cmp.Diff(c.want, strings.ReplaceAll(readable(got), "<36: > <36:", "<36:  ")); diff != "" {
				t.Errorf("%s in pieces of %d:\n%s", name, piece, diff)
			}
		}
	}
}

// Without colours the markers stay, because nothing else would show them.
func TestProseWithoutColor(t *testing.T) {
	want := "Title\n• **a** `b` [c](d)\n```\n  x\n```"
	if diff := cmp.Diff(want, shown("# Title\n- **a** `b` [c](d)\n```\nx\n```", 2, 40, false)); diff != "" {
		t.Error(diff)
	}
}

// A span whose end does not come is not waited for.
func TestProseDoesNotStall(t *testing.T) {
	var b strings.Builder
	p := &prose{width: 80, color: true, out: func(s string) { b.WriteString(s) }}
	p.write("**" + strings.Repeat("word ", 60))
	if n := strings.Count(b.String(), "word"); n < 55 {
		t.Errorf("%d words are shown", n)
	}
}

func FuzzProse(f *testing.F) {
	f.Add("# a **b** `c` [d](e)\n- x\n> y\n|a|b|\n|-|-|\n```\nz\n```\n", uint8(3), true)
	f.Fuzz(func(t *testing.T, text string, piece uint8, color bool) {
		text = Clean(text)
		whole := shown(text, 1<<20, 30, color)
		if !color && strings.Count(whole, "\n") < strings.Count(strings.TrimRight(text, "\n"), "\n")-strings.Count(text, "|") {
			t.Errorf("lines are lost: %q from %q", whole, text)
		}
		letters := func(s string) string {
			return strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' && r != 'm' || r > 0x3000 {
					return r
				}
				return -1
			}, s)
		}
		if pieces := shown(text, int(piece)+1, 30, color); letters(pieces) != letters(whole) && !strings.Contains(text, "](") && len(text) < maxHeld {
			t.Errorf("in pieces %q, whole %q", pieces, whole)
		}
	})
}
