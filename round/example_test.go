package round_test

import (
	"fmt"
	"slices"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/round"
)

// A Builder makes rounds of what an agent says, and at the same time the events
// of AG-UI.
func ExampleNewBuilder() {
	emitter := agui.NewEmitter(agui.EmitterConfig{
		Thread: "thread-1", Run: "run-1",
		Sink: func(t agui.Type, event []byte) { fmt.Println(t) },
	})
	b := round.NewBuilder(round.Config{
		Thread: "thread-1", Run: "run-1", Prefix: "k3v9x0ab", FirstRound: 1,
		Events: emitter,
		OnRound: func(r round.Round) {
			fmt.Printf("round %d.%d, complete: %v\n", r.Number, r.Revision, r.Complete)
			for _, m := range r.Messages {
				fmt.Printf("  %s %q %d\n", m.Role, m.Content, len(m.ToolCalls))
			}
		},
	})
	b.OnMessageChunk("Let me look.")
	b.OnToolCall("call_1", "list_files")
	b.OnToolCallUpdate("call_1", "a.go b.go", agentstream.ToolCallStatusCompleted)
	b.OnMessageChunk("Two files.")
	b.Close("")
	emitter.Finish(agui.RunFinished{})
	// Output:
	// RUN_STARTED
	// TEXT_MESSAGE_START
	// TEXT_MESSAGE_CONTENT
	// TEXT_MESSAGE_END
	// TOOL_CALL_START
	// TOOL_CALL_ARGS
	// TOOL_CALL_END
	// TOOL_CALL_RESULT
	// round 1.1, complete: true
	//   assistant "Let me look." 1
	//   tool "a.go b.go" 0
	// TEXT_MESSAGE_START
	// TEXT_MESSAGE_CONTENT
	// TEXT_MESSAGE_END
	// round 2.1, complete: true
	//   assistant "Two files." 0
	// RUN_FINISHED
}

// After a crash the stored events of an open turn are folded back; closing it
// pairs what the agent never answered.
func ExampleRestore() {
	stored := []agui.Event{
		&agui.RunStarted{ThreadID: "thread-1", RunID: "run-1"},
		&agui.ToolCallStart{ToolCallID: "k3v9x0ab-c2", ToolCallName: "sleep", ParentMessageID: "k3v9x0ab-m1"},
	}
	b, err := round.Restore(round.Config{
		Thread: "thread-1", Run: "run-1", Prefix: "k3v9x0ab", FirstRound: 1,
		Now: func() time.Time { return time.UnixMilli(0) },
		OnRound: func(r round.Round) {
			info, _ := round.InfoOf(r.Messages[1])
			fmt.Println(r.Messages[1].Content, info.Status, r.Complete)
		},
	}, slices.Values(stored))
	if err != nil {
		fmt.Println(err)
		return
	}
	b.Close("failed")
	// Output: [no result: failed] failed false
}
