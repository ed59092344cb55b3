package agentstreamtest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agentstreamtest"
)

func TestRecorderIsAHandler(t *testing.T) {
	agentstreamtest.TestHandler(t, func(*testing.T) agentstream.StreamHandler { return &agentstreamtest.Recorder{} })
}

// counting is a wrapper as H5 wants it.
type counting struct {
	agentstream.StreamHandler
	mu sync.Mutex
	n  int
}

func (c *counting) Forward(e agentstream.Event) bool {
	c.mu.Lock()
	c.n++
	c.mu.Unlock()
	return agentstream.Send(c.StreamHandler, e)
}

func TestDecoratorTakesAGoodWrapper(t *testing.T) {
	agentstreamtest.TestDecorator(t, func(h agentstream.StreamHandler) agentstream.StreamHandler {
		return &counting{StreamHandler: h}
	})
}

func TestScriptRoundTrip(t *testing.T) {
	want := agentstreamtest.Samples()
	got, err := agentstreamtest.ParseScript("# a comment\n\n" + want.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := agentstreamtest.ParseScript("# one\n{\n"); err == nil || !strings.HasPrefix(err.Error(), "line 2: ") {
		t.Errorf("ParseScript = %v, want an error that names line 2", err)
	}
}

func FuzzParseScript(f *testing.F) {
	f.Add(agentstreamtest.Samples().String())
	f.Add("# x\n\n{\"event\":\"segment\"}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := agentstreamtest.ParseScript(text)
		if err != nil {
			return
		}
		again, err := agentstreamtest.ParseScript(s.String())
		if err != nil || again.String() != s.String() {
			t.Errorf("not a fixed point (%v):\n%s\n%s", err, s, again)
		}
	})
}

func TestSamplesHaveEveryKind(t *testing.T) {
	kinds := map[string]bool{}
	for _, e := range agentstreamtest.Samples() {
		kinds[fmt.Sprintf("%T", e)] = true
	}
	if len(kinds) != 16 {
		t.Errorf("%d kinds of event, want the 16 of the contract: %v", len(kinds), kinds)
	}
}

func ExampleRecorder() {
	var r agentstreamtest.Recorder
	r.OnMessageChunk("Hello, ")
	r.OnMessageChunk("world")
	agentstream.Send(&r, agentstream.Notice{Severity: "info", Text: "two chunks"})
	fmt.Println(r.Text())
	fmt.Print(&r)
	// Output:
	// Hello, world
	// {"event":"message_chunk","text":"Hello, "}
	// {"event":"message_chunk","text":"world"}
	// {"event":"notice","severity":"info","text":"two chunks"}
}

func ExampleParseScript() {
	s, err := agentstreamtest.ParseScript(`
# one call and its result
{"event":"tool_call","id":"c1","title":"Read"}
{"event":"tool_call_update","id":"c1","content":"milk","status":"completed"}
`)
	var r agentstreamtest.Recorder
	fmt.Println(len(s), len(s.Play(&r)), len(r.Events()), err)
	// Output: 2 0 2 <nil>
}
