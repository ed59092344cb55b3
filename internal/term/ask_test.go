package term

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
)

var permission = source.Request{Title: "Write new.txt", Kind: "edit", Locations: []agentstream.Location{{Path: "/w/new.txt", Line: 3}},
	Options: []source.Option{{ID: "o1", Name: "Allow", Kind: "allow_once"}, {ID: "o2", Name: "Always", Kind: "allow_always"},
		{ID: "o3", Name: "Reject", Kind: "reject_once"}, {ID: "o4", Kind: "reject_always"}, {ID: "o5", Name: "Allow, but once", Kind: "allow_once"}}}

func TestAsk(t *testing.T) {
	for typed, want := range map[string]string{
		"y\n": "o1", "Y": "o1", " a \n": "o2", "n\n": "o3", "x\n": "o4", "5\n": "o5", "2\r\n": "o2", "what\n\ny\n": "o1",
		"": "o3", "maybe\n": "o3", "1\x00\n": "o3", "6\n0\n-1\nyes\nallow\ny\n": "o3",
	} {
		var tape tape
		r := tape.renderer(Options{})
		a := r.Ask(t.Context(), permission, NewInput(strings.NewReader(typed)))
		if diff := cmp.Diff(source.Answer{OptionID: want}, a); diff != "" {
			t.Errorf("%q: %s", typed, diff)
		}
	}
}

func TestAskShowsWhatIsAsked(t *testing.T) {
	var tape tape
	r := tape.renderer(Options{})
	r.Ask(t.Context(), permission, NewInput(strings.NewReader("y\n")))
	want := "? Write new.txt · edit\n    /w/new.txt:3\n  [y/1] Allow\n  [a/2] Always\n  [n/3] Reject\n  [x/4] reject_always\n  [5] Allow, but once\n> "
	if diff := cmp.Diff(want, tape.err.String()); diff != "" {
		t.Error(diff)
	}
}

func TestAskWithoutOptionsToRefuse(t *testing.T) {
	var tape tape
	q := source.Request{Options: permission.Options[:2]}
	if a := tape.renderer(Options{}).Ask(t.Context(), q, NewInput(strings.NewReader("n\n"))); a.OptionID != "" {
		t.Errorf("answered %+v", a)
	}
}

func TestAskIsOverMeanwhile(t *testing.T) {
	var tape tape
	done := make(chan struct{})
	q := permission
	q.Done = done
	typing, typed := io.Pipe()
	in := NewInput(typing)
	answered := make(chan source.Answer)
	go func() { answered <- tape.renderer(Options{}).Ask(t.Context(), q, in) }()
	close(done)
	if a := <-answered; a.OptionID != "" {
		t.Errorf("answered %+v", a)
	}
	go io.WriteString(typed, "the next line\n")
	if line, err := in.Line(t.Context()); line != "the next line" || err != nil {
		t.Errorf("then read %q, %v", line, err)
	}
}

func TestAskRefusesWhenTheTurnEnds(t *testing.T) {
	var tape tape
	ctx, stop := context.WithCancel(t.Context())
	stop()
	typing, _ := io.Pipe()
	if a := tape.renderer(Options{}).Ask(ctx, permission, NewInput(typing)); a.OptionID != "o3" {
		t.Errorf("answered %+v", a)
	}
}

const schema = `{"type":"object","required":["name"],"properties":{
	"name":{"type":"string","title":"Your name"},
	"colour":{"type":"string","enum":["red","green"]},
	"size":{"type":"string","oneOf":[{"const":"s","title":"Small"},{"const":"l","title":"Large"}]},
	"sweet":{"type":"boolean","default":true},
	"age":{"type":"integer"},
	"ratio":{"type":"number"},
	"tags":{"type":"array","items":{"type":"string","enum":["x","y"]}}}}`

func TestForm(t *testing.T) {
	for _, c := range []struct{ name, typed, want string }{
		{"all", "Ada\ngreen\n2\nn\n36\n1.5\nx, 2\n", `{"age":36,"colour":"green","name":"Ada","ratio":1.5,"size":"l","sweet":false,"tags":["x","y"]}`},
		{"required only", "\nAda\n\n\n\n\n\n\n", `{"name":"Ada","sweet":true}`},
		{"asked again", "Ada\nblue\n1\nsmall\nmaybe\ny\nold\n7\nNaN\n2\nz\ny\n", `{"age":7,"colour":"red","name":"Ada","ratio":2,"size":"s","sweet":true,"tags":["y"]}`},
		{"ends early", "Ada\n", ""},
		{"never a name", "\n\n\n\n\n\n", ""},
	} {
		var tape tape
		q := source.Request{Elicitation: &source.Elicitation{Message: "Who are you?", Mode: "form", Schema: []byte(schema)}}
		a := tape.renderer(Options{}).Ask(t.Context(), q, NewInput(strings.NewReader(c.typed)))
		if string(a.Content) != c.want || a.Declined != (c.want == "") {
			t.Errorf("%s: %s, declined %v; want %s", c.name, a.Content, a.Declined, c.want)
		}
		if !strings.HasPrefix(tape.err.String(), "? Who are you?\n  Your name: ") {
			t.Errorf("%s: %q", c.name, tape.err.String())
		}
	}
}

func TestFormsThatCannotBeRead(t *testing.T) {
	for _, s := range []string{"", "7", `{"properties":7}`, `{"properties":{"a":7}}`, `{"properties":{`} {
		var tape tape
		q := source.Request{Elicitation: &source.Elicitation{Mode: "form", Schema: []byte(s)}}
		if a := tape.renderer(Options{}).Ask(t.Context(), q, NewInput(strings.NewReader(""))); !a.Declined {
			t.Errorf("%s: %+v", s, a)
		}
	}
}

func TestPage(t *testing.T) {
	for typed, declined := range map[string]bool{"y\n": false, "n\n": true, "": true, "what\n": true} {
		var tape tape
		q := source.Request{Elicitation: &source.Elicitation{Message: "Sign in", Mode: "url", URL: "https://example.com/\x1b"}}
		a := tape.renderer(Options{}).Ask(t.Context(), q, NewInput(strings.NewReader(typed)))
		if a.Declined != declined || !declined && string(a.Content) != "{}" {
			t.Errorf("%q: %+v", typed, a)
		}
		if !strings.Contains(tape.err.String(), `https://example.com/\x1b`) {
			t.Errorf("shown %q", tape.err.String())
		}
	}
}

func TestInput(t *testing.T) {
	in := NewInput(strings.NewReader("one\r\ntwo"))
	for _, want := range []string{"one", "two"} {
		if line, err := in.Line(t.Context()); line != want || err != nil {
			t.Errorf("%q, %v", line, err)
		}
	}
	if _, err := in.Line(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %v", err)
	}
	ctx, stop := context.WithCancelCause(t.Context())
	cause := errors.New("over")
	stop(cause)
	if _, err := in.Line(ctx); !errors.Is(err, cause) {
		t.Errorf("ctx ended: %v", err)
	}
}

func FuzzForm(f *testing.F) {
	f.Add(schema, "Ada\n1\n")
	f.Fuzz(func(t *testing.T, schema, typed string) {
		var tape tape
		q := source.Request{Elicitation: &source.Elicitation{Mode: "form", Schema: []byte(schema)}}
		tape.renderer(Options{}).Ask(t.Context(), q, NewInput(strings.NewReader(typed)))
		if left := controls(tape.both.String()); left != "" {
			t.Errorf("control characters got through: %q", left)
		}
	})
}
