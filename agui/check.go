package agui

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// checker compares JSON with the shapes of one client. An error means that the
// client rejects the event or warns about it.
type checker struct{ version Version }

// checkFields says what one client would not take of an encoded event.
func checkFields(data []byte, v Version) error {
	members, err := readMembers(data)
	if err != nil {
		return err
	}
	name, _ := unquote(members.get("type"))
	s, ok := shapes[name]
	if !ok || !Type(name).known() {
		return fmt.Errorf("%q is no type of event", name)
	}
	if err := (checker{v}).object(members, s, "type"); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (t Type) known() bool { _, ok := catalogue[string(t)]; return ok }

type member struct {
	name  string
	value jsontext.Value
}

type members []member

func (m members) get(name string) jsontext.Value {
	for _, one := range slices.Backward(m) { // of equal names a client takes the last
		if one.name == name {
			return one.value
		}
	}
	return nil
}

func readMembers(data []byte) (members, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(data), tolerant, duplicates)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, errors.New("not a JSON object")
	}
	var list members
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, fieldError(err)
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, fieldError(err)
		}
		list = append(list, member{key, value.Clone()})
	}
	_, err := d.ReadToken()
	return list, err
}

func (c checker) object(list members, s *shape, tag string) error {
	for _, m := range list {
		if m.name == tag {
			continue
		}
		r, ok := s.fields[m.name]
		if !ok {
			if c.version == V0 {
				continue // it takes what it does not know
			}
			return fmt.Errorf("%s: no such field", m.name)
		}
		if err := c.value(m.value, r, m.name); err != nil {
			return within(m.name, err)
		}
	}
	for _, name := range s.required {
		if s.fields[name].requiredBy(c.version) && list.get(name) == nil {
			return fmt.Errorf("%s: missing", name)
		}
	}
	return nil
}

func within(name string, err error) error {
	if strings.HasPrefix(err.Error(), "[") {
		return fmt.Errorf("%s%w", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (c checker) value(v jsontext.Value, r rule, name string) error {
	if v.Kind() == 'n' {
		return c.null(r, name)
	}
	switch r.kind {
	case "value", "any":
		return nil
	case "array":
		return c.array(v, r.of)
	case "strings", "patch":
		return c.list(v, r.kind)
	case "content", "newcontent":
		return c.content(v, r.kind)
	}
	if s, ok := shapes[r.kind]; ok {
		return c.shaped(v, r.kind, s)
	}
	return c.scalar(v, r)
}

// null is fatal wherever a kind is given; 0.0.59 takes it for two fields whose
// producers are known to write it.
func (c checker) null(r rule, name string) error {
	ok := r.kind == "value" || c.version == V0 && (r.kind == "any" || name == "parentMessageId" || r.kind == "outcome")
	if ok {
		return nil
	}
	return errors.New("null")
}

func (c checker) array(v jsontext.Value, of string) error {
	elements, err := readElements(v)
	if err != nil {
		return err
	}
	if of == "question" && len(elements) == 0 {
		return errors.New("empty")
	}
	ids := map[string]bool{}
	for i, e := range elements {
		if err := c.shaped(e, of, shapes[of]); err != nil {
			return fmt.Errorf("[%d]: %w", i, err)
		}
		if of != "question" {
			continue
		}
		m, _ := readMembers(e)
		id := string(m.get("id"))
		if ids[id] {
			return fmt.Errorf("[%d]: id %s is there twice", i, id)
		}
		ids[id] = true
	}
	return nil
}

func (c checker) list(v jsontext.Value, kind string) error {
	elements, err := readElements(v)
	if err != nil {
		return err
	}
	for i, e := range elements {
		switch {
		case kind == "strings" && e.Kind() != '"':
			return fmt.Errorf("[%d]: not a string", i)
		case kind == "patch":
			if err := c.operation(e); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	}
	return nil
}

// operation checks one of a patch. 0.0.59 looks at it when it applies it, and
// then only warns about what it does not know.
func (c checker) operation(v jsontext.Value) error {
	if c.version == V1 {
		return c.shaped(v, "op", shapes["op"])
	}
	list, err := readMembers(v)
	if err != nil {
		return err
	}
	if op, _ := unquote(list.get("op")); shapes["op"].variants[op] == "" {
		return fmt.Errorf("op: %q is unknown", op)
	}
	return nil
}

func (c checker) content(v jsontext.Value, kind string) error {
	switch {
	case v.Kind() == '"':
		return nil
	case v.Kind() == '[' && (kind == "content" || c.version == V1):
		return c.array(v, "part")
	}
	return errors.New("neither text nor a list of parts that the client knows")
}

func (c checker) shaped(v jsontext.Value, name string, s *shape) error {
	list, err := readMembers(v)
	if err != nil {
		return err
	}
	if s.union == "" {
		return c.object(list, s, "")
	}
	tag, ok := unquote(list.get(s.union))
	variant, known := s.variants[tag]
	if !ok || !known || c.version == V0 && (tag == "cancelled" || tag == "file") {
		return fmt.Errorf("%s: %q is unknown", s.union, tag)
	}
	if name == "outcome" && c.version == V0 {
		if list.get("pendingToolCallIds") != nil {
			return errors.New("pendingToolCallIds: no such field")
		}
		return c.strict(list, shapes[variant], s.union)
	}
	if s.union == "op" { // RFC 6902: other members are ignored
		list = slices.DeleteFunc(list, func(m member) bool { _, ok := shapes[variant].fields[m.name]; return !ok })
	}
	return c.object(list, shapes[variant], s.union)
}

// strict is for the one object in which 0.0.59 takes no unknown field.
func (c checker) strict(list members, s *shape, tag string) error {
	for _, m := range list {
		if _, ok := s.fields[m.name]; !ok && m.name != tag {
			return fmt.Errorf("%s: no such field", m.name)
		}
	}
	return c.object(list, s, tag)
}

func readElements(v jsontext.Value) ([]jsontext.Value, error) {
	if v.Kind() != '[' {
		return nil, errors.New("not an array")
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(v), tolerant, duplicates)
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	var list []jsontext.Value
	for d.PeekKind() != ']' {
		e, err := d.ReadValue()
		if err != nil {
			return nil, fieldError(err)
		}
		list = append(list, e.Clone())
	}
	return list, nil
}

func (c checker) scalar(v jsontext.Value, r rule) error {
	text, isText := unquote(v)
	ok := false
	switch r.kind {
	case "string":
		ok = isText
	case "bool":
		ok = v.Kind() == 't' || v.Kind() == 'f'
	case "object":
		ok = v.Kind() == '{'
	case "literal":
		ok = isText && slices.Contains(r.literal, text)
	case "textrole":
		ok = isText && slices.Contains([]string{"developer", "system", "assistant", "user"}, text)
	case "pointer":
		ok = isText && isPointer(text)
	case "time":
		ok = v.Kind() == '0' && (c.version == V0 || isInteger(v))
	case "count":
		ok = v.Kind() == '0' && isInteger(v) && v[0] != '-'
	}
	if !ok {
		return fmt.Errorf("%s is not right here", clip(v))
	}
	return nil
}

// clip keeps messages short, and what a client sent out of logs.
func clip(v jsontext.Value) string {
	if len(v) > 40 {
		return kindName(v.Kind())
	}
	return string(v)
}

func isInteger(v jsontext.Value) bool {
	f, err := strconv.ParseFloat(string(v), 64)
	return err == nil && f == float64(int64(f)) && f <= 1<<53-1 && f >= -(1<<53-1)
}

func isPointer(s string) bool {
	if s != "" && s[0] != '/' {
		return false
	}
	for i := range len(s) {
		if s[i] == '~' && (i+1 == len(s) || s[i+1] != '0' && s[i+1] != '1') {
			return false
		}
	}
	return true
}
