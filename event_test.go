package agentstream_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
)

// core takes the six calls and nothing else.
type core struct{ got []agentstream.Event }

func (c *core) add(e agentstream.Event)      { c.got = append(c.got, e) }
func (c *core) OnMessageChunk(text string)   { c.add(agentstream.MessageChunk{Text: text}) }
func (c *core) OnThoughtChunk(text string)   { c.add(agentstream.ThoughtChunk{Text: text}) }
func (c *core) OnToolCall(id, title string)  { c.add(agentstream.ToolCall{ID: id, Title: title}) }
func (c *core) OnTokenUsage(totalTokens int) { c.add(agentstream.TokenUsage{TotalTokens: totalTokens}) }
func (c *core) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	c.add(agentstream.ToolCallUpdate{ID: id, Content: content, Status: status})
}
func (c *core) OnToolCallArgsSnapshot(id, args string) {
	c.add(agentstream.ToolCallArgsSnapshot{ID: id, Args: args})
}

// rich has a method for every rich kind.
type rich struct{ core }

func (r *rich) OnToolCallInfo(e agentstream.ToolCallInfo) { r.add(e) }
func (r *rich) OnSegment(e agentstream.Segment)           { r.add(e) }
func (r *rich) OnNotice(e agentstream.Notice)             { r.add(e) }
func (r *rich) OnPlan(e agentstream.Plan)                 { r.add(e) }
func (r *rich) OnDiff(e agentstream.Diff)                 { r.add(e) }
func (r *rich) OnOutput(e agentstream.Output)             { r.add(e) }
func (r *rich) OnMedia(e agentstream.Media)               { r.add(e) }
func (r *rich) OnUsage(e agentstream.Usage)               { r.add(e) }
func (r *rich) OnSubagent(e agentstream.Subagent)         { r.add(e) }
func (r *rich) OnRaw(e agentstream.Raw)                   { r.add(e) }

// catchAll forwards what it has no method for.
type catchAll struct {
	core
	take bool
}

func (c *catchAll) Forward(e agentstream.Event) bool {
	c.add(e)
	return c.take
}

func all() (events []agentstream.Event) {
	for _, f := range forms {
		events = append(events, f.event)
	}
	return events
}

func isCore(e agentstream.Event) bool { return agentstream.Send(&core{}, e) }

func TestSendDeliversByTheEventsOwnMethod(t *testing.T) {
	h := &rich{}
	for _, e := range all() {
		if !agentstream.Send(h, e) {
			t.Errorf("Send(%T) = false", e)
		}
	}
	if diff := cmp.Diff(all(), h.got); diff != "" {
		t.Errorf("what arrived (-want +got):\n%s", diff)
	}
}

func TestSendFallsBackToForward(t *testing.T) {
	for _, take := range []bool{true, false} {
		h := &catchAll{take: take}
		for _, e := range all() {
			if got, want := agentstream.Send(h, e), take || isCore(e); got != want {
				t.Errorf("Send(%T) = %v with a Forward that says %v", e, got, take)
			}
		}
		if diff := cmp.Diff(all(), h.got); diff != "" {
			t.Errorf("what arrived (-want +got):\n%s", diff)
		}
	}
}

func TestSendSaysWhatNobodyTook(t *testing.T) {
	h := &core{}
	taken := 0
	for _, e := range all() {
		if agentstream.Send(h, e) {
			taken++
		}
	}
	if taken != 6 || len(h.got) != 6 {
		t.Errorf("a handler of the six took %d events, got %d calls; want 6", taken, len(h.got))
	}
	if agentstream.Send(nil, agentstream.Segment{}) || agentstream.Send(h, nil) {
		t.Error("Send to nobody, or of nothing, says that somebody took it")
	}
}

func TestTerminalStatuses(t *testing.T) {
	for s, want := range map[agentstream.ToolCallStatus]bool{
		agentstream.ToolCallStatusPending: false, agentstream.ToolCallStatusInProgress: false,
		agentstream.ToolCallStatusCompleted: true, agentstream.ToolCallStatusFailed: true, -1: false, 4: false,
	} {
		if got := s.IsTerminal(); got != want {
			t.Errorf("%v.IsTerminal() = %v, want %v", s, got, want)
		}
	}
}

// printer shows an answer as it comes, and notes plans. It would lock if
// several goroutines drove it.
type printer struct{ calls int }

func (p *printer) OnMessageChunk(text string) { fmt.Print(text) }
func (p *printer) OnThoughtChunk(string)      {}
func (p *printer) OnToolCall(_, title string) { p.calls++; fmt.Printf("[%s] ", title) }
func (p *printer) OnToolCallUpdate(_, content string, status agentstream.ToolCallStatus) {
	if status.IsTerminal() {
		fmt.Printf("-> %s (%v)\n", content, status)
	}
}
func (p *printer) OnToolCallArgsSnapshot(_, _ string) {}
func (p *printer) OnTokenUsage(int)                   {}
func (p *printer) OnPlan(e agentstream.Plan)          { fmt.Println("plan of", len(e.Entries)) }

// A handler implements the six methods, and of the rich events those it
// likes. The sender sees what nobody took.
func ExampleSend() {
	h := &printer{}
	h.OnToolCall("c1", "Read notes.txt")
	h.OnToolCallUpdate("c1", "buy milk", agentstream.ToolCallStatusCompleted)
	agentstream.Send(h, agentstream.Plan{Entries: make([]agentstream.PlanEntry, 2)})
	if !agentstream.Send(h, agentstream.Notice{Text: "retrying"}) {
		fmt.Println("nobody shows notices")
	}
	h.OnMessageChunk("Buy milk.\n")
	// Output:
	// [Read notes.txt] -> buy milk (completed)
	// plan of 2
	// nobody shows notices
	// Buy milk.
}

func ExampleAppendEvent() {
	line := agentstream.AppendEvent(nil, agentstream.ToolCallUpdate{ID: "c1", Content: "buy milk", Status: agentstream.ToolCallStatusCompleted})
	fmt.Println(string(line))
	// Output: {"event":"tool_call_update","id":"c1","content":"buy milk","status":"completed"}
}

func ExampleParseEvent() {
	e, err := agentstream.ParseEvent([]byte(`{"event":"message_chunk","text":"hello"}`))
	fmt.Printf("%#v %v\n", e, err)
	// Output: agentstream.MessageChunk{Text:"hello"} <nil>
}
