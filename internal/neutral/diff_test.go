package neutral_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agentstreamtest"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/neutral"
	"github.com/agentstream-go/agentstream/round"
)

// The names in the JSON are round's to choose; what it writes must be read back.
func TestDiffsAreReadAsTheyAreWritten(t *testing.T) {
	old := "before\n"
	want := []agentstream.Event{
		agentstream.Diff{Path: "/w/a.txt", Old: &old, New: "after\n"},
		agentstream.Diff{Path: "/w/b.txt", New: "new\n"},
	}
	var got agentstreamtest.Recorder
	var tr neutral.Translator
	emitter := agui.NewEmitter(agui.EmitterConfig{Thread: "t", Run: "r", Sink: func(_ agui.Type, data []byte) {
		e, err := agui.Decode([]byte(strings.Clone(string(data))))
		if err != nil {
			t.Fatal(err)
		}
		tr.Event(e, &got)
	}})
	emitter.Begin(agui.RunStarted{})
	b := round.NewBuilder(round.Config{Thread: "t", Run: "r", Prefix: "abcdefgh", Events: emitter})
	b.OnToolCall("call-1", "Edit")
	for _, e := range want {
		d := e.(agentstream.Diff)
		d.ID = "call-1"
		agentstream.Send(b, d)
	}
	b.Close("")
	var diffs []agentstream.Event
	for _, e := range got.Events() {
		if d, ok := e.(agentstream.Diff); ok {
			d.ID = ""
			diffs = append(diffs, d)
		}
	}
	if diff := cmp.Diff(want, diffs); diff != "" {
		t.Error(diff)
	}
}
