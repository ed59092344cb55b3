package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
)

// heard reports whether the channel is closed.
func heard(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// The word cancels what runs, if it is its turn; the other lines come in order.
func TestTypist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		ty := newTypist(r, false)
		lines := bufio.NewReader(ty)
		next := func(want string) {
			t.Helper()
			got, _ := lines.ReadString('\n')
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		write := func(s string) {
			_, _ = io.WriteString(w, s)
			synctest.Wait()
		}
		write("/cancel\n")
		next("/cancel\n") // nothing runs: whoever reads is told
		write("one\ntwo\n")
		next("one\n")
		stop := ty.begin()
		write("/cancel\n")
		if heard(stop) {
			t.Error("the word is heard before a line that was there first")
		}
		next("two\n")
		if !heard(stop) {
			t.Error("the word is not heard when it is its turn")
		}
		ty.end()
		stop = ty.begin()
		write("  /cancel \r\n")
		if !heard(stop) {
			t.Error("the word is not heard while the agent works")
		}
		write("three")
		_ = w.Close()
		next("three")
		if _, err := lines.ReadString('\n'); err != io.EOF {
			t.Errorf("%v at the end", err)
		}
	})
}

// A person's word counts at once.
func TestTypistAtATerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		defer func() { _ = w.Close() }()
		ty := newTypist(r, true)
		stop := ty.begin()
		_, _ = io.WriteString(w, "next\n/cancel\n")
		synctest.Wait()
		if !heard(stop) {
			t.Error("the word is not heard")
		}
		if line, _ := bufio.NewReader(ty).ReadString('\n'); line != "next\n" {
			t.Errorf("%q", line)
		}
	})
}

func TestMarkdown(t *testing.T) {
	text := func(s string) json.RawMessage { return agui.StringContent(s) }
	open := "r2"
	m := engine.Messages{
		OpenRun: &open,
		Pending: []engine.Request{{ID: "q1", Title: "Write\nb.txt"}},
		Messages: []agui.Message{
			{ID: "u", Role: agui.RoleUser, Content: json.RawMessage(`[{"type":"text","text":"Hi\u001b[2J"},{"type":"image","source":{}}]`)},
			{ID: "r", Role: agui.RoleReasoning, Content: text("so\nand so")},
			{ID: "a", Role: agui.RoleAssistant, Content: text("**Yes**"), ToolCalls: []agui.ToolCall{
				{ID: "c", Name: "read", Arguments: `{"path":"x"}`, Metadata: json.RawMessage(`{"agentstream":{"title":"Read x"}}`)},
				{ID: "d", Name: "write_file", Arguments: `{}`},
			}},
			{ID: "t", Role: agui.RoleTool, ToolCallID: "c", Content: text("```go\nx\n```\n")},
		},
	}
	th := engine.Thread{ID: "t1", Agent: "demo", Title: "A title", CreatedAt: time.Unix(0, 0)}
	var b bytes.Buffer
	if err := markdown(bufio.NewWriter(&b), th, m); err != nil {
		t.Fatal(err)
	}
	want := strings.ReplaceAll(`# A title

Thread 't1' with demo, begun 1970-01-01T00:00:00Z.

## User

Hi\x1b[2J
[image]

> so
> and so

## demo

**Yes**

### Read x

'''json
{"path":"x"}
'''

''''
'''go
x
'''
''''

### write_file

'''json
{}
'''

*Waits for an answer: Write b.txt ('q1')*

*Run 'r2' goes on.*
`, "'", "`")
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
