package round

import "testing"

// FuzzBuilder makes a turn of any bytes and holds it to everything that is
// promised; then it cuts the turn and restores it.
func FuzzBuilder(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x20\x03\x00\x01\x20\x07\x00\x05\x20\x0a\x00\x01\x20\x00\x00"))
	f.Add([]byte{0, 1, 2, 20, 3, 1, 1, 21, 7, 1, 5, 22, 6, 1, 23, 10, 1, 1, 24, 0, 3, 5, 9, 1, 2, 3})
	f.Fuzz(func(t *testing.T, data []byte) {
		c := &fromBytes{data: data}
		cut := c.pick(256)
		var script []step
		for suspended := false; !c.empty() && len(script) < 200; {
			script = append(script, steps(c, &suspended)...)
		}
		checkScript(t, script, "failed")
		checkScript(t, withoutRich(script), "")
		if cut <= len(script) {
			checkRestore(t, script[:cut], "failed")
		}
		if t.Failed() {
			t.Log(show(script))
		}
	})
}

// FuzzArguments: whatever arguments are, a round has an object, and what means
// the same is the same both ways.
func FuzzArguments(f *testing.F) {
	for _, s := range shots {
		f.Add(s, s)
	}
	f.Add(`{"a":1,"a":2}`, `{"a":2}`)
	f.Fuzz(func(t *testing.T, a, b string) {
		made, as := object([]byte(a))
		if _, ok := object(made); !ok {
			t.Errorf("%q becomes %q", a, made)
		}
		if as != (string(made) == a) && !(a == "{}" && as) {
			if as || string(made) != "{}" {
				t.Errorf("%q becomes %q, an object before: %v", a, made, as)
			}
		}
		if !equalJSON([]byte(a), []byte(a)) || equalJSON([]byte(a), []byte(b)) != equalJSON([]byte(b), []byte(a)) {
			t.Errorf("%q and %q", a, b)
		}
		if announces(a) && as && !equalJSON(made, []byte("{}")) {
			t.Errorf("%q only announces, and is %q", a, made)
		}
	})
}
