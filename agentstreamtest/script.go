package agentstreamtest

import (
	"fmt"
	"strings"

	"github.com/agentstream-go/agentstream"
)

// Script is what a source says in a turn, as values.
type Script []agentstream.Event

// ParseScript reads one event in its JSON form a line. Blank lines and lines
// that begin with '#' say nothing. An error names its line.
func ParseScript(text string) (Script, error) {
	var s Script
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		e, err := agentstream.ParseEvent([]byte(line))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		s = append(s, e)
	}
	return s, nil
}

// String returns one event in its JSON form a line, each line ended.
func (s Script) String() string {
	var b []byte
	for _, e := range s {
		b = append(agentstream.AppendEvent(b, e), '\n')
	}
	return string(b)
}

// Play sends the events to h in order and returns those that nobody took.
func (s Script) Play(h agentstream.StreamHandler) (lost []agentstream.Event) {
	for _, e := range s {
		if !agentstream.Send(h, e) {
			lost = append(lost, e)
		}
	}
	return lost
}

// Samples returns one event of every kind there is, core and rich, in the
// order of a turn that could be.
func Samples() Script {
	exit := 0
	return Script{
		agentstream.ThoughtChunk{Text: "hm"},
		agentstream.MessageChunk{Text: "I read. "},
		agentstream.Segment{},
		agentstream.MessageChunk{Text: "And write."},
		agentstream.Plan{Entries: []agentstream.PlanEntry{{Content: "read", Priority: "high", Status: "in_progress"}}},
		agentstream.ToolCallInfo{ID: "call-1", Name: "read_file", Kind: "read", Locations: []agentstream.Location{{Path: "/a.txt", Line: 1}}},
		agentstream.ToolCall{ID: "call-1", Title: "Read a.txt"},
		agentstream.ToolCallUpdate{ID: "call-1", Content: `{"path":"`, Status: agentstream.ToolCallStatusPending},
		agentstream.ToolCallArgsSnapshot{ID: "call-1", Args: `{"path":"/a.txt"}`},
		agentstream.Diff{ID: "call-1", Path: "/a.txt", New: "x"},
		agentstream.Output{ID: "call-1", Data: "1 line"},
		agentstream.Media{ID: "call-1", MIMEType: "image/png", Data: "AA=="},
		agentstream.ToolCallInfo{ID: "call-1", ExitCode: &exit},
		agentstream.ToolCallUpdate{ID: "call-1", Content: "hello", Status: agentstream.ToolCallStatusCompleted},
		agentstream.Notice{Severity: "warning", Text: "retrying"},
		agentstream.Subagent{ID: "sub-1", Event: agentstream.MessageChunk{Text: "from below"}},
		agentstream.Raw{Source: "test", Data: []byte(`{"x":1}`)},
		agentstream.TokenUsage{TotalTokens: 1200},
		agentstream.Usage{Turn: []agentstream.ModelUsage{{Model: "m", Input: 1, Output: 2, Total: 3}}},
	}
}
