package eventlogtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/eventlog"
)

var viewTests = map[string]func(*testing.T, *bench){
	"view/one moment":     testOneMoment,
	"view/keys":           testKeys,
	"view/records":        testRecords,
	"view/nested":         testNested,
	"view/unknown thread": testViewUnknown,
	"view/error":          testViewError,
}

func testOneMoment(t *testing.T, b *bench) {
	b.append(eventlog.Batch{Thread: "t", Events: events("a"), Put: entries("k", "1"), PutGlobal: entries("g", "1")})
	var before, after []string
	err := b.log.View(b.ctx, "t", func(v eventlog.View) (err error) {
		// The log goes on before the view has read anything.
		c := b.append(eventlog.Batch{Thread: "t", Events: events("b"), Put: entries("k", "2", "l", "2"), PutGlobal: entries("g", "2")})
		if before, err = describe(v); err != nil {
			return err
		}
		head, err := v.Head()
		if head.Seq != 1 || head.Gen != c.Gen {
			t.Errorf("the view's head is %v", head)
		}
		b.append(eventlog.Batch{Thread: "t", Events: events("c"), Delete: []string{"k"}})
		if after, err = describe(v); err != nil {
			return err
		}
		return b.log.View(b.ctx, "t", func(v eventlog.View) error {
			head, err := v.Head()
			if head.Seq != 3 {
				t.Errorf("a later view's head is %v", head)
			}
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"1 1 run a", "k=1", "global g=1"}
	if diff := cmp.Diff(want, before); diff != "" {
		t.Errorf("at first (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, after); diff != "" {
		t.Errorf("later (-want +got):\n%s", diff)
	}
	b.want("t", "1 1 run a", "2 1 run b", "3 1 run c", "l=2", "global g=2")
}

func testKeys(t *testing.T, b *bench) {
	keys := []string{"a", "a/", "a/1", "a/10", "a/2", "a/\xff", "a/\xff\xff", "b", "\xff", "\xff\xff"}
	var put []eventlog.Entry
	for _, k := range keys {
		put = append(put, eventlog.Entry{Key: k, Value: []byte("v" + k)})
	}
	b.append(eventlog.Batch{Thread: "u", Put: entries("a/0", "another's")})
	b.append(eventlog.Batch{Thread: "t", Put: put, PutGlobal: put})
	list := func(v eventlog.View, global bool, prefix, after string, limit int) string {
		seq := v.Keys(prefix, after, limit)
		if global {
			seq = v.GlobalKeys(prefix, after, limit)
		}
		var got []string
		for e, err := range seq {
			if err != nil || string(e.Value) != "v"+e.Key {
				t.Errorf("key %q: %q, %v", e.Key, e.Value, err)
			}
			got = append(got, e.Key)
		}
		return strings.Join(got, " ")
	}
	err := b.log.View(b.ctx, "t", func(v eventlog.View) error {
		for _, global := range []bool{false, true} {
			for _, c := range []struct {
				prefix, after string
				limit         int
				want          string
			}{
				{"", "", 0, strings.Join(keys, " ")},
				{"", "", 3, "a a/ a/1"},
				{"", "a/2", 2, "a/\xff a/\xff\xff"},
				{"a/", "", 0, "a/ a/1 a/10 a/2 a/\xff a/\xff\xff"},
				{"a/", "a/1", 0, "a/10 a/2 a/\xff a/\xff\xff"},
				{"a/1", "", 0, "a/1 a/10"},
				{"a/", "b", 0, ""},
				{"a/\xff", "", 0, "a/\xff a/\xff\xff"},
				{"\xff", "", 0, "\xff \xff\xff"},
				{"\xff", "\xff", 0, "\xff\xff"},
				{"c", "", 0, ""},
				{"b", "a", 1, "b"},
			} {
				if got := list(v, global, c.prefix, c.after, c.limit); got != c.want {
					t.Errorf("prefix %q, after %q, limit %d: got %q, want %q", c.prefix, c.after, c.limit, got, c.want)
				}
			}
		}
		value, err := v.Get("a/3")
		if value != nil || err != nil {
			t.Errorf("a missing key has the value %q, %v", value, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	var many []eventlog.Entry
	for i := range 1000 {
		many = append(many, eventlog.Entry{Key: fmt.Sprintf("%04d", i), Value: []byte(fmt.Sprintf("v%04d", i))})
	}
	b.append(eventlog.Batch{Thread: "many", Put: many})
	err = b.log.View(b.ctx, "many", func(v eventlog.View) error {
		if got := strings.Fields(list(v, false, "", "", 0)); len(got) != 1000 || got[999] != "0999" {
			t.Errorf("of 1000 keys %d came", len(got))
		}
		if got := strings.Fields(list(v, false, "", "0100", 600)); len(got) != 600 || got[0] != "0101" || got[599] != "0700" {
			t.Errorf("of 600 keys %d came", len(got))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func testRecords(t *testing.T, b *bench) {
	b.write("t", "1", "2", "3")
	b.write("t", "4")
	b.write("t", "5", "6")
	err := b.log.View(b.ctx, "t", func(v eventlog.View) error {
		for _, c := range []struct {
			after uint64
			limit int
			want  string
		}{
			{0, 0, "1 2 3 4 5 6"}, {0, 2, "1 2"}, {1, 0, "2 3 4 5 6"}, {2, 3, "3 4 5"}, {3, 1, "4"},
			{4, 9, "5 6"}, {5, 0, "6"}, {6, 0, ""}, {7, 0, ""}, {1<<64 - 1, 0, ""},
		} {
			var got []eventlog.Record
			for r, err := range v.Records(c.after, c.limit) {
				if err != nil {
					return err
				}
				got = append(got, r)
			}
			if s := texts(got); s != c.want {
				t.Errorf("after %d, limit %d: got %q, want %q", c.after, c.limit, s, c.want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// testNested asks for one thing while it is in the middle of the same thing.
func testNested(t *testing.T, b *bench) {
	b.append(eventlog.Batch{Thread: "t", Events: events("1", "2"), Put: entries("a", "1", "b", "2")})
	var got []string
	err := b.log.View(b.ctx, "t", func(v eventlog.View) error {
		for r, err := range v.Records(0, 0) {
			if err != nil {
				return err
			}
			for e, err := range v.Keys("", "", 0) {
				if err != nil {
					return err
				}
				value, err := v.Get("b")
				if err != nil {
					return err
				}
				for s, err := range v.Records(1, 0) {
					if err != nil {
						return err
					}
					got = append(got, fmt.Sprintf("%s%s%s%s", r.Data, e.Key, value, s.Data))
				}
			}
			break // the rest is not read
		}
		for e := range v.Keys("", "", 0) {
			got = append(got, e.Key)
			break
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if s := strings.Join(got, " "); s != "1a22 1b22 a" {
		t.Errorf("got %s", s)
	}
}

func testViewUnknown(t *testing.T, b *bench) {
	b.append(eventlog.Batch{PutGlobal: entries("g", "1")})
	for _, thread := range []string{"", "unknown"} {
		err := b.log.View(b.ctx, thread, func(v eventlog.View) error {
			head, err := v.Head()
			value, err2 := v.Get("g")
			if !head.IsZero() || value != nil {
				t.Errorf("thread %q: head %v, value %q", thread, head, value)
			}
			return errors.Join(err, err2)
		})
		if err != nil {
			t.Errorf("thread %q: %v", thread, err)
		}
		b.want(thread, "global g=1")
	}
}

func testViewError(t *testing.T, b *bench) {
	mine := errors.New("mine")
	if err := b.log.View(b.ctx, "t", func(eventlog.View) error { return mine }); err != mine {
		t.Errorf("got %v", err)
	}
	b.write("t", "a")
	b.want("t", "1 1 run a")
}
