package term_test

import (
	"os"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/internal/term"
	"github.com/agentstream-go/agentstream/source"
)

// The answer and what goes on beside it, both on stdout here.
func ExampleNew() {
	r := term.New(term.Options{Out: os.Stdout, Err: os.Stdout, Now: func() time.Time { return time.Time{} }})
	r.OnToolCall("call-1", "Read README.md")
	r.OnToolCallUpdate("call-1", "# Demo", agentstream.ToolCallStatusCompleted)
	r.OnMessageChunk("It is a demo.")
	r.Finish(source.EndTurn)
	// Output:
	// ✓ Read README.md 0 ms
	// It is a demo.
}
