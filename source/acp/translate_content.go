package acp

import (
	"strings"

	"github.com/agentstream-go/agentstream"
)

// block is one piece of content. Its kind is empty if nothing is known of it.
type block struct {
	kind string
	raw  []byte
}

// eachBlock gives the blocks of a content, which agents write as one block, as
// an array, as a bare string, and each wrapped in {"type":"content"} or not.
func eachBlock(content []byte, f func(block)) { unwrap(content, 4, f) }

func unwrap(v []byte, depth int, f func(block)) {
	i := skipSpace(v, 0)
	if i >= len(v) || depth == 0 {
		return
	}
	switch v[i] {
	case '[':
		s := array(v)
		for e, ok := s.element(); ok; e, ok = s.element() {
			unwrap(e, depth-1, f)
		}
	case '"':
		f(block{kind: "text", raw: v[i:]})
	case '{':
		kind := text(field(v, "type"))
		switch kind {
		case "content":
			unwrap(field(v, "content"), depth-1, f)
		case "text", "image", "audio", "resource_link", "resource", "diff", "terminal":
			f(block{kind: kind, raw: v})
		default:
			if kind == "" && field(v, "text") != nil {
				f(block{kind: "text", raw: v})
				return
			}
			f(block{raw: v})
		}
	}
}

// text gives how the block reads as text, and whether that is all there is to
// it. A diff and a terminal have no text.
func (b block) text() (form string, isText bool) {
	switch b.kind {
	case "text":
		if b.raw[0] == '"' {
			return text(b.raw), true
		}
		return text(field(b.raw, "text")), true
	case "resource_link":
		uri := text(field(b.raw, "uri"))
		return "[" + first(text(field(b.raw, "name")), uri) + "](" + uri + ")", true
	case "resource":
		if v := field(b.raw, "resource", "text"); v != nil {
			return text(v), true
		}
		return label("resource", text(field(b.raw, "resource", "mimeType"))), false
	case "image", "audio":
		return label(b.kind, text(field(b.raw, "mimeType"))), false
	}
	return "", false
}

func label(kind, mime string) string { return "[" + strings.TrimSpace(kind+" "+mime) + "]" }

// media gives the block as a Media event of a call, or of the message.
func (b block) media(call string) (agentstream.Media, bool) {
	v := b.raw
	data := "data"
	switch b.kind {
	case "image", "audio", "resource_link":
	case "resource":
		v, data = field(v, "resource"), "blob"
	default:
		return agentstream.Media{}, false
	}
	return agentstream.Media{
		ID:       call,
		MIMEType: text(field(v, "mimeType")),
		URI:      text(field(v, "uri")),
		Data:     text(field(v, data)),
		Name:     text(field(v, "name")),
	}, true
}

// diffs gives the changes of a diff block: one with its texts, or the draft's
// list of changes with a patch.
func (b block) diffs(call string) []agentstream.Diff {
	if path := field(b.raw, "path"); path != nil {
		d := agentstream.Diff{ID: call, Path: text(path), New: text(field(b.raw, "newText"))}
		if old := field(b.raw, "oldText"); old != nil {
			was := text(old)
			d.Old = &was
		}
		return []agentstream.Diff{d}
	}
	patch := text(field(b.raw, "patch", "text"))
	var out []agentstream.Diff
	s := array(field(b.raw, "changes"))
	for v, ok := s.element(); ok; v, ok = s.element() {
		path := text(field(v, "path"))
		if path == "" {
			continue
		}
		was, is := hunks(patch, path)
		d := agentstream.Diff{ID: call, Path: path, New: is}
		if op := text(field(v, "operation")); op != "add" && op != "create" {
			d.Old = &was
		}
		out = append(out, d)
	}
	return out
}

// hunks gives what a git patch shows of a file, before and after. A patch of
// one file need not name it.
func hunks(patch, path string) (was, is string) {
	var a, b strings.Builder
	several := strings.Count(patch, "diff --git ") > 1
	mine, inside := !several, false
	for line := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(line, "diff --git "):
			mine, inside = !several || strings.HasSuffix(strings.TrimSpace(line), path), false
		case strings.HasPrefix(line, "@@"):
			inside = true
		case !mine || !inside || strings.HasPrefix(line, `\`):
		case strings.HasPrefix(line, "-"):
			a.WriteString(line[1:])
		case strings.HasPrefix(line, "+"):
			b.WriteString(line[1:])
		case strings.HasPrefix(line, " "):
			a.WriteString(line[1:])
			b.WriteString(line[1:])
		}
	}
	return a.String(), b.String()
}

// diffLine says in a line what a change did.
func diffLine(d agentstream.Diff) string {
	switch {
	case d.Old == nil || *d.Old == "":
		return "Created " + d.Path
	case d.New == "":
		return "Deleted " + d.Path
	}
	return "Edited " + d.Path
}

// locations reads the files that a call touches. A line number may be a string.
func locations(v []byte) []agentstream.Location {
	var out []agentstream.Location
	s := array(v)
	for e, ok := s.element(); ok; e, ok = s.element() {
		path := text(field(e, "path"))
		if path == "" {
			path = text(e)
		}
		if path != "" {
			out = append(out, agentstream.Location{Path: path, Line: count(field(e, "line"))})
		}
	}
	return out
}

// raw is v as a Raw event, v being one JSON value.
func raw(v []byte) agentstream.Raw {
	data, ok := compact(v)
	if !ok {
		data = []byte("null")
	}
	return agentstream.Raw{Source: "acp", Data: data}
}

func (w *turn) unknown(u *update) { w.send(raw(u.raw)) }

func first(candidates ...string) string {
	for _, c := range candidates {
		if c != "" {
			return c
		}
	}
	return ""
}
