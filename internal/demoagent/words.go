package demoagent

import (
	"strings"
	"unicode"
)

// Word is one thing that the agent can be told to do.
type Word struct {
	Usage string // what to type, with its argument: "read NAME", "long [N]"
	Does  string // one line
}

// Words lists everything the agent can do, in the order of its help.
func Words() []Word {
	var list []Word
	for _, w := range table() {
		list = append(list, Word{Usage: w.usage(), Does: w.does})
	}
	return list
}

type argKind int

const (
	noArg   argKind = iota
	numArg          // one optional number
	nameArg         // a file name, and perhaps more text
	textArg         // the rest of the line
)

// argument is what followed a word.
type argument struct {
	text   string // the name or the text
	rest   string // what follows a name
	number float64
	given  bool
}

// word is an entry of the table. A strict one counts only if the whole clause
// is understood: "die Katze" kills nobody.
type word struct {
	name   string
	hint   string
	kind   argKind
	strict bool
	does   string
	do     func(t *turn, a argument) error
}

func (w word) usage() string { return strings.TrimSpace(w.name + " " + w.hint) }

// table is everything that can be said. It is a function because help lists it.
func table() []word {
	return []word{
		{name: "help", does: "lists all this", do: help},
		{name: "think", does: "thinks aloud, then answers", do: think},
		{name: "markdown", does: "answers with headings, a list, a table and code", do: markdown},
		{name: "list", does: "lists the files of the folder", do: list},
		{name: "read", hint: "NAME", kind: nameArg, does: "reads a file of the folder", do: read},
		{name: "write", hint: "NAME [TEXT]", kind: nameArg, does: "asks, and writes a file when you allow it", do: write},
		{name: "plan", does: "makes a plan and works through it", do: plan},
		{name: "diff", does: "shows a change to a file, arguments coming bit by bit", do: diff},
		{name: "parallel", does: "runs three tools at once that end out of order", do: parallel},
		{name: "fail", strict: true, does: "runs a tool that fails", do: fail},
		{name: "long", hint: "[N]", kind: numArg, strict: true, does: "says N lines, 200 without a number", do: long},
		{name: "slow", hint: "[SECONDS]", kind: numArg, strict: true, does: "answers slowly", do: slow},
		{name: "wait", hint: "[SECONDS]", kind: numArg, strict: true, does: "runs a tool that takes its time", do: wait},
		{name: "silent", hint: "[SECONDS]", kind: numArg, strict: true, does: "says nothing at all", do: silent},
		{name: "late", does: "gets a tool's result after the next text has begun", do: late},
		{name: "emoji", does: "says emoji and CJK in small pieces, some cut inside a character", do: emoji},
		{name: "unsafe", does: "says HTML, odd links and terminal escapes that nobody may act on", do: unsafe},
		{name: "image", does: "shows a picture", do: picture},
		{name: "exec", does: "prints a command's output while it runs", do: exec},
		{name: "ask me", does: "asks you to fill in a form", do: askMe},
		{name: "two questions", does: "asks for two permissions at once", do: twoQuestions},
		{name: "subagent", does: "lets a helper do the work", do: subagent},
		{name: "notice", does: "shows a status line that is no answer", do: notice},
		{name: "usage", does: "tells how full the context window is", do: usage},
		{name: "mode", hint: "NAME", kind: nameArg, strict: true, does: "changes the mode by itself: ask, auto or read-only", do: changeMode},
		{name: "title", hint: "TEXT", kind: textArg, does: "names the conversation", do: rename},
		{name: "history", does: "tells what you said before", do: history},
		{name: "echo", hint: "TEXT", kind: textArg, does: "says TEXT", do: echo},
		{name: "big", hint: "[N]", kind: numArg, strict: true, does: "gets a tool result of N MiB on one line, 1 without a number", do: big},
		{name: "after", strict: true, does: "says something more after the end of the turn", do: afterword},
		{name: "error", strict: true, does: "answers with a JSON-RPC error", do: protocolError},
		{name: "refuse", strict: true, does: "stops with the reason refusal", do: refuse},
		{name: "maxtokens", strict: true, does: "stops in mid-sentence with the reason max_tokens", do: maxTokens},
		{name: "maxrequests", strict: true, does: "stops with the reason max_turn_requests", do: maxRequests},
		{name: "die", strict: true, does: "ends the process in the middle of a tool", do: die},
	}
}

// commands is the table as slash commands.
func commands() []obj {
	var list []obj
	for _, w := range table() {
		c := obj{"name": strings.ReplaceAll(w.name, " ", "-"), "description": w.does}
		if w.hint != "" {
			c["input"] = obj{"hint": w.hint}
		}
		list = append(list, c)
	}
	return list
}

// step is one word of a prompt with its argument.
type step struct {
	word word
	arg  argument
}

// parse finds the words of a prompt, in order. Clauses are separated by line
// ends, commas, semicolons, "and" and "then"; all that is understood nowhere
// gets one answer, where the first of it stands.
func parse(prompt string) []step {
	var steps []step
	talked := false
	talk := func() {
		if !talked {
			talked = true
			steps = append(steps, step{word{name: "", do: chat}, argument{text: prompt}})
		}
	}
	for line := range strings.Lines(prompt) {
		rest := strings.TrimSpace(line)
		for rest != "" {
			found, tail := clause(rest)
			if found == nil {
				talk()
			}
			steps = append(steps, found...)
			rest = tail
		}
	}
	if len(steps) == 0 {
		talk()
	}
	return steps
}

// clause reads one clause and gives what follows it. No step: it is not
// understood.
func clause(text string) (steps []step, tail string) {
	words := table()
	rest := skip(text)
	for rest != "" {
		if t, ok := connective(rest); ok {
			if rest = skip(t); len(steps) > 0 {
				return steps, rest
			}
			continue
		}
		s, t, ok := match(words, rest)
		if !ok {
			tail := nextClause(rest)
			if len(steps) == 0 || steps[len(steps)-1].word.strict {
				return nil, tail
			}
			return steps, tail
		}
		steps = append(steps, s)
		rest = skip(t)
	}
	return steps, ""
}

// match reads one word of the table and its argument.
func match(words []word, text string) (step, string, bool) {
	for _, w := range words {
		tail, ok := prefix(text, w.name)
		if !ok {
			continue
		}
		a, tail, ok := w.argument(tail)
		return step{w, a}, tail, ok
	}
	return step{}, "", false
}

func (w word) argument(tail string) (argument, string, bool) {
	switch w.kind {
	case textArg:
		line, after, _ := strings.Cut(tail, "\n")
		return argument{text: strings.TrimSpace(line), given: true}, after, true
	case numArg:
		first, after := token(tail)
		if n, ok := number(first); ok {
			return argument{number: n, given: true}, after, true
		}
	case nameArg:
		name, after := token(tail)
		name = strings.Trim(strings.TrimRight(name, ",;"), "`'\"")
		if bare := strings.TrimRight(name, "."); bare != "" {
			name = bare // the full stop of a sentence
		}
		if name == "" {
			return argument{}, tail, false
		}
		if w.name != "write" {
			return argument{text: name, given: true}, tailOf(tail, name), true
		}
		if _, more := connective(strings.TrimSpace(tailOf(tail, name))); more || strings.TrimSpace(after) == "" {
			return argument{text: name, given: true}, tailOf(tail, name), true
		}
		// "write me a poem" is no file name with text
		return argument{text: name, rest: strings.TrimSpace(after), given: true}, "", strings.ContainsAny(name, "./")
	}
	return argument{}, tail, true
}

// tailOf is what follows the name in the text.
func tailOf(text, name string) string {
	_, after, _ := strings.Cut(text, name)
	return after
}

// prefix reports whether text begins with the word, in any case, as a slash
// command too, and gives what follows.
func prefix(text, name string) (string, bool) {
	text = strings.TrimPrefix(text, "/")
	if len(text) < len(name) {
		return "", false
	}
	head := strings.ToLower(text[:len(name)])
	if head != name && head != strings.ReplaceAll(name, " ", "-") {
		return "", false
	}
	tail := text[len(name):]
	if r := []rune(tail[:min(len(tail), 4)]); len(r) > 0 && (unicode.IsLetter(r[0]) || unicode.IsDigit(r[0]) || r[0] == '-' || r[0] == '_') {
		return "", false
	}
	return tail, true
}

var (
	fillers     = []string{"please", "now", "the", "a", "file", "files", "folder", "also"}
	connectives = []string{"and", "then"}
)

// skip drops white space, full stops and fillers at the front.
func skip(text string) string {
	for {
		text = strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".!?:`'\"", r) })
		again := false
		for _, f := range fillers {
			if tail, ok := prefix(text, f); ok {
				text, again = tail, true
				break
			}
		}
		if !again {
			return text
		}
	}
}

// connective reads what separates two clauses.
func connective(text string) (string, bool) {
	if strings.HasPrefix(text, ",") || strings.HasPrefix(text, ";") {
		return text[1:], true
	}
	for _, c := range connectives {
		if tail, ok := prefix(text, c); ok {
			return tail, true
		}
	}
	return text, false
}

// nextClause is what follows the clause that text stands in.
func nextClause(text string) string {
	for text != "" {
		if tail, ok := connective(text); ok {
			return skip(tail)
		}
		if i := strings.IndexAny(text, ",;"); i == 0 {
			return skip(text[1:])
		}
		_, after := token(text)
		if i := strings.IndexAny(text[:len(text)-len(after)], ",;"); i >= 0 {
			return skip(text[i+1:])
		}
		text = strings.TrimLeftFunc(after, unicode.IsSpace)
	}
	return ""
}

// token splits off the first white-space separated token.
func token(text string) (first, after string) {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}
