package source_test

import (
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/agentstream-go/agentstream/source"
)

func ExampleRefuse() {
	q := source.Request{Options: []source.Option{
		{ID: "yes", Kind: "allow_once"}, {ID: "never", Kind: "reject_always"}, {ID: "no", Kind: "reject_once"},
	}}
	fmt.Println(source.Refuse(q).OptionID)
	fmt.Println(source.Refuse(source.Request{Elicitation: &source.Elicitation{}}).Declined)
	// Output:
	// no
	// true
}

// Nothing that happens to come first is taken for consent.
func TestRefuseNeverAllows(t *testing.T) {
	for _, kinds := range [][]string{nil, {"allow_once"}, {"allow_always", "later"}, {"reject_always", "allow_once"}, {"allow_once", "reject_once"}, {""}} {
		var q source.Request
		allowed := map[string]bool{}
		for i, kind := range kinds {
			o := source.Option{ID: fmt.Sprint(i), Kind: kind}
			q.Options = append(q.Options, o)
			allowed[o.ID] = o.Allows() || kind == "later" || kind == ""
		}
		if a := source.Refuse(q); allowed[a.OptionID] {
			t.Errorf("%v is refused by %+v", kinds, a)
		}
	}
}

func TestErrorIsOneLine(t *testing.T) {
	for want, e := range map[string]*source.Error{
		"it broke in two (turn it off): EOF": {Code: "x", Message: "it broke\n in two", Fix: "turn it off", Err: io.EOF},
		"agent_error: EOF":                   {Code: source.CodeAgentError, Err: io.EOF},
	} {
		if got := fmt.Sprintf("%v: %v", e, errors.Unwrap(e)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if !errors.Is(e, io.EOF) {
			t.Error("the cause is lost")
		}
	}
}
