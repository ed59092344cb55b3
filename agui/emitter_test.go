package agui_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
)

func joined(events [][]byte) string { return string(bytes.Join(events, []byte("\n"))) }

func TestEmitterClosesInOrder(t *testing.T) {
	e, events := record("r")
	e.Begin(agui.RunStarted{ProtocolVersion: agui.ProtocolVersion, ThreadID: "ignored"})
	e.Emit(&agui.StepStarted{StepName: "s"})
	e.Emit(&agui.SubagentStarted{Base: agui.Base{SubagentRunID: "a"}, Name: "n"})
	e.Emit(&agui.SubagentStarted{Base: agui.Base{SubagentRunID: "b"}, Name: "n", ParentSubagentRunID: "a"})
	e.Start(agui.Item{Kind: agui.KindToolCall, ID: "c", Name: "f", Parent: "m", Subagent: "b"})
	e.Start(agui.Item{Kind: agui.KindReasoning, ID: "r"})
	e.Start(agui.Item{Kind: agui.KindText, ID: "t"})
	*events = nil
	e.Fail(agui.RunError{Message: "m", Code: "internal"})
	want := strings.Join([]string{
		`{"type":"TEXT_MESSAGE_END","messageId":"t"}`,
		`{"type":"REASONING_MESSAGE_END","messageId":"r"}`,
		`{"type":"REASONING_END","messageId":"r"}`,
		`{"type":"TOOL_CALL_END","toolCallId":"c","subagentRunId":"b"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"b"}`,
		`{"type":"SUBAGENT_FINISHED","subagentRunId":"a"}`,
		`{"type":"STEP_FINISHED","stepName":"s"}`,
		`{"type":"RUN_ERROR","message":"m","code":"internal"}`,
	}, "\n")
	if diff := cmp.Diff(want, joined(*events)); diff != "" {
		t.Error(diff)
	}
	if !e.Done() {
		t.Error("not done")
	}
}

func TestEmitterWritesOneTerminalAndNothingAfterIt(t *testing.T) {
	for name, terminal := range map[string]func(*agui.Emitter){
		"finish": func(e *agui.Emitter) { e.Finish(agui.RunFinished{}) },
		"fail":   func(e *agui.Emitter) { e.Fail(agui.RunError{Message: "m"}) },
		"emit":   func(e *agui.Emitter) { e.Emit(&agui.RunFinished{ThreadID: "other"}) },
		"error":  func(e *agui.Emitter) { e.Emit(&agui.RunError{}) },
	} {
		e, events := record("r")
		terminal(e)
		n := len(*events)
		e.Finish(agui.RunFinished{})
		e.Fail(agui.RunError{})
		e.Begin(agui.RunStarted{})
		e.Close()
		e.Start(agui.Item{Kind: agui.KindText, ID: "m"})
		e.Delta(agui.KindText, "m", "x")
		e.End(agui.KindText, "m", nil)
		e.Result(agui.Result{MessageID: "x", CallID: "c"})
		e.Emit(&agui.Custom{Name: "n"})
		e.Emit(&agui.StepStarted{StepName: "s"})
		if n != 2 || len(*events) != n {
			t.Errorf("%s: %s", name, joined(*events))
		}
		checkStream(t, *events)
	}
}

// What only 1.0 knows is not for the log, which old clients read too.
func TestEmitterWritesWhatOldClientsTake(t *testing.T) {
	for name, tt := range map[string]struct {
		end  agui.RunFinished
		want string
	}{
		"cancelled":        {agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeCancelled}}, `"result":{"stopReason":"cancelled"}}`},
		"cancelled result": {agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeCancelled}, Result: json.RawMessage(`{"stopReason":"cancelled","x":1}`)}, `"result":{"stopReason":"cancelled","x":1}}`},
		"pending calls":    {agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeSuccess, PendingToolCallIDs: []string{"c"}}}, `"runId":"r"}`},
		"no interrupts":    {agui.RunFinished{Outcome: &agui.Outcome{Type: agui.OutcomeInterrupt}}, `"runId":"r"}`},
		"usage":            {agui.RunFinished{Usage: []agui.TokenUsage{{Model: "m", InputTokens: 1}}}, `"usage":[{"model":"m","inputTokens":1}]}`},
		"negative usage":   {agui.RunFinished{Usage: []agui.TokenUsage{{InputTokens: -1}}}, `"runId":"r"}`},
		"null result":      {agui.RunFinished{Result: json.RawMessage(`null`)}, `"runId":"r"}`},
	} {
		e, events := record("r")
		e.Finish(tt.end)
		if got := string((*events)[1]); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%s: %s", name, got)
		}
		checkStream(t, *events)
	}
}

func TestEmitterStampsWhatHasNoTime(t *testing.T) {
	var events []string
	e := agui.NewEmitter(agui.EmitterConfig{Thread: "t", Run: "r", Now: func() time.Time { return time.UnixMilli(77) }, Sink: func(typ agui.Type, data []byte) {
		events = append(events, string(typ)+" "+string(data))
	}})
	e.Start(agui.Item{Kind: agui.KindText, ID: "m"})
	e.Delta(agui.KindText, "m", "x")
	e.Emit(&agui.Custom{Base: agui.Base{Timestamp: 5}, Name: "n"})
	want := []string{
		`RUN_STARTED {"type":"RUN_STARTED","threadId":"t","runId":"r","timestamp":77}`,
		`TEXT_MESSAGE_START {"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant","timestamp":77}`,
		`TEXT_MESSAGE_CONTENT {"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"x"}`,
		`CUSTOM {"type":"CUSTOM","name":"n","value":null,"timestamp":5}`,
	}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Error(diff)
	}
}

func TestEmitterDropsWhatAClientWouldMisread(t *testing.T) {
	for name, call := range map[string]func(*agui.Emitter){
		"empty delta":              func(e *agui.Emitter) { e.Delta(agui.KindText, "m", "") },
		"delta for nothing":        func(e *agui.Emitter) { e.Delta(agui.KindText, "x", "y") },
		"delta of another kind":    func(e *agui.Emitter) { e.Delta(agui.KindToolCall, "m", "y") },
		"kind that is none":        func(e *agui.Emitter) { e.Delta(0, "m", "y"); e.Delta(9, "m", "y"); e.End(9, "m", nil) },
		"item of no kind":          func(e *agui.Emitter) { e.Start(agui.Item{ID: "x"}) },
		"start again":              func(e *agui.Emitter) { e.Start(agui.Item{Kind: agui.KindText, ID: "m"}) },
		"end of nothing":           func(e *agui.Emitter) { e.End(agui.KindToolCall, "m", nil) },
		"reasoning in a text's id": func(e *agui.Emitter) { e.Start(agui.Item{Kind: agui.KindReasoning, ID: "m"}) },
		"result in a text's id":    func(e *agui.Emitter) { e.Result(agui.Result{MessageID: "m", CallID: "c"}) },
		"activity in a text's id":  func(e *agui.Emitter) { e.Emit(&agui.ActivitySnapshot{MessageID: "m", Content: json.RawMessage(`{}`)}) },
		"activity, no object":      func(e *agui.Emitter) { e.Emit(&agui.ActivitySnapshot{MessageID: "a", Content: json.RawMessage(`[]`)}) },
		"patch that is none":       func(e *agui.Emitter) { e.Emit(&agui.StateDelta{Delta: json.RawMessage(`[{"op":"odd"}]`)}) },
		"chunk":                    func(e *agui.Emitter) { e.Emit(&agui.TextMessageChunk{MessageID: "x", Delta: "y"}) },
		"unknown type":             func(e *agui.Emitter) { e.Emit(&agui.Unknown{Name: "ODD"}) },
		"unknown role": func(e *agui.Emitter) {
			e.Emit(&agui.MessagesSnapshot{Messages: []agui.Message{{ID: "m", Role: "odd"}}})
		},
		"sub-agent never started": func(e *agui.Emitter) { e.Emit(&agui.SubagentError{Base: agui.Base{SubagentRunID: "s"}}) },
		"run within the run":      func(e *agui.Emitter) { e.Emit(&agui.RunStarted{}) },
	} {
		e, events := record("r")
		e.Start(agui.Item{Kind: agui.KindText, ID: "m"})
		n := len(*events)
		if call(e); len(*events) != n {
			t.Errorf("%s: wrote %s", name, joined((*events)[n:]))
		}
	}
}

func TestEmitterMakesPartsOfAResultText(t *testing.T) {
	e, events := record("r")
	e.Emit(&agui.ToolCallResult{MessageID: "x", ToolCallID: "c", Content: json.RawMessage(`[{"type":"text","text":"a"},{"type":"image","source":{"type":"data","value":"AA==","mimeType":"image/png"}}]`)})
	want := `{"type":"TOOL_CALL_RESULT","messageId":"x","toolCallId":"c","content":"a\n[image image/png]","role":"tool"}`
	if got := string((*events)[1]); got != want {
		t.Errorf("got %s", got)
	}
}

// A call that comes again after an interrupt is the same call: its name, owner
// and message cannot change.
func TestEmitterKeepsACallThatComesAgain(t *testing.T) {
	e, events := record("r")
	e.Start(agui.Item{Kind: agui.KindText, ID: "m"})
	e.Start(agui.Item{Kind: agui.KindText, ID: "n", Subagent: "s"})
	e.Start(agui.Item{Kind: agui.KindToolCall, ID: "c", Name: "f", Parent: "m"})
	e.End(agui.KindToolCall, "c", nil)
	*events = nil
	e.Start(agui.Item{Kind: agui.KindToolCall, ID: "c", Name: "other", Parent: "n", Subagent: "s"})
	if want := `{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f"}`; joined(*events) != want {
		t.Errorf("got %s", joined(*events))
	}
	e.Finish(agui.RunFinished{})
}

// A server that died in the middle of a run: the next one closes it.
func TestEmitterGoesOnWhereAnotherStopped(t *testing.T) {
	r := newRand(t)
	for range 15 {
		events := wildRun(r.IntN, times(r.IntN(40)))
		for cut := 1; cut <= len(events); cut++ {
			e, rest := record("run")
			for _, data := range events[:cut] {
				ev, err := agui.Decode(data)
				if err != nil {
					t.Fatal(err)
				}
				e.Replay(ev)
			}
			e.Delta(agui.KindText, "a", "more")
			e.Fail(agui.RunError{Message: "lost", Code: "run_lost"})
			whole := append(events[:cut:cut], *rest...)
			if checkStream(t, whole); t.Failed() {
				return
			}
		}
	}
}

// Whoever is cut off in the middle of a thought thought until then.
func TestEmitterStampsTheEndOfWhatIsCutOff(t *testing.T) {
	now := int64(1000)
	var last agui.Event
	ends := map[agui.Type]int64{}
	e := agui.NewEmitter(agui.EmitterConfig{Thread: "t", Run: "r", Now: func() time.Time { return time.UnixMilli(now) }, Sink: func(typ agui.Type, data []byte) {
		var err error
		if last, err = agui.Decode(data); err != nil {
			t.Fatal(err)
		}
		switch x := last.(type) {
		case *agui.ReasoningMessageEnd:
			ends[typ] = x.Timestamp
		case *agui.ReasoningEnd:
			ends[typ] = x.Timestamp
		case *agui.RunFinished:
			ends[typ] = x.Timestamp
		}
	}})
	e.Start(agui.Item{Kind: agui.KindReasoning, ID: "m"})
	e.Delta(agui.KindReasoning, "m", "hm")
	now = 9000
	e.Finish(agui.RunFinished{})
	want := map[agui.Type]int64{agui.TypeReasoningMessageEnd: 9000, agui.TypeReasoningEnd: 9000, agui.TypeRunFinished: 9000}
	if diff := cmp.Diff(want, ends); diff != "" {
		t.Error(diff)
	}
}
