package agui_test

import (
	"fmt"

	"github.com/agentstream-go/agentstream/agui"
)

func ExampleNewEmitter() {
	e := agui.NewEmitter(agui.EmitterConfig{
		Thread: "thread-1", Run: "run-1",
		Sink: func(_ agui.Type, event []byte) { fmt.Printf("data: %s\n", event) },
	})
	e.Start(agui.Item{Kind: agui.KindText, ID: "m1"})
	e.Delta(agui.KindText, "m1", "Hello")
	e.Finish(agui.RunFinished{}) // closes the message first
	// Output:
	// data: {"type":"RUN_STARTED","threadId":"thread-1","runId":"run-1"}
	// data: {"type":"TEXT_MESSAGE_START","messageId":"m1","role":"assistant"}
	// data: {"type":"TEXT_MESSAGE_CONTENT","messageId":"m1","delta":"Hello"}
	// data: {"type":"TEXT_MESSAGE_END","messageId":"m1"}
	// data: {"type":"RUN_FINISHED","threadId":"thread-1","runId":"run-1"}
}

func ExampleNewVerifier() {
	v := agui.NewVerifier(agui.V1)
	fmt.Println(v.Check(&agui.RunStarted{ThreadID: "t", RunID: "r"}))
	fmt.Println(v.Check(&agui.TextMessageContent{MessageID: "m", Delta: "Hello"}))
	fmt.Println(v.End())
	// Output:
	// <nil>
	// agui: TEXT_MESSAGE_CONTENT: "m" is not open
	// agui: the stream ends without a terminal event
}

func ExampleNewList() {
	l := agui.NewList()
	l.Start(agui.Item{Kind: agui.KindToolCall, ID: "c1", Name: "read", Parent: "m1"})
	l.Start(agui.Item{Kind: agui.KindText, ID: "m2"})
	l.Delta(agui.KindText, "m2", "Reading …")
	l.Result(agui.Result{MessageID: "t1", CallID: "c1", Content: "text"}) // stands behind its call
	for _, m := range l.Messages() {
		fmt.Println(m.ID, m.Role)
	}
	// Output:
	// m1 assistant
	// t1 tool
	// m2 assistant
}

func ExampleDecode() {
	e, err := agui.Decode([]byte(`{"type":"CUSTOM","name":"example","value":{"n":1}}`))
	if c, ok := e.(*agui.Custom); ok {
		fmt.Println(c.Name, string(c.Value), err)
	}
	// Output: example {"n":1} <nil>
}

func ExampleHandlers() {
	l := agui.NewList()
	e := agui.NewEmitter(agui.EmitterConfig{Thread: "t", Run: "r", Sink: func(t agui.Type, _ []byte) { fmt.Println(t) }})
	both := agui.Handlers(e, l) // the stream, and what its readers will hold
	both.Start(agui.Item{Kind: agui.KindReasoning, ID: "r1"})
	both.Delta(agui.KindReasoning, "r1", "Let me see.")
	both.End(agui.KindReasoning, "r1", nil)
	fmt.Println(string(l.AppendJSON(nil)))
	// Output:
	// RUN_STARTED
	// REASONING_START
	// REASONING_MESSAGE_START
	// REASONING_MESSAGE_CONTENT
	// REASONING_MESSAGE_END
	// REASONING_END
	// [{"id":"r1","role":"reasoning","content":"Let me see."}]
}
