package agui

import (
	"bytes"
	"encoding/json"
	"math/big"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// node is a JSON value that can be changed. Objects keep the order of their
// members, scalars their text.
type node struct {
	kind     byte // '{', '[', or that of a scalar
	scalar   json.RawMessage
	names    []string
	members  map[string]*node
	elements []*node
}

// parseTree reads a JSON value, or returns nil if it is none.
func parseTree(raw []byte) *node {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw), tolerant, duplicates)
	n, err := readNode(d)
	if err != nil {
		return nil
	}
	if _, err := d.ReadToken(); err == nil { // something follows
		return nil
	}
	return n
}

func readNode(d *jsontext.Decoder) (*node, error) {
	switch d.PeekKind() {
	case '{':
		return readObject(d)
	case '[':
		return readArray(d)
	}
	v, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	return &node{kind: byte(v.Kind()), scalar: json.RawMessage(v.Clone())}, nil
}

func readObject(d *jsontext.Decoder) (*node, error) {
	n := &node{kind: '{', members: map[string]*node{}}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != '}' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		member, err := readNode(d)
		if err != nil {
			return nil, err
		}
		n.put(name, member)
	}
	_, err := d.ReadToken()
	return n, err
}

func readArray(d *jsontext.Decoder) (*node, error) {
	n := &node{kind: '['}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	for d.PeekKind() != ']' {
		e, err := readNode(d)
		if err != nil {
			return nil, err
		}
		n.elements = append(n.elements, e)
	}
	_, err := d.ReadToken()
	return n, err
}

func (n *node) put(name string, v *node) {
	if _, ok := n.members[name]; !ok {
		n.names = append(n.names, name)
	}
	n.members[name] = v
}

func (n *node) drop(name string) {
	delete(n.members, name)
	n.names = slices.DeleteFunc(n.names, func(s string) bool { return s == name })
}

func (n *node) clone() *node {
	c := *n
	c.names = slices.Clone(n.names)
	c.elements = make([]*node, len(n.elements))
	for i, e := range n.elements {
		c.elements[i] = e.clone()
	}
	if n.members != nil {
		c.members = make(map[string]*node, len(n.members))
		for name, m := range n.members {
			c.members[name] = m.clone()
		}
	}
	return &c
}

func (n *node) append(w *encoder) {
	switch n.kind {
	case '{':
		start := len(w.buf)
		for _, name := range n.names {
			w.buf = appendString(append(w.buf, ','), name)
			w.buf = append(w.buf, ':')
			n.members[name].append(w)
		}
		w.close(start, '{', '}')
	case '[':
		w.each("", len(n.elements), func(i int) { n.elements[i].append(w) })
	default:
		w.buf = append(w.buf, n.scalar...)
	}
}

// equal compares as RFC 6902's test does: numbers by value, strings by their
// characters, objects whatever their order.
func (n *node) equal(m *node) bool {
	if n.kind != m.kind || len(n.elements) != len(m.elements) || len(n.members) != len(m.members) {
		return false
	}
	switch n.kind {
	case '{':
		for name, v := range n.members {
			if other := m.members[name]; other == nil || !v.equal(other) {
				return false
			}
		}
		return true
	case '[':
		return slices.EqualFunc(n.elements, m.elements, (*node).equal)
	case '"':
		a, _ := unquote(n.scalar)
		b, _ := unquote(m.scalar)
		return a == b
	case '0':
		return sameNumber(string(n.scalar), string(m.scalar))
	}
	return bytes.Equal(n.scalar, m.scalar)
}

// sameNumber compares as ECMAScript does, by the nearest double.
func sameNumber(a, b string) bool {
	x, _, errA := big.ParseFloat(a, 10, 53, big.ToNearestEven)
	y, _, errB := big.ParseFloat(b, 10, 53, big.ToNearestEven)
	return a == b || errA == nil && errB == nil && x.Cmp(y) == 0
}

// document is a JSON value that patches change: as text until the first patch,
// then as a tree until the text is asked for.
type document struct {
	text json.RawMessage
	tree *node
}

func (d *document) set(raw json.RawMessage) { d.text, d.tree = raw, nil }

func (d *document) raw() json.RawMessage {
	if d.text == nil && d.tree != nil {
		var w encoder
		d.tree.append(&w)
		d.text = w.buf
	}
	return d.text
}

func (d *document) clone() document { return document{text: slices.Clip(d.raw())} }

// patch applies a JSON Patch as a whole or not at all, and reports which.
func (d *document) patch(patch json.RawMessage) bool {
	tree := d.tree
	if tree == nil && d.text != nil {
		tree = parseTree(d.text)
	}
	patched, ok := applyPatch(tree, patch)
	if ok {
		d.tree, d.text = patched, nil
	}
	return ok
}

// mergeMetadata puts the members of add into the object at target; a member
// that comes again replaces the earlier one, whatever it holds.
func mergeMetadata(target *json.RawMessage, add json.RawMessage) {
	if len(add) == 0 || !isObject(add) {
		return
	}
	if len(*target) == 0 {
		*target = add
		return
	}
	base, more := parseTree(*target), parseTree(add)
	if base == nil || base.kind != '{' || more == nil {
		*target = add
		return
	}
	for _, name := range more.names {
		base.put(name, more.members[name])
	}
	var w encoder
	base.append(&w)
	*target = w.buf
}

// validText is s as a client gets it: invalid UTF-8 replaced, byte by byte.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}
