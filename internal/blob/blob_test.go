package blob

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// shelf keeps payloads.
type shelf map[string][]byte

func (s shelf) keep(r Ref, payload []byte) { s[r.SHA256] = payload }

func (s shelf) load(hash string) ([]byte, error) {
	if p, ok := s[hash]; ok {
		return p, nil
	}
	return nil, fmt.Errorf("no blob %s", hash)
}

func object(t *testing.T, v any) json.RawMessage {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func value(t *testing.T, raw json.RawMessage) (v any) {
	t.Helper()
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v: %.200s", err, raw)
	}
	return v
}

type fields = map[string]any

func TestWhatIsTakenOut(t *testing.T) {
	long := strings.Repeat("0123456789abcde\n", Large/16+1)
	picture := bytes.Repeat([]byte{0x89, 'P', 'N', 'G', 0}, Large)
	encoded := base64.StdEncoding.EncodeToString(picture)
	var crowd []any
	for i := range 400 {
		crowd = append(crowd, fields{"path": fmt.Sprint(i), "new": strings.Repeat(fmt.Sprint(i%10), 4<<10)})
	}
	for name, c := range map[string]struct {
		in   any
		want []Ref // without hashes
	}{
		"nothing":        {fields{"a": long[:Large/2]}, nil},
		"a text":         {fields{"a": fields{"b/c": []any{1, long}}}, []Ref{{Path: "/m/a/b~1c/1", Bytes: len(long), MIMEType: "text/plain"}}},
		"beside its own": {fields{"agentstream": fields{"status": "completed", "output": long}}, []Ref{{Path: "/m/agentstream/output", Bytes: len(long), MIMEType: "text/plain"}}},
		"a picture":      {fields{"mimeType": "image/png", "data": encoded}, []Ref{{Path: "/m/data", Bytes: len(picture), MIMEType: "image/png", Encoding: Base64}}},
		"no base64":      {fields{"mimeType": "image/png", "data": long}, []Ref{{Path: "/m/data", Bytes: len(long), MIMEType: "text/plain"}}},
		"output":         {fields{"data": encoded}, []Ref{{Path: "/m/data", Bytes: len(encoded), MIMEType: "text/plain"}}},
		"a data URL":     {fields{"uri": "data:image/png;base64," + encoded}, []Ref{{Path: "/m/uri", Bytes: len(picture), MIMEType: "image/png", Encoding: DataURL}}},
		"no object":      {[]any{long}, nil},
		"two":            {fields{"a": long, "b": long + "b"}, []Ref{{Path: "/m/a", Bytes: len(long), MIMEType: "text/plain"}, {Path: "/m/b", Bytes: len(long) + 1, MIMEType: "text/plain"}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := shelf{}
			in := object(t, c.in)
			before := bytes.Clone(in)
			out := Cut(in, "/m", s.keep)
			if !bytes.Equal(in, before) {
				t.Error("the document itself was changed")
			}
			refs := Refs(out)
			for i := range refs {
				if !IsHash(refs[i].SHA256) || s[refs[i].SHA256] == nil {
					t.Errorf("%+v was not kept", refs[i])
				}
				refs[i].SHA256 = ""
			}
			if diff := cmp.Diff(c.want, refs); diff != "" {
				t.Errorf("refs (-want +got)\n%s", diff)
			}
			if c.want != nil && len(out) > Large {
				t.Errorf("%d bytes are left of %d", len(out), len(in))
			}
			back, err := Fill(out, "/m", s.load)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(value(t, in), value(t, back)); diff != "" {
				t.Errorf("filled again (-want +got)\n%.2000s", diff)
			}
		})
	}
	t.Run("a crowd", func(t *testing.T) {
		s := shelf{}
		in := object(t, fields{"agentstream": fields{"diffs": crowd}})
		out := Cut(in, "", s.keep)
		if len(out) > Crowded+400<<10 || len(out) < Crowded/2 {
			t.Errorf("%d bytes are left of %d", len(out), len(in))
		}
		back, err := Fill(out, "", s.load)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(in, back) {
			t.Error("filled again it is another document")
		}
	})
}

func TestStrip(t *testing.T) {
	s := shelf{}
	long := strings.Repeat("x", Large+1)
	many := strings.Split(strings.Repeat("0123456789"+strings.Repeat("y", 5000)+"\n", 100), "\n")
	in := object(t, fields{"a": long, "b": long, "c": many})
	out := Strip(in, func(path string) bool { return path == "/b" }, s.keep)
	got := value(t, out).(fields)
	if got["a"] != long || got["b"] != "" || len(s) != 1 {
		t.Errorf("%d are kept, a has %d bytes and b %d", len(s), len(got["a"].(string)), len(got["b"].(string)))
	}
	if back, err := Fill(out, "", s.load); err != nil || !bytes.Equal(back, in) {
		t.Errorf("filled again it is another document (%v)", err)
	}
}

func TestAMember(t *testing.T) {
	s := shelf{}
	in := json.RawMessage(`{"source":"x", "data" : {"many":[` + strings.Repeat(`"a",`, Large) + `1]} }`)
	out := CutMember(in, "/value", "data", s.keep)
	if got := Refs(out); len(got) != 1 || got[0].Path != "/value/data" || got[0].Encoding != JSON || len(out) > 2*head {
		t.Fatalf("%d bytes, %+v", len(out), got)
	}
	back, err := Fill(out, "/value", s.load)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(value(t, in), value(t, back)); diff != "" {
		t.Error(diff)
	}
	if again := CutMember(in, "", "other", s.keep); !bytes.Equal(again, in) {
		t.Error("a member that is not there")
	}
}

// A preview breaks no character, says how much is missing and is short.
func TestPreview(t *testing.T) {
	s := shelf{}
	for shift := range 4 {
		text := strings.Repeat("x", shift) + strings.Repeat("🦆", Large)
		short, r := Text("/content", text, s.keep)
		if !utf8.ValidString(short) || len(short) > 6<<10 {
			t.Errorf("%d bytes, valid: %v", len(short), utf8.ValidString(short))
		}
		begin, rest, ok1 := strings.Cut(short, "\n[… ")
		line, end, ok2 := strings.Cut(rest, " …]\n")
		want := fmt.Sprintf("%d of %d bytes are left out; /v1/blobs/%s has all", len(text)-len(begin)-len(end), len(text), r.SHA256)
		if !ok1 || !ok2 || line != want || !strings.HasPrefix(text, begin) || !strings.HasSuffix(text, end) || begin == "" || end == "" {
			t.Errorf("%q, want %q", line, want)
		}
		if string(s[r.SHA256]) != text {
			t.Error("what was kept is not the text")
		}
	}
}

func TestNotes(t *testing.T) {
	a, b := Ref{Path: "/a", SHA256: "a"}, Ref{Path: "/b", SHA256: "b"}
	for in, want := range map[string]string{
		``:                              `{"agentstream":{"blobs":[A]}}`,
		`{}`:                            `{"agentstream":{"blobs":[A]}}`,
		`{"x":1}`:                       `{"x":1,"agentstream":{"blobs":[A]}}`,
		`{"agentstream":{}}`:            `{"agentstream":{"blobs":[A]}}`,
		`{"agentstream":1}`:             `{"agentstream":1,"agentstream":{"blobs":[A]}}`,
		`{"agentstream":{"x":1},"y":2}`: `{"agentstream":{"x":1,"blobs":[A]},"y":2}`,
		`{"agentstream":{"blobs":[B],"x":1},"y":2}`:      `{"agentstream":{"x":1,"blobs":[B,A]},"y":2}`,
		`{ "agentstream" : { "blobs" : [B] } , "y" : 2}`: `{  "y" : 2,"agentstream":{"blobs":[B,A]}}`,
		`[1]`: `[1]`,
	} {
		fill := strings.NewReplacer("A", string(object(t, a)), "B", string(object(t, b)))
		if got := string(Note(json.RawMessage(fill.Replace(in)), a)); got != fill.Replace(want) {
			t.Errorf("%s\n got %s\nwant %s", in, got, fill.Replace(want))
		}
	}
}

func TestFillFails(t *testing.T) {
	s := shelf{}
	out := Cut(object(t, fields{"a": strings.Repeat("x", Large)}), "", s.keep)
	lost := errors.New("lost")
	if _, err := Fill(out, "", func(string) ([]byte, error) { return nil, lost }); !errors.Is(err, lost) {
		t.Errorf("a payload that is lost: %v", err)
	}
	member := CutMember(json.RawMessage(`{"a":[1,2,3,4,5,6,7,8]}`), "", "a", s.keep)
	if _, err := Fill(member, "", func(string) ([]byte, error) { return []byte("["), nil }); err == nil {
		t.Error("a payload that is no JSON was put into one")
	}
}

// Documents that are made at random come back as they were.
func TestRandomDocuments(t *testing.T) {
	seed := uint64(20261201)
	if s := os.Getenv("AGENTSTREAM_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 7))
	var make func(depth int) any
	make = func(depth int) any {
		switch r.IntN(6 - depth) {
		case 0:
			return strings.Repeat("\"\\\n\u2028é🦆<x"[r.IntN(3):], r.IntN(12<<10))
		case 1:
			return fields{"mimeType": "image/png", "data": base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, r.IntN(100<<10)))}
		case 2:
			return r.IntN(100)
		case 3:
			return []any{make(depth + 1), nil, make(depth + 1)}
		}
		return fields{"a~/b": make(depth + 1), "": make(depth + 1)}
	}
	for range 60 {
		s := shelf{}
		in := object(t, fields{"x": make(0), "agentstream": fields{"y": make(0)}})
		out := Cut(in, "/p", s.keep)
		back, err := Fill(out, "/p", s.load)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(value(t, in), value(t, back)); diff != "" {
			t.Fatalf("%.2000s", diff)
		}
		if len(in) > Crowded*2 && len(s) == 0 {
			t.Error("nothing was taken out of a large document")
		}
	}
}

func FuzzFill(f *testing.F) {
	s := shelf{}
	f.Add([]byte(Cut(json.RawMessage(`{"a":"`+strings.Repeat("x", Large)+`"}`), "", s.keep)), "/a")
	f.Add([]byte(`{"data":{"a":[1,2]},"agentstream":{"blobs":[{"path":"/data","encoding":"json"}]}}`), "")
	f.Add([]byte(`{"agentstream":{"blobs":[{"path":"/a"}]},"a":"","a":""}`), "")
	f.Add([]byte(`[`), "/")
	f.Fuzz(func(t *testing.T, raw []byte, base string) {
		out, err := Fill(raw, base, func(string) ([]byte, error) { return []byte("1"), nil })
		if err == nil && json.Valid(raw) && !json.Valid(out) {
			t.Errorf("%q became %q", raw, out)
		}
		if json.Valid(raw) {
			if noted := Note(raw, Ref{Path: "/x"}); !json.Valid(noted) {
				t.Errorf("%q became %q", raw, noted)
			}
			if cut := CutMember(raw, "", "data", shelf{}.keep); !json.Valid(cut) {
				t.Errorf("%q became %q", raw, cut)
			}
		}
	})
}

func BenchmarkCut(b *testing.B) {
	for name, size := range map[string]int{"small": 1 << 10, "1MiB": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			raw := json.RawMessage(`{"agentstream":{"status":"completed","output":"` + strings.Repeat("x", size) + `"}}`)
			keep := func(Ref, []byte) {}
			b.ReportAllocs()
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				Cut(raw, "/metadata", keep)
			}
		})
	}
}
