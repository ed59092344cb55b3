package term

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// prose lays streamed Markdown out for a terminal: words are wrapped, what
// Markdown marks is styled. Nothing that was written is ever written anew, so
// nothing flickers; instead the word, the span or the table that is not whole yet
// waits. Text must be clean. It is not safe for concurrent use.
type prose struct {
	width int
	color bool
	out   func(string)

	column int
	within bool   // the kind of the line is known
	head   string // what came of a line whose kind is not known, or which is needed whole
	whole  bool   // the latter
	prefix string // of every row of the line: quotes
	indent int    // of every further row of the line
	style  string // of the line
	held   string // the end of the line, which waits for the end of a span
	before rune   // the character in front of held
	spaces int    // that are written only if a word follows on the same row
	word   []span // without its end yet
	fence  string // the marker of the open code block
	code   bool   // within a line of it
	table  []string
}

// write takes the next piece of the text.
func (p *prose) write(s string) {
	for s != "" {
		line, rest, ends := strings.Cut(s, "\n")
		p.piece(line)
		if ends {
			p.endLine()
		}
		s = rest
	}
}

// flush writes what waits, because something else is to be written.
func (p *prose) flush() {
	if p.head != "" || p.within {
		p.finishLine()
	}
	p.endTable()
	p.column, p.within, p.code = 0, false, false
	p.head, p.prefix = "", ""
}

func (p *prose) piece(s string) {
	switch {
	case s == "":
	case p.fence != "" && p.code:
		p.raw(cyan, s)
	case p.fence != "":
		if p.head += s; strings.Trim(p.head, " `~") != "" || len(p.head) > maxHeld {
			p.beginCode()
		}
	case p.within:
		p.inline(s, false)
	default:
		p.head += s
		if !p.whole || len(p.head) > maxRow {
			p.begin(false)
		}
	}
}

// endLine ends the line, and what it opened or closed.
func (p *prose) endLine() {
	if p.fence == "" && !p.within && p.head == "" {
		p.endTable()
	} else {
		p.finishLine()
	}
	if len(p.table) == 0 {
		p.row()
	}
	p.within, p.code, p.head, p.prefix = false, false, "", ""
}

// finishLine writes what waits of the line.
func (p *prose) finishLine() {
	switch {
	case p.fence != "" && !p.code:
		if mark := strings.TrimSpace(p.head); len(mark) >= len(p.fence) && strings.Trim(mark, p.fence[:1]) == "" && mark != "" {
			p.fence = ""
			p.raw(dim, mark)
			return
		}
		p.beginCode()
	case p.fence != "":
	default:
		if !p.within {
			p.begin(true)
		}
		if p.within {
			p.inline("", true)
			p.endWord()
			p.spaces = 0
		}
	}
}

func (p *prose) beginCode() {
	p.code = true
	if p.head != "" {
		p.raw(cyan, "  "+p.head)
	}
	p.head = ""
}

const (
	maxQuotes = 8       // of a line within each other
	maxRow    = 4 << 10 // bytes of a line that is needed whole
)

// begin finds out what kind of line it is, and begins it.
func (p *prose) begin(final bool) {
	k := kindOf(p.head, final || len(p.head) > maxHeld)
	if k.name == quoteLine && len(p.prefix) >= maxQuotes*len("│ ") {
		k = kind{name: textLine, body: p.head}
	}
	if p.whole = k.whole && !final; p.whole || k.name == undecided {
		return
	}
	head := p.head
	p.head = ""
	if k.name == tableRow {
		p.table = append(p.table, head)
		return
	}
	p.endTable()
	switch k.name {
	case quoteLine:
		p.prefix += "│ "
		p.raw(dim, "│ ")
		p.head = k.body
		if p.head != "" || final {
			p.begin(final)
		}
		return
	case fenceLine:
		trimmed := strings.TrimSpace(head)
		p.fence = trimmed[:runOf(trimmed)]
		p.code = true // the rest of this line is written already
		p.raw(dim, trimmed)
		return
	case ruleLine:
		p.raw(dim, strings.Repeat("─", max(3, min(p.width-1, 40))-p.column))
		return
	}
	p.within, p.style, p.before = true, k.style, 0
	if k.mark != "" {
		p.raw(plain, k.mark)
	}
	p.indent = columns(k.mark)
	p.inline(k.body, false)
}

// inline writes what is decided of the line.
func (p *prose) inline(s string, final bool) {
	p.held += s
	spans, rest := []span{{text: p.held}}, ""
	if p.color {
		spans, rest = inline(p.held, p.before, final)
	}
	if done := p.held[:len(p.held)-len(rest)]; done != "" {
		p.before, _ = utf8.DecodeLastRuneInString(done)
	}
	p.held = rest
	for _, s := range spans {
		p.text(s.in(p.style))
	}
}

// text divides a span into words.
func (p *prose) text(s span) {
	from := 0
	for i, r := range s.text {
		switch {
		case r == ' ' || r == '\t':
			p.add(s.style, s.text[from:i])
			p.endWord()
			p.spaces++
			from = i + 1
		case columnsOf(r) == 2: // such scripts have no spaces
			p.add(s.style, s.text[from:i])
			p.endWord()
			from = i
		}
	}
	p.add(s.style, s.text[from:])
}

func (p *prose) add(style, text string) {
	if text == "" {
		return
	}
	if n := len(p.word); n > 0 && p.word[n-1].style == style {
		p.word[n-1].text += text
		return
	}
	p.word = append(p.word, span{style, text})
}

// endWord writes the word, on the next row if it does not fit.
func (p *prose) endWord() {
	if len(p.word) == 0 {
		return
	}
	size := 0
	for _, s := range p.word {
		size += columns(s.text)
	}
	start := columns(p.prefix) + p.indent
	if p.column > start && p.column+p.spaces+size >= p.width && start+size < p.width {
		p.row()
		p.raw(dim, p.prefix)
		p.raw(plain, strings.Repeat(" ", p.indent))
	} else if p.spaces > 0 {
		p.raw(plain, strings.Repeat(" ", p.spaces))
	}
	p.spaces = 0
	for _, s := range p.word {
		p.raw(s.style, s.text)
	}
	p.word = p.word[:0]
}

func (p *prose) raw(style, text string) {
	if text == "" {
		return
	}
	p.column += columns(text)
	if style != plain && p.color {
		text = "\x1b[" + style + "m" + text + "\x1b[0m"
	}
	p.out(text)
}

func (p *prose) row() {
	p.out("\n")
	p.column = 0
}

func columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// lineName is what a line of Markdown is.
type lineName int

const (
	undecided lineName = iota
	textLine
	quoteLine
	fenceLine
	tableRow
	ruleLine
)

// kind is a line whose beginning was read.
type kind struct {
	name  lineName
	whole bool   // only the whole line can be shown
	mark  string // shown in front of the body
	body  string
	style string
}

var (
	listMark = regexp.MustCompile(`^( *)([-*+]|\d{1,9}[.)]) +(\[[ xX]\] )?`)
	listHead = regexp.MustCompile(`^ *([-*+]|\d{1,9}[.)]?)( *\[?[ xX]?\]?)$`)
	ruleText = regexp.MustCompile(`^ {0,3}(-{3,}|\*{3,}|_{3,}) *$`)
	ruleHead = regexp.MustCompile(`^ {0,3}(-+|\*+|_+) *$`)
)

func kindOf(head string, final bool) kind {
	t := strings.TrimLeft(head, " ")
	lead := head[:len(head)-len(t)]
	switch {
	case t == "" && !final:
		return kind{}
	case t == "" || len(head) > maxRow:
		return kind{name: textLine, body: head}
	case ruleText.MatchString(head):
		return kind{name: ruleLine, whole: true}
	case !final && (ruleHead.MatchString(head) || listHead.MatchString(head)):
		return kind{}
	case t[0] == '#':
		n := runOf(t)
		if n == len(t) && !final {
			return kind{}
		}
		if n <= 6 && n < len(t) && t[n] == ' ' {
			style := bold
			if n == 1 {
				style = "1;4"
			}
			return kind{name: textLine, body: strings.TrimLeft(t[n:], " "), style: style}
		}
	case t == ">" && !final:
		return kind{}
	case t[0] == '>':
		return kind{name: quoteLine, body: strings.TrimPrefix(t[1:], " ")}
	case t[0] == '|':
		return kind{name: tableRow, whole: true}
	case t[0] == '`' || t[0] == '~':
		n := runOf(t)
		if n < 3 && n == len(t) && !final {
			return kind{}
		}
		if n >= 3 && strings.IndexByte(t[n:], '`') < 0 {
			return kind{name: fenceLine, whole: true}
		}
	}
	if m := listMark.FindStringSubmatch(head); m != nil {
		mark := m[2] + " "
		if strings.Contains("-*+", m[2]) {
			mark = "• "
		}
		switch {
		case m[3] == "[ ] ":
			mark = "☐ "
		case m[3] != "":
			mark = "☑ "
		}
		return kind{name: textLine, mark: m[1] + mark, body: head[len(m[0]):]}
	}
	return kind{name: textLine, mark: lead, body: t}
}

// endTable writes the rows that wait, in columns if they fit.
func (p *prose) endTable() {
	if len(p.table) == 0 {
		return
	}
	rows := p.table
	p.table = nil
	for _, line := range layout(rows, p.width, p.color) {
		for _, s := range line {
			p.raw(s.style, s.text)
		}
		p.row()
	}
}

// layout gives the rows of a table in columns, or as they are if those do not fit.
func layout(rows []string, width int, color bool) (lines [][]span) {
	cells := make([][][]span, 0, len(rows))
	var widths []int
	for i, row := range rows {
		if i == 1 && strings.Trim(row, "|:- ") == "" {
			cells = append(cells, nil)
			continue
		}
		var line [][]span
		for j, c := range cellsOf(row) {
			spans := []span{{text: c}}
			if color {
				spans, _ = inline(c, 0, true)
			}
			if j == len(widths) {
				widths = append(widths, 0)
			}
			widths[j] = max(widths[j], spanColumns(spans))
			line = append(line, spans)
		}
		cells = append(cells, line)
	}
	total := -3
	for _, w := range widths {
		total += w + 3
	}
	for i, line := range cells {
		switch {
		case total >= width:
			lines = append(lines, []span{{text: rows[i]}})
		case line == nil:
			dashes := make([]string, len(widths))
			for j, w := range widths {
				dashes[j] = strings.Repeat("─", w)
			}
			lines = append(lines, []span{{dim, strings.Join(dashes, "─┼─")}})
		default:
			lines = append(lines, inColumns(line, widths, i == 0 && len(cells) > 1 && cells[1] == nil))
		}
	}
	return lines
}

func inColumns(cells [][]span, widths []int, heads bool) (line []span) {
	for j, spans := range cells {
		if j > 0 {
			line = append(line, span{dim, " │ "})
		}
		for _, s := range spans {
			if heads {
				s = s.in(bold)
			}
			line = append(line, s)
		}
		if pad := widths[j] - spanColumns(spans); pad > 0 && j < len(cells)-1 {
			line = append(line, span{text: strings.Repeat(" ", pad)})
		}
	}
	return line
}

// cellsOf divides a row at the bars that are not escaped.
func cellsOf(row string) []string {
	row = strings.TrimSpace(row)
	row = strings.TrimSuffix(strings.TrimPrefix(row, "|"), "|")
	var cells []string
	from := 0
	for i := range len(row) {
		if row[i] == '|' && (i == 0 || row[i-1] != '\\') {
			cells = append(cells, strings.TrimFunc(row[from:i], unicode.IsSpace))
			from = i + 1
		}
	}
	return append(cells, strings.TrimFunc(row[from:], unicode.IsSpace))
}

func spanColumns(spans []span) int {
	n := 0
	for _, s := range spans {
		n += columns(s.text)
	}
	return n
}
