package acp

import "strings"

// Results of calls of which the agent says nothing itself.
const (
	resultDenied    = "Permission denied."
	resultCancelled = "Cancelled."
	resultFailed    = "Tool call failed."
)

// result is the text of a call's terminal: of all that the agent said, the
// first that is not empty. content and rawOutput are the terminal update's own;
// content is nil if it has none, which is not the same as an empty list.
// What came before the tool ran is never a result.
func (c *call) result(content, rawOutput []byte, failed bool) string {
	for _, candidate := range [...]func() string{
		func() string { return contentText(content) },
		func() string { return outputText(rawOutput, 4) },
		c.output.String,
		func() string {
			if content != nil {
				return ""
			}
			return c.progress
		},
		func() string {
			if failed { // it may not have been made
				return ""
			}
			return strings.Join(c.edits, "\n")
		},
		func() string { return unknownOutput(rawOutput) },
	} {
		if s := candidate(); s != "" {
			return s
		}
	}
	switch {
	case !failed:
		return ""
	case c.refused:
		return resultDenied
	case c.dropped:
		return resultCancelled
	}
	return resultFailed
}

// contentText joins the texts of a content by newlines. Diffs and terminals
// have none.
func contentText(content []byte) string {
	var texts []string
	eachBlock(content, func(b block) {
		if form, _ := b.text(); form != "" {
			texts = append(texts, unfence(form))
		}
	})
	return strings.Join(texts, "\n")
}

// outputText reads a rawOutput: a string, parts, or an object with one of the
// names that agents use.
func outputText(v []byte, depth int) string {
	i := skipSpace(v, 0)
	if i >= len(v) || depth == 0 {
		return ""
	}
	switch v[i] {
	case '"':
		s := text(v[i:])
		if inner := strings.TrimSpace(s); inner != "" && (inner[0] == '{' || inner[0] == '[') && well([]byte(inner)) {
			return first(outputText([]byte(inner), depth-1), s)
		}
		return s
	case '[':
		var parts []string
		list := array(v)
		for e, ok := list.element(); ok; e, ok = list.element() {
			if s := partText(e, depth); s != "" {
				parts = append(parts, s)
			}
		}
		return strings.Join(parts, "\n")
	case '{':
		for _, name := range [...]string{"formatted_output", "aggregated_output", "output", "content", "result", "text", "message", "error"} {
			if s := outputText(field(v, name), depth-1); s != "" {
				return s
			}
		}
		return outputText(field(v, "stdout"), depth-1) + outputText(field(v, "stderr"), depth-1)
	}
	return ""
}

func partText(e []byte, depth int) string {
	if kind := text(field(e, "type")); kind == "image" || kind == "audio" {
		return label(kind, first(text(field(e, "mimeType")), text(field(e, "source", "media_type"))))
	}
	return outputText(e, depth-1)
}

// unknownOutput gives an object of unknown names as JSON. One with an exit code
// says nothing but that.
func unknownOutput(v []byte) string {
	if !hasArguments(v) || v[0] != '{' || exitCode(v) != nil {
		return ""
	}
	b, ok := compact(v)
	if !ok {
		return ""
	}
	return string(b)
}

// exitCode finds the exit code in a rawOutput.
func exitCode(v []byte) *int {
	for _, path := range [...][]string{{"exit_code"}, {"exitCode"}, {"metadata", "exit"}, {"metadata", "exit_code"}} {
		if code, ok := number(field(v, path...)); ok {
			n := int(code)
			return &n
		}
	}
	return nil
}

// unfence removes a Markdown fence that encloses the whole text. Text with more
// than that fence stays as it is.
func unfence(s string) string {
	rest := strings.TrimLeft(s, "`")
	n := len(s) - len(rest)
	if n < 3 {
		return s
	}
	fence := s[:n]
	info, body, ok := strings.Cut(rest, "\n")
	if !ok || strings.Contains(info, "`") {
		return s
	}
	body, ok = strings.CutSuffix(strings.TrimRight(body, "\r\n"), fence)
	if !ok || body != "" && !strings.HasSuffix(body, "\n") || strings.Contains("\n"+body, "\n"+fence) {
		return s
	}
	return strings.TrimSuffix(body, "\n")
}
