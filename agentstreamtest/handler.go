package agentstreamtest

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream"
)

// TestHandler checks that a handler takes any stream: well-formed ones, ones
// that break every rule for sources, and calls from many goroutines (run it
// with -race). New returns a fresh handler; it is called several times.
func TestHandler(t *testing.T, new func(t *testing.T) agentstream.StreamHandler) {
	t.Run("turn", func(t *testing.T) { Samples().Play(new(t)) })
	t.Run("core alone", func(t *testing.T) {
		h := new(t)
		for _, e := range Samples() {
			if isCore(e) && !agentstream.Send(h, e) {
				t.Errorf("%T was not taken", e)
			}
		}
	})
	for name, script := range malformed() {
		t.Run(name, func(t *testing.T) { script.Play(new(t)) })
	}
	t.Run("long arguments", func(t *testing.T) {
		h := new(t)
		h.OnToolCall("c", "write")
		for range 50_000 {
			h.OnToolCallUpdate("c", "x", agentstream.ToolCallStatusInProgress)
		}
		h.OnToolCallUpdate("c", "done", agentstream.ToolCallStatusCompleted)
	})
	t.Run("many goroutines", func(t *testing.T) {
		h := new(t)
		var wg sync.WaitGroup
		for i := range 4 {
			wg.Go(func() { renamed(Samples(), i).Play(h) })
		}
		wg.Wait()
	})
}

// renamed gives the calls of a script ids of their own.
func renamed(s Script, n int) Script {
	out, err := ParseScript(strings.ReplaceAll(s.String(), `"call-1"`, fmt.Sprintf(`"call-%d"`, n)))
	if err != nil {
		panic(err) // the script was made here
	}
	return out
}

// malformed holds streams that a handler must survive (H3): sources break S2
// and S3, because agents do.
func malformed() map[string]Script {
	const done, failed = agentstream.ToolCallStatusCompleted, agentstream.ToolCallStatusFailed
	call := agentstream.ToolCall{ID: "c", Title: "t"}
	text := agentstream.MessageChunk{Text: "x"}
	return map[string]Script{
		"nothing":              {},
		"empty chunks":         {agentstream.MessageChunk{}, agentstream.ThoughtChunk{}, call, agentstream.MessageChunk{}},
		"invalid UTF-8":        {agentstream.MessageChunk{Text: "a\xff"}, agentstream.ToolCall{ID: "\xff", Title: "\xfe"}, agentstream.ToolCallUpdate{ID: "\xff", Content: "\xc3", Status: done}},
		"undeclared":           {agentstream.ToolCallUpdate{ID: "c", Content: "r", Status: done}, agentstream.ToolCallArgsSnapshot{ID: "d", Args: "{}"}, text},
		"empty id":             {agentstream.ToolCall{}, agentstream.ToolCallUpdate{Status: failed}},
		"declared twice":       {call, agentstream.ToolCallUpdate{ID: "c", Content: "{", Status: agentstream.ToolCallStatusPending}, call, agentstream.ToolCallUpdate{ID: "c", Status: done}, call},
		"two terminals":        {call, agentstream.ToolCallUpdate{ID: "c", Content: "a", Status: done}, agentstream.ToolCallUpdate{ID: "c", Content: "b", Status: failed}},
		"late result":          {call, text, agentstream.ToolCallUpdate{ID: "c", Content: "late", Status: done}},
		"delta after terminal": {call, agentstream.ToolCallUpdate{ID: "c", Status: done}, agentstream.ToolCallUpdate{ID: "c", Content: "{", Status: agentstream.ToolCallStatusInProgress}, agentstream.ToolCallArgsSnapshot{ID: "c", Args: "null"}},
		"arguments cut":        {call, agentstream.ToolCallUpdate{ID: "c", Content: `{"a":"`, Status: agentstream.ToolCallStatusInProgress}, text},
		"unknown status":       {call, agentstream.ToolCallUpdate{ID: "c", Content: "x", Status: 9}, agentstream.ToolCallUpdate{ID: "c", Content: "x", Status: -1}},
		"negative usage":       {agentstream.TokenUsage{TotalTokens: -1}, agentstream.Usage{}},
		"raw that is no JSON":  {agentstream.Raw{Data: []byte("oops")}, agentstream.Raw{}},
		"rich before its call": {agentstream.Output{ID: "c", Data: "x"}, agentstream.Diff{ID: "c"}, agentstream.Media{ID: "c"}, agentstream.ToolCallInfo{ID: "c"}, agentstream.ToolCallInfo{}},
		"sub-agent's end only": {agentstream.Subagent{ID: "s", Done: true}, agentstream.Subagent{ID: "s", Event: text}, agentstream.Subagent{Event: agentstream.Subagent{}}},
		"segments":             {agentstream.Segment{}, agentstream.Segment{}, call, agentstream.Segment{}, agentstream.ToolCallUpdate{ID: "c", Status: done}},
	}
}
