package agentstream

import (
	"encoding/json"
	"errors"
	"fmt"
)

// maxNesting bounds sub-agents of sub-agents: each level reads what is below
// it once more.
const maxNesting = 16

var errNesting = errors.New("sub-agents are nested too deeply")

var decoders = map[string]func(data []byte) (Event, error){
	MessageChunk{}.name():         decode[MessageChunk],
	ThoughtChunk{}.name():         decode[ThoughtChunk],
	ToolCall{}.name():             decode[ToolCall],
	ToolCallUpdate{}.name():       decode[ToolCallUpdate],
	ToolCallArgsSnapshot{}.name(): decode[ToolCallArgsSnapshot],
	TokenUsage{}.name():           decode[TokenUsage],
	ToolCallInfo{}.name():         decode[ToolCallInfo],
	Segment{}.name():              decode[Segment],
	Notice{}.name():               decode[Notice],
	Plan{}.name():                 decode[Plan],
	Diff{}.name():                 decode[Diff],
	Output{}.name():               decode[Output],
	Media{}.name():                decode[Media],
	Usage{}.name():                decode[Usage],
	Raw{}.name():                  decode[Raw],
}

// ParseEvent reads the JSON form that AppendEvent writes. Fields that it does
// not know are skipped, absent ones are zero. An event of unknown name, a
// value that is no object and sub-agents nested more than 16 deep are errors.
// The event does not share memory with data. Safe for concurrent calls.
func ParseEvent(data []byte) (Event, error) {
	e, err := parseEvent(data, maxNesting)
	if err != nil {
		return nil, fmt.Errorf("event: %w", err)
	}
	return e, nil
}

func parseEvent(data []byte, depth int) (Event, error) {
	var head struct {
		Event string `json:"event"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, err
	}
	if head.Event == (Subagent{}).name() {
		return decodeSubagent(data, depth)
	}
	decode, ok := decoders[head.Event]
	if !ok {
		return nil, fmt.Errorf("unknown name %q", head.Event)
	}
	return decode(data)
}

func decode[T Event](data []byte) (Event, error) {
	var e T
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, err
	}
	return e, nil
}

func decodeSubagent(data []byte, depth int) (Event, error) {
	if depth == 0 {
		return nil, errNesting
	}
	var w subagentWire
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, err
	}
	e := Subagent(w.subagentFields)
	if len(w.Child) > 0 && string(w.Child) != "null" {
		child, err := parseEvent(w.Child, depth-1)
		if err != nil {
			return nil, err
		}
		e.Event = child
	}
	return e, nil
}
