package round

import (
	"encoding/json"

	"github.com/cloudwego/eino/schema"
)

// ExtraKey is the key of schema.Message.Extra under which Info stands, as one
// JSON string.
const ExtraKey = "agentstream"

// Info is what a message of a round knows beyond eino's fields. Times are Unix
// milliseconds, 0 if unknown.
type Info struct {
	Run      string `json:"run"`
	Round    int    `json:"round"`
	Revision int    `json:"revision"`

	// ID is the AG-UI message: of an assistant message the one that owns its
	// calls ("" without calls), of a tool message its own ("" of a placeholder
	// that no client has seen).
	ID string `json:"id,omitzero"`

	Segments []Segment  `json:"segments,omitzero"` // assistant: texts and thoughts, in order
	Calls    []CallInfo `json:"calls,omitzero"`    // assistant: one for each of ToolCalls

	Status      string          `json:"status,omitzero"`      // tool: completed or failed
	Placeholder string          `json:"placeholder,omitzero"` // tool: why there is no result
	ExitCode    *int            `json:"exitCode,omitzero"`
	Partial     bool            `json:"partial,omitzero"` // tool: what was seen of a result that never came
	Output      string          `json:"output,omitzero"`  // tool: the terminal's text, if it is not the content
	Diffs       json.RawMessage `json:"diffs,omitzero"`   // tool: array of {path, old?, new}
	Start       int64           `json:"start,omitzero"`
	End         int64           `json:"end,omitzero"`
}

// Segment is one stretch of text or reasoning and the AG-UI message that
// carries it. Length counts bytes of the message's Content or ReasoningContent,
// in which segments of a kind are joined by a blank line.
type Segment struct {
	Kind   string `json:"kind"` // text or reasoning
	ID     string `json:"id"`
	Length int    `json:"length"`
	Start  int64  `json:"start,omitzero"`
	End    int64  `json:"end,omitzero"`
}

// CallInfo is what is known of a call beside its ToolCall.
type CallInfo struct {
	ID           string     `json:"id"`      // public, that of the ToolCall
	AgentID      string     `json:"agentId"` // the agent's own
	Title        string     `json:"title,omitzero"`
	Kind         string     `json:"kind,omitzero"`
	Locations    []Location `json:"locations,omitzero"`
	RawArguments string     `json:"rawArguments,omitzero"` // as said, if that is not what stands in the ToolCall
	Start        int64      `json:"start,omitzero"`
	End          int64      `json:"end,omitzero"` // of the result
}

// Location is a place in a file; Line counts from 1, 0 is none.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line,omitzero"`
}

// InfoOf reads what the Builder noted in a message's Extra; false if there is
// nothing, or nothing readable.
func InfoOf(m *schema.Message) (Info, bool) {
	if m == nil {
		return Info{}, false
	}
	text, ok := m.Extra[ExtraKey].(string)
	if !ok {
		return Info{}, false
	}
	var info Info
	if decode([]byte(text), &info) != nil {
		return Info{}, false
	}
	return info, true
}
