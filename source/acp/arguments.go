package acp

import "bytes"

// origin says where arguments come from. It decides what may replace them and
// when they count as complete.
type origin byte

const (
	announced  origin = iota // a tool_call
	updated                  // a tool_call_update
	permission               // a permission: a view for whoever approves, seldom the arguments themselves
)

// hasArguments reports whether v says anything: {}, "", [] and null only
// announce.
func hasArguments(v []byte) bool {
	v = bytes.TrimSpace(v)
	switch string(v) {
	case "", "null", `""`:
		return false
	}
	switch v[0] {
	case '{':
		s := object(v)
		_, _, ok := s.member()
		return ok
	case '[':
		s := array(v)
		_, ok := s.element()
		return ok
	}
	return true
}

// sameJSON reports whether a and b mean the same: the order of names and the
// way of writing strings do not count, numbers are compared as they stand.
func sameJSON(a, b []byte) bool { return same(a, b, 200) }

func same(a, b []byte, depth int) bool {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if bytes.Equal(a, b) {
		return true
	}
	if len(a) == 0 || len(b) == 0 || a[0] != b[0] || depth == 0 {
		return false
	}
	switch a[0] {
	case '"':
		return text(a) == text(b)
	case '[':
		return sameElements(a, b, depth-1)
	case '{':
		return sameMembers(a, b, depth-1)
	}
	return false
}

func sameElements(a, b []byte, depth int) bool {
	x, y := array(a), array(b)
	for {
		v, ok := x.element()
		w, also := y.element()
		if !ok || !also {
			return ok == also
		}
		if !same(v, w, depth) {
			return false
		}
	}
}

func sameMembers(a, b []byte, depth int) bool {
	x, y := membersOf(a), membersOf(b)
	if len(x) != len(y) {
		return false
	}
	for name, v := range x {
		w, ok := y[name]
		if !ok || !same(v, w, depth) {
			return false
		}
	}
	return true
}

func membersOf(v []byte) map[string][]byte {
	m := map[string][]byte{}
	s := object(v)
	for name, value, ok := s.member(); ok; name, value, ok = s.member() {
		m[string(name)] = value
	}
	return m
}
