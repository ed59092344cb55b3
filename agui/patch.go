package agui

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// operation is one of RFC 6902.
type operation struct {
	op, path, from string
	value          *node
	clamp          bool // an index behind the end means the end: moves and copies
}

// applyPatch returns root with a patch applied, or false and root unchanged.
// root nil is no document at all. It accepts and refuses what the clients'
// library does, also where that is looser than the RFC.
func applyPatch(root *node, patch json.RawMessage) (*node, bool) {
	list := parseTree(patch)
	if list == nil || list.kind != '[' {
		return root, false
	}
	doc := root
	if doc != nil {
		doc = doc.clone()
	}
	for _, e := range list.elements {
		op, ok := readOperation(e)
		if !ok {
			return root, false
		}
		if doc, ok = op.apply(doc); !ok {
			return root, false
		}
	}
	return doc, true
}

func readOperation(n *node) (operation, bool) {
	if n.kind != '{' {
		return operation{}, false
	}
	text := func(name string) (string, bool) {
		if m := n.members[name]; m != nil {
			return unquote(m.scalar)
		}
		return "", false
	}
	op, _ := text("op")
	path, ok := text("path")
	from, hasFrom := text("from")
	o := operation{op: op, path: path, from: from, value: n.members["value"]}
	if !ok || path != "" && path[0] != '/' {
		return o, false
	}
	if banned(path) || banned(from) {
		return o, false
	}
	switch op {
	case "add", "replace", "test":
		return o, o.value != nil
	case "move", "copy":
		return o, hasFrom
	}
	return o, op == "remove"
}

// banned paths are those that would reach a prototype in a browser.
func banned(path string) bool {
	return strings.Contains(path+"/", "/__proto__/") || strings.Contains(path+"/", "/constructor/prototype/")
}

func (o operation) apply(doc *node) (*node, bool) {
	switch o.op {
	case "move":
		v, ok := lookup(doc, o.from)
		if !ok || o.path == "" {
			return v, ok
		}
		if strings.HasPrefix(o.path, o.from+"/") { // into itself
			return nil, false
		}
		doc, ok = (operation{op: "remove", path: o.from}).apply(doc)
		if !ok {
			return nil, false
		}
		return (operation{op: "add", path: o.path, value: v, clamp: true}).apply(doc)
	case "copy":
		v, ok := lookup(doc, o.from)
		if !ok {
			return nil, false
		}
		return (operation{op: "add", path: o.path, value: v, clamp: true}).apply(doc)
	}
	if o.path == "" {
		return o.applyRoot(doc)
	}
	tokens := tokens(o.path)
	last := len(tokens) - 1
	parent, ok := walk(doc, tokens[:last])
	if !ok {
		return nil, false
	}
	if parent.kind == '[' {
		return doc, o.applyElement(parent, tokens[last])
	}
	return doc, o.applyMember(parent, tokens[last])
}

func (o operation) applyRoot(doc *node) (*node, bool) {
	switch o.op {
	case "remove":
		return &node{kind: 'n', scalar: json.RawMessage("null")}, true
	case "test":
		return doc, doc != nil && doc.equal(o.value)
	}
	return o.value.clone(), true
}

func (o operation) applyMember(parent *node, name string) bool {
	if parent.kind != '{' {
		return false
	}
	old, exists := parent.members[name]
	switch o.op {
	case "add":
		parent.put(name, o.value.clone())
		return true
	case "test":
		return exists && old.equal(o.value)
	case "replace":
		if exists {
			parent.put(name, o.value.clone())
		}
	case "remove":
		parent.drop(name)
	}
	return exists
}

func (o operation) applyElement(parent *node, token string) bool {
	size := len(parent.elements)
	i, ok := index(token, size)
	if o.clamp {
		i = min(i, size)
	}
	if !ok || i > size || o.op != "add" && (i == size || token != strconv.Itoa(i)) {
		return false
	}
	switch o.op {
	case "add":
		parent.elements = slices.Insert(parent.elements, i, o.value.clone())
	case "replace":
		parent.elements[i] = o.value.clone()
	case "remove":
		parent.elements = slices.Delete(parent.elements, i, i+1)
	case "test":
		return parent.elements[i].equal(o.value)
	}
	return true
}

func index(token string, size int) (int, bool) {
	if token == "-" {
		return size, true
	}
	if token == "" || strings.Trim(token, "0123456789") != "" {
		return 0, false
	}
	i, err := strconv.Atoi(token)
	return i, err == nil
}

func tokens(path string) []string {
	list := strings.Split(path[1:], "/")
	for i, t := range list {
		if strings.Contains(t, "~") {
			list[i] = strings.ReplaceAll(strings.ReplaceAll(t, "~1", "/"), "~0", "~")
		}
	}
	return list
}

// walk goes down from n; every step must lead somewhere.
func walk(n *node, tokens []string) (*node, bool) {
	if n == nil {
		return nil, false
	}
	for _, t := range tokens {
		switch n.kind {
		case '{':
			n = n.members[t]
		case '[':
			i, ok := index(t, len(n.elements))
			if !ok || i >= len(n.elements) || t != strconv.Itoa(i) {
				return nil, false
			}
			n = n.elements[i]
		default:
			return nil, false
		}
		if n == nil {
			return nil, false
		}
	}
	return n, true
}

func lookup(doc *node, path string) (*node, bool) {
	if path == "" {
		return doc, doc != nil
	}
	if path[0] != '/' {
		return nil, false
	}
	return walk(doc, tokens(path))
}
