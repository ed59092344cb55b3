package term

import (
	"fmt"
	"strings"

	"github.com/agentstream-go/agentstream"
)

const (
	maxDiff   = 40      // lines of a diff that are shown
	diffAbout = 2       // unchanged lines shown around a change
	maxCells  = 250_000 // of the table that finds the common lines
)

// OnDiff shows a change to a file.
func (r *Renderer) OnDiff(e agentstream.Diff) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.o.Quiet {
		return
	}
	old, what := "", "new file "
	if e.Old != nil {
		old, what = *e.Old, ""
	}
	r.aside()
	r.line(bold, "  "+what+oneLine(e.Path))
	lines := hunks(splitLines(old), splitLines(e.New))
	for i, l := range lines {
		if i == maxDiff {
			r.line(dim, fmt.Sprintf("  … %d more lines", len(lines)-i))
			break
		}
		code := dim
		switch l.mark {
		case '+':
			code = green
		case '-':
			code = red
		}
		r.line(code, strings.TrimRight("  "+string(l.mark)+" "+strings.ReplaceAll(Clean(l.text), "\t", "    "), " "))
	}
}

func splitLines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
}

// edit is a line of a diff: unchanged, added or removed.
type edit struct {
	mark rune // ' ', '+', '-'; '…' for lines left out
	text string
}

// hunks are the changed lines with some unchanged ones around.
func hunks(old, new []string) []edit {
	all := edits(old, new)
	near := make([]bool, len(all))
	for i, e := range all {
		if e.mark != ' ' {
			for j := max(0, i-diffAbout); j < min(len(all), i+diffAbout+1); j++ {
				near[j] = true
			}
		}
	}
	var list []edit
	for i, e := range all {
		if near[i] {
			if i > 0 && !near[i-1] {
				list = append(list, edit{'…', ""})
			}
			list = append(list, e)
		}
	}
	return list
}

// edits compares line by line. Where the differing part is too large for the
// longest common subsequence, all of it counts as replaced.
func edits(old, new []string) []edit {
	var list []edit
	add := func(mark rune, lines []string) {
		for _, l := range lines {
			list = append(list, edit{mark, l})
		}
	}
	head := 0
	for head < len(old) && head < len(new) && old[head] == new[head] {
		head++
	}
	tail := 0
	for tail < len(old)-head && tail < len(new)-head && old[len(old)-1-tail] == new[len(new)-1-tail] {
		tail++
	}
	add(' ', old[:head])
	a, b := old[head:len(old)-tail], new[head:len(new)-tail]
	if (len(a)+1)*(len(b)+1) > maxCells {
		add('-', a)
		add('+', b)
	} else {
		list = append(list, common(a, b)...)
	}
	add(' ', old[len(old)-tail:])
	return list
}

// common is the edit script by the longest common subsequence.
func common(a, b []string) []edit {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var list []edit
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			list = append(list, edit{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			list = append(list, edit{'-', a[i]})
			i++
		default:
			list = append(list, edit{'+', b[j]})
			j++
		}
	}
	return list
}
