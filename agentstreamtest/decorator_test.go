package agentstreamtest

import (
	"testing"

	"github.com/agentstream-go/agentstream"
)

type faults int

func (*faults) Helper()                 {}
func (f *faults) Errorf(string, ...any) { *f++ }

// deaf hides what its target can take beyond the six methods.
type deaf struct{ agentstream.StreamHandler }

// liar passes all on and says that everything was taken.
type liar struct{ agentstream.StreamHandler }

func (l liar) Forward(e agentstream.Event) bool {
	agentstream.Send(l.StreamHandler, e)
	return true
}

// late holds each rich event back until the next one.
type late struct {
	agentstream.StreamHandler
	held agentstream.Event
}

func (l *late) Forward(e agentstream.Event) bool {
	took := agentstream.Send(l.StreamHandler, l.held)
	l.held = e
	return took
}

func TestDecoratorFindsBadWrappers(t *testing.T) {
	for name, wrap := range map[string]wrapper{
		"deaf": func(h agentstream.StreamHandler) agentstream.StreamHandler { return deaf{h} },
		"liar": func(h agentstream.StreamHandler) agentstream.StreamHandler { return liar{h} },
		"late": func(h agentstream.StreamHandler) agentstream.StreamHandler { return &late{StreamHandler: h} },
	} {
		var f faults
		toForwarder(&f, wrap)
		toMethods(&f, wrap)
		toRefusing(&f, wrap)
		if f == 0 {
			t.Errorf("%s was taken for a good wrapper", name)
		}
	}
}
