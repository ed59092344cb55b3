package approvals

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// The agent under test is this test binary, told what to do by its prompts and,
// at its gates, by files that tests make.
const (
	agentVariable = "APPROVALS_AGENT"
	gatesVariable = "APPROVALS_GATES"
)

func TestMain(m *testing.M) {
	if os.Getenv(agentVariable) != "" {
		(&agent{out: os.Stdout, replies: map[int]chan string{}}).serve()
		return
	}
	os.Exit(m.Run())
}

type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Prompt []struct{ Text string } `json:"prompt"`
	} `json:"params"`
	Result struct {
		Outcome struct{ Outcome, OptionID string } `json:"outcome"`
	} `json:"result"`
}

type agent struct {
	mu       sync.Mutex
	out      *os.File
	next     int
	replies  map[int]chan string
	canceled chan struct{}
}

func (a *agent) serve() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m rpc
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		switch m.Method {
		case "initialize":
			a.write(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":1,"agentCapabilities":{}}}`, m.ID)
		case "session/new":
			a.write(`{"jsonrpc":"2.0","id":%s,"result":{"sessionId":"s"}}`, m.ID)
		case "session/cancel":
			close(a.canceled)
		case "session/prompt":
			a.canceled = make(chan struct{})
			go a.turn(m, a.canceled)
		case "":
			a.reply(m)
		}
	}
}

// reply hands the client's answer to whoever waits for it.
func (a *agent) reply(m rpc) {
	var id int
	_ = json.Unmarshal(m.ID, &id)
	a.mu.Lock()
	ch := a.replies[id]
	a.mu.Unlock()
	if ch != nil {
		answer := m.Result.Outcome.OptionID
		if answer == "" {
			answer = m.Result.Outcome.Outcome
		}
		ch <- answer
	}
}

func (a *agent) write(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(a.out, format+"\n", args...)
}

func (a *agent) update(u map[string]any) {
	data, _ := json.Marshal(u)
	a.write(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":%s}}`, data)
}

// turn does what the prompt's lines say:
//
//	say TEXT             a piece of the answer
//	call ID KIND TITLE   declares a call; with KIND read:PATH, one that names a file
//	ask ID               asks for permission, without waiting
//	answer ID            waits for that answer, which is the call's result
//	done ID TEXT         ends a call that needs no permission
//	gate NAME            waits for the test
//	deaf                 hears no cancel from now on
//	die, fail            ends the process, or the turn by an error
func (a *agent) turn(m rpc, canceled <-chan struct{}) {
	script := m.Params.Prompt[len(m.Params.Prompt)-1].Text
	asked := map[string]chan string{}
	for line := range strings.Lines(script) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		id, more, _ := strings.Cut(rest, " ")
		switch word {
		case "say":
			a.update(map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]string{"type": "text", "text": rest}})
		case "call":
			a.update(declaration("tool_call", id, more))
		case "ask":
			asked[id] = a.ask(declaration("tool_call_update", id, more))
		case "answer":
			select {
			case answer := <-asked[id]:
				status := "completed"
				if !strings.HasPrefix(answer, "allow") {
					status = "failed"
				}
				a.result(id, status, answer)
			case <-canceled:
			}
		case "done":
			a.result(id, "completed", more)
		case "gate":
			gate(rest, canceled)
		case "deaf":
			canceled = nil
		case "die":
			os.Exit(3)
		case "fail":
			a.write(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"it went wrong"}}`, m.ID)
			return
		}
		select {
		case <-canceled:
			a.write(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`, m.ID)
			return
		default:
		}
	}
	a.write(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
}

func declaration(update, id, about string) map[string]any {
	u := map[string]any{"sessionUpdate": update, "toolCallId": id}
	kind, title, ok := strings.Cut(about, " ")
	if !ok {
		return u
	}
	kind, path, located := strings.Cut(kind, ":")
	u["kind"], u["title"], u["status"], u["rawInput"] = kind, title, "pending", map[string]string{"what": title}
	if located {
		u["locations"] = []map[string]string{{"path": path}}
	}
	return u
}

func (a *agent) result(id, status, text string) {
	a.update(map[string]any{
		"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
		"content": []any{map[string]any{"type": "content", "content": map[string]string{"type": "text", "text": text}}},
	})
}

func (a *agent) ask(call map[string]any) chan string {
	ch := make(chan string, 1)
	a.mu.Lock()
	a.next++
	id := a.next
	a.replies[id] = ch
	a.mu.Unlock()
	delete(call, "sessionUpdate")
	data, _ := json.Marshal(call)
	a.write(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s","toolCall":%s,"options":[`+
		`{"optionId":"allow-1","name":"Allow","kind":"allow_once"},{"optionId":"allow-2","name":"Always allow","kind":"allow_always"},`+
		`{"optionId":"reject-1","name":"Reject","kind":"reject_once"},{"optionId":"reject-2","name":"Always reject","kind":"reject_always"}]}}`, id, data)
	return ch
}

// gate waits for the file of that name.
func gate(name string, canceled <-chan struct{}) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(filepath.Join(os.Getenv(gatesVariable), name)); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-canceled:
			return
		}
	}
}
