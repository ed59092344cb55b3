package agui_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// patches are cases in which libraries differ; "" means that the patch fails and
// nothing changes.
var patches = []struct{ doc, patch, want string }{
	{`{"a":1}`, `[{"op":"add","path":"/b","value":2}]`, `{"a":1,"b":2}`},
	{`{"a":[1,2]}`, `[{"op":"add","path":"/a/1","value":9}]`, `{"a":[1,9,2]}`},
	{`{"a":[1,2]}`, `[{"op":"add","path":"/a/-","value":9}]`, `{"a":[1,2,9]}`},
	{`{"a":[1,2]}`, `[{"op":"add","path":"/a/3","value":9}]`, ``},
	{`{"a":[1,2]}`, `[{"op":"add","path":"/a/x","value":9}]`, ``},
	{`{"a":1}`, `[{"op":"add","path":"/b/c","value":9}]`, ``},
	{`{"a":1}`, `[{"op":"add","path":"/a/c","value":9}]`, ``},
	{`{"a":null}`, `[{"op":"add","path":"/a/c","value":9}]`, ``},
	{`{"a":1}`, `[{"op":"replace","path":"/b","value":2}]`, ``},
	{`{"a":1}`, `[{"op":"replace","path":"/a","value":null}]`, `{"a":null}`},
	{`{"a":1}`, `[{"op":"replace","path":"","value":[1]}]`, `[1]`},
	{`{"a":1}`, `[{"op":"add","path":"","value":"s"}]`, `"s"`},
	{`{"a":1}`, `[{"op":"remove","path":"/a"}]`, `{}`},
	{`{"a":1}`, `[{"op":"remove","path":"/b"}]`, ``},
	{`{"a":1}`, `[{"op":"remove","path":""}]`, `null`},
	{`{"a":[1,2,3]}`, `[{"op":"remove","path":"/a/0"}]`, `{"a":[2,3]}`},
	{`{"a":[1]}`, `[{"op":"remove","path":"/a/1"}]`, ``},
	{`{"a":[1]}`, `[{"op":"remove","path":"/a/-"}]`, ``},
	{`{"a":{"b":1}}`, `[{"op":"move","from":"/a/b","path":"/c"}]`, `{"a":{},"c":1}`},
	{`{"a":[1,2,3]}`, `[{"op":"move","from":"/a/0","path":"/a/2"}]`, `{"a":[2,3,1]}`},
	{`{"a":[1,2,3],"b":0}`, `[{"op":"move","from":"/b","path":"/a/9"}]`, `{"a":[1,2,3,0]}`},
	{`{"a":[1]}`, `[{"op":"copy","from":"/a","path":"/a/5"}]`, `{"a":[1,[1]]}`},
	{`{"a":{"b":1}}`, `[{"op":"move","from":"/a","path":"/a/b/c"}]`, ``},
	{`{"a":1}`, `[{"op":"move","from":"/x","path":"/b"}]`, ``},
	{`{"a":1}`, `[{"op":"move","from":"/a","path":"/a"}]`, `{"a":1}`},
	{`{"a":{"b":1}}`, `[{"op":"copy","from":"/a","path":"/c"},{"op":"add","path":"/c/d","value":2}]`, `{"a":{"b":1},"c":{"b":1,"d":2}}`},
	{`{"a":{"b":1}}`, `[{"op":"copy","from":"/a","path":""}]`, `{"b":1}`},
	{`{"a":1.0}`, `[{"op":"test","path":"/a","value":1},{"op":"add","path":"/b","value":2}]`, `{"a":1,"b":2}`},
	{`{"a":{"x":1,"y":[2]}}`, `[{"op":"test","path":"/a","value":{"y":[2],"x":1}},{"op":"remove","path":"/a"}]`, `{}`},
	{`{"a":1}`, `[{"op":"add","path":"/b","value":2},{"op":"test","path":"/a","value":3}]`, ``},
	{`{"a":"é"}`, `[{"op":"test","path":"/a","value":"\u00e9"},{"op":"remove","path":"/a"}]`, `{}`},
	{`{"a/b":1,"m~n":2}`, `[{"op":"remove","path":"/a~1b"},{"op":"replace","path":"/m~0n","value":3}]`, `{"m~n":3}`},
	{`{"":1}`, `[{"op":"replace","path":"/","value":3}]`, `{"":3}`},
	{`{"a":1}`, `[{"op":"add","path":"/__proto__","value":{"x":1}}]`, ``},
	{`{"a":[1]}`, `[{"op":"replace","path":"/a/00","value":2}]`, ``},
	{`{"a":1}`, `[]`, `{"a":1}`},
}

func patchEvents(doc string, patches ...string) [][]byte {
	events := [][]byte{[]byte(started), []byte(`{"type":"STATE_SNAPSHOT","snapshot":` + doc + `}`)}
	for _, p := range patches {
		events = append(events, []byte(`{"type":"STATE_DELTA","delta":`+p+`}`))
	}
	return append(events, []byte(finished))
}

func patched(t *testing.T, doc string, patches ...string) json.RawMessage {
	l := agui.NewList()
	fold(t, l, patchEvents(doc, patches...))
	return l.State()
}

func TestPatch(t *testing.T) {
	for _, p := range patches {
		want := p.want
		if want == "" {
			want = p.doc
		}
		got := patched(t, p.doc, p.patch)
		if diff := cmp.Diff(jsonValue(t, []byte(want)), jsonValue(t, got)); diff != "" {
			t.Errorf("%s on %s (-want +got):\n%s", p.patch, p.doc, diff)
		}
	}
}

// The table is what the clients do, warning included.
func TestPatchAsTheClientsDo(t *testing.T) {
	clients := aguitest.Clients(t)
	for _, p := range patches {
		for _, v := range aguitest.Versions {
			r := clients.Replay(v, patchEvents(p.doc, p.patch)...)
			want := p.want
			if want == "" {
				want = p.doc
			}
			if v == agui.V0 && want == "null" {
				continue // it takes no null state
			}
			if diff := cmp.Diff(jsonValue(t, []byte(want)), jsonValue(t, r.State)); diff != "" || (len(r.Warnings) > 0) != (p.want == "") {
				t.Errorf("%s: %s on %s: warnings %q (-want +got):\n%s", v, p.patch, p.doc, r.Warnings, diff)
			}
		}
	}
}

func TestRandomPatchesAsTheClientsDo(t *testing.T) {
	clients := aguitest.Clients(t)
	r := newRand(t)
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	path := func() string {
		var b strings.Builder
		for range r.IntN(3) + 1 {
			b.WriteString("/" + pick("a", "b", "c", "0", "1", "2", "-"))
		}
		return b.String()
	}
	value := func() string { return pick(`1`, `"s"`, `null`, `{"a":{"b":[1]}}`, `[{"a":1},2]`, `[]`) }
	for i := range 200 {
		doc := `{"a":` + value() + `,"b":` + value() + `,"c":` + value() + `}`
		var list []string
		for range 20 {
			op := fmt.Sprintf(`{"op":%q,"path":%q,"from":%q,"value":%s}`, pick("add", "add", "remove", "replace", "move", "copy", "test"), path(), path(), value())
			list = append(list, "["+op+"]")
		}
		got := patched(t, doc, list...)
		for _, v := range aguitest.Versions {
			report := clients.Replay(v, patchEvents(doc, list...)...)
			if diff := cmp.Diff(jsonValue(t, report.State), jsonValue(t, got)); diff != "" {
				t.Fatalf("%d, %s: (-client +list):\n%s\n%s\n%s", i, v, diff, doc, strings.Join(list, "\n"))
			}
		}
	}
}

func FuzzPatch(f *testing.F) {
	for _, p := range patches {
		f.Add(p.doc, p.patch)
	}
	f.Fuzz(func(t *testing.T, doc, patch string) {
		l := agui.NewList()
		l.SetState(json.RawMessage(doc))
		l.Apply(&agui.StateDelta{Delta: json.RawMessage(patch)})
		if json.Valid([]byte(doc)) && !json.Valid(l.State()) {
			t.Errorf("%q on %q gives %q", patch, doc, l.State())
		}
	})
}
