package blob

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

var tolerant = jsonx.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Cut takes the large texts out of an object, and base64 data beside a MIME type.
// What was taken out is noted in the object itself, under agentstream.blobs, with
// the document's place base before each path. raw is not changed; it is returned
// as it is if there is nothing to do, or it is no object.
func Cut(raw json.RawMessage, base string, keep Keep) json.RawMessage {
	large := largest(raw, nil)
	size := max(small/4, min(head, Large/max(len(large), 1)))
	return cut(raw, base, large, size, keep)
}

// Strip is Cut for a document that only Fill will read: nothing is left of what is
// large, and what is small stays, however much there is. Of the texts only those
// whose paths are wanted count.
func Strip(raw json.RawMessage, wanted func(path string) bool, keep Keep) json.RawMessage {
	return cut(raw, "", largest(raw, wanted), 0, keep)
}

// CutMember takes the value of a member of an object out, whatever it is; a
// preview of its JSON stands in its place.
func CutMember(raw json.RawMessage, base, name string, keep Keep) json.RawMessage {
	m, ok := find(members(raw, 0, len(raw)), name)
	if !ok {
		return raw
	}
	value := raw[m.start:m.end]
	r := Ref{Path: base + string(jsontext.Pointer("").AppendToken(name)), MIMEType: "application/json", Encoding: JSON}
	r.keep(bytes.Clone(value), keep)
	return Note(splice(raw, []edit{{m.start, m.end, quote(preview(string(value), head, r.SHA256))}}), r)
}

// Note writes refs down in an object, behind those that it has; nothing stands
// for an empty object.
func Note(raw json.RawMessage, refs ...Ref) json.RawMessage {
	if len(refs) == 0 {
		return raw
	}
	refs = append(Refs(raw), refs...)
	list, err := jsonx.Marshal(refs)
	if err != nil {
		return raw // strings and numbers can be written
	}
	raw = forget(raw)
	if len(raw) == 0 {
		raw = json.RawMessage("{}")
	}
	text := slices.Concat([]byte(`"blobs":`), list)
	end := bytes.LastIndexByte(raw, '}')
	start := bytes.IndexByte(raw, '{')
	if own, ok := find(members(raw, 0, len(raw)), "agentstream"); ok && raw[own.start] == '{' {
		start, end = own.start, own.end-1
	} else {
		text = slices.Concat([]byte(`"agentstream":{`), text, []byte("}"))
	}
	if end <= start || start < 0 {
		return raw
	}
	if begun := bytes.TrimSpace(raw[start:end]); len(begun) > 1 {
		text = slices.Concat([]byte(","), text)
	}
	return splice(raw, []edit{{end, end, text}})
}

// Refs gives what was taken out of an object.
func Refs(raw json.RawMessage) []Ref {
	var m struct {
		Agentstream struct {
			Blobs []Ref `json:"blobs"`
		} `json:"agentstream"`
	}
	if !bytes.Contains(raw, []byte(`"blobs"`)) || jsonx.Unmarshal(raw, &m, tolerant) != nil {
		return nil
	}
	return m.Agentstream.Blobs
}

// Fill undoes Cut: what was taken out stands in its place again, and nothing says
// that it was away. Of the refs only those with paths below base are for it. An
// error of load is returned as it is.
func Fill(raw json.RawMessage, base string, load func(hash string) ([]byte, error)) (json.RawMessage, error) {
	refs := Refs(raw)
	if len(refs) == 0 {
		return raw, nil
	}
	raw = forget(raw) // while it is small
	var edits []edit
	var failure error
	err := walk(raw, func(l leaf) {
		i := slices.IndexFunc(refs, func(r Ref) bool { return r.Path == base+l.path })
		if i < 0 || failure != nil {
			return
		}
		r := refs[i]
		refs = slices.Delete(refs, i, i+1)
		var payload []byte
		if payload, failure = load(r.SHA256); failure != nil {
			return
		}
		text := payload
		if r.Encoding != JSON {
			text = quote(r.Text(payload))
		} else if !jsontext.Value(text).IsValid(tolerant) {
			failure = fmt.Errorf("blob %s: no JSON, as which it was taken out", r.SHA256)
		}
		edits = append(edits, edit{l.start, l.end, text})
	})
	if err = cmp.Or(failure, err); err != nil {
		return nil, err
	}
	return splice(raw, edits), nil
}

// forget removes the refs from an object, and what is empty without them.
func forget(raw json.RawMessage) json.RawMessage {
	own, ok := find(members(raw, 0, len(raw)), "agentstream")
	if !ok {
		return raw
	}
	inside := members(raw, own.start, own.end)
	blobs, ok := find(inside, "blobs")
	switch {
	case !ok:
		return raw
	case len(inside) == 1:
		return drop(raw, own)
	}
	return drop(raw, blobs)
}

// text is a string that may have to go, with the MIME type beside it.
type text struct {
	leaf
	mime string
}

// largest gives the texts of an object that have to go, in order.
func largest(raw []byte, wanted func(string) bool) []text {
	if len(raw) <= Large || !isObject(raw) {
		return nil
	}
	least := small
	if wanted != nil {
		least = Large
	}
	var all []text
	mimes := map[string]string{} // by the path of the object that has it
	err := walk(raw, func(l leaf) {
		switch {
		case l.called == "mimeType" || l.called == "mime_type":
			mimes[parent(l.path)] = unquote(raw[l.start:l.end])
		case l.size() > least && (wanted == nil || wanted(l.path)):
			all = append(all, text{leaf: l})
		}
	})
	if err != nil {
		return nil
	}
	slices.SortStableFunc(all, func(a, b text) int { return b.size() - a.size() })
	left, n := len(raw), 0
	for n < len(all) && (all[n].size() > Large || left > Crowded) {
		left -= all[n].size()
		n++
	}
	all = all[:n]
	slices.SortFunc(all, func(a, b text) int { return a.start - b.start })
	for i, l := range all {
		if l.called == "data" || l.called == "base64data" {
			all[i].mime = mimes[parent(l.path)]
		}
	}
	return all
}

// cut takes texts out and leaves previews of a size.
func cut(raw []byte, base string, large []text, size int, keep Keep) json.RawMessage {
	if len(large) == 0 {
		return raw
	}
	var edits []edit
	var refs []Ref
	for _, l := range large {
		short, r := take(base+l.path, unquote(raw[l.start:l.end]), l.mime, size, keep)
		edits, refs = append(edits, edit{l.start, l.end, quote(short)}), append(refs, r)
	}
	return Note(splice(raw, edits), refs...)
}

func isObject(raw []byte) bool {
	t := bytes.TrimLeft(raw, space)
	return len(t) > 0 && t[0] == '{'
}

func parent(path string) string { return string(jsontext.Pointer(path).Parent()) }

func unquote(raw []byte) string {
	text, _ := jsontext.AppendUnquote(nil, raw) // what cannot be represented is replaced
	return string(text)
}

func quote(text string) []byte {
	out, _ := jsontext.AppendQuote(nil, text) // what is no UTF-8 is replaced
	return out
}

// leaf is a string inside of a document.
type leaf struct {
	start, end int
	path       string
	called     string // the member's name, "" for an element
}

func (l leaf) size() int { return l.end - l.start }

// walk visits the strings of a document that are values, in order.
func walk(raw []byte, visit func(leaf)) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), tolerant)
	called := ""
	for {
		within, n := d.StackIndex(d.StackDepth())
		if d.PeekKind() != '"' {
			if _, err := d.ReadToken(); err != nil {
				return err
			}
			if d.StackDepth() == 0 {
				return nil
			}
			continue
		}
		v, err := d.ReadValue()
		switch end := int(d.InputOffset()); {
		case err != nil:
			return err
		case within == '{' && n%2 == 0:
			called = unquote(v)
			continue
		case within == '[':
			called = ""
			fallthrough
		default:
			visit(leaf{end - len(v), end, string(d.StackPointer()), called})
		}
		if d.StackDepth() == 0 {
			return nil
		}
	}
}

// member is a member of an object; name is where it begins, and start and end
// are those of its value.
type member struct {
	called           string
	name, start, end int
}

// members are those of an object that stands in raw at an offset; nil if it is
// none.
func members(raw []byte, from, to int) (out []member) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw[from:to:to]), tolerant)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return nil
		}
		m := member{called: unquote(name), name: from + int(d.InputOffset()) - len(name)}
		value, err := d.ReadValue()
		if err != nil {
			return nil
		}
		m.end = from + int(d.InputOffset())
		m.start = m.end - len(value)
		out = append(out, m)
	}
	return out
}

// find gives the last member of that name.
func find(all []member, name string) (member, bool) {
	for _, m := range slices.Backward(all) {
		if m.called == name {
			return m, true
		}
	}
	return member{}, false
}

// drop removes a member and the comma before or behind it.
func drop(raw []byte, m member) json.RawMessage {
	from, to := m.name, m.end
	before := bytes.TrimRight(raw[:from], space)
	after := bytes.TrimLeft(raw[to:], space)
	switch {
	case before[len(before)-1] == ',':
		from = len(before) - 1
	case after[0] == ',':
		to = len(raw) - len(after) + 1
	}
	return splice(raw, []edit{{from, to, nil}})
}

const space = " \t\r\n"

// edit replaces a part of a document.
type edit struct {
	start, end int
	text       []byte
}

// splice makes edits, which are in order and do not overlap, on a copy.
func splice(raw []byte, edits []edit) json.RawMessage {
	size := len(raw)
	for _, e := range edits {
		size += len(e.text) - (e.end - e.start)
	}
	out := make([]byte, 0, size)
	at := 0
	for _, e := range edits {
		out = append(append(out, raw[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, raw[at:]...)
}
