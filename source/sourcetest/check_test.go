package sourcetest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source/sourcetest"
)

func ExampleCheck() {
	for _, breach := range sourcetest.Check([]agentstream.Event{
		agentstream.ToolCall{ID: "a", Title: "read"},
		agentstream.ToolCallUpdate{ID: "a", Status: agentstream.ToolCallStatusCompleted},
		agentstream.ToolCallUpdate{ID: "a", Status: agentstream.ToolCallStatusFailed},
	}) {
		fmt.Println(strings.Split(breach, " (")[0], strings.Split(breach, "): ")[1])
	}
	// Output:
	// event 2 G4: a second terminal
}

func TestCheckFindsEachBreach(t *testing.T) {
	call := agentstream.ToolCall{ID: "a"}
	for want, events := range map[string][]agentstream.Event{
		"":                       {call, agentstream.ToolCallArgsSnapshot{ID: "a"}, agentstream.MessageChunk{Text: "é"}, agentstream.Plan{}},
		"G3: declared twice":     {call, call},
		"G3: about a call":       {agentstream.ToolCallUpdate{ID: "a"}},
		"G3: about a call that ": {agentstream.ToolCallArgsSnapshot{ID: "a"}},
		"was not declared":       {agentstream.Output{ID: "a"}},
		"not declared":           {agentstream.Diff{ID: "a"}},
		"G5: no valid UTF-8":     {agentstream.MessageChunk{Text: "\xe2\x82"}},
		"G5: no valid":           {agentstream.ThoughtChunk{Text: "\xff"}},
		"G5: no":                 {call, agentstream.ToolCallUpdate{ID: "a", Content: "\xff"}},
	} {
		got := strings.Join(sourcetest.Check(events), "\n")
		if (want == "") != (got == "") || !strings.Contains(got, want) {
			t.Errorf("%#v: %q, want %q", events, got, want)
		}
	}
}
