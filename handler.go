package agentstream

// ToolCallStatus says where a tool call is in its life. Completed and Failed
// are terminal: the call has its final result. In the other states updates
// may still carry argument deltas, never a result.
type ToolCallStatus int

const (
	// ToolCallStatusPending: declared, not at work. Updates carry argument deltas.
	ToolCallStatusPending ToolCallStatus = iota
	// ToolCallStatusInProgress: at work, or still being written. Updates carry argument deltas.
	ToolCallStatusInProgress
	// ToolCallStatusCompleted: terminal. The update carries the result.
	ToolCallStatusCompleted
	// ToolCallStatusFailed: terminal. The update carries what is known of the failure.
	ToolCallStatusFailed
)

// IsTerminal reports whether the call has its final result.
func (s ToolCallStatus) IsTerminal() bool {
	return s == ToolCallStatusCompleted || s == ToolCallStatusFailed
}

// StreamHandler consumes what an agent says in one turn. Every event source
// calls it, whatever wire the agent speaks; the package comment gives the rules
// of a stream by number. Implementations are safe for concurrent calls; a source
// nevertheless never makes two calls at once.
type StreamHandler interface {
	// OnMessageChunk appends a fragment of the assistant's message. A
	// non-empty chunk after tool calls says that the round before it is
	// complete and is to be flushed.
	OnMessageChunk(text string)

	// OnThoughtChunk appends a fragment of reasoning; the same rule about
	// rounds holds.
	OnThoughtChunk(text string)

	// OnToolCall declares a call. Updates and snapshots with that id follow.
	OnToolCall(id, title string)

	// OnToolCallUpdate carries, with a status that is not terminal, an
	// argument delta (empty with InProgress: the arguments are complete),
	// and with a terminal one the final result text.
	OnToolCallUpdate(id, content string, status ToolCallStatus)

	// OnToolCallArgsSnapshot replaces the arguments collected so far.
	OnToolCallArgsSnapshot(id, args string)

	// OnTokenUsage gives the occupancy of the context window now, in tokens:
	// a gauge, not billing.
	OnTokenUsage(totalTokens int)
}
