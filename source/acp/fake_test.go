//go:build linux || darwin

package acp

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/source/sourcetest"
)

const (
	scriptVariable = "ACP_TEST_SCRIPT"
	sleepVariable  = "ACP_TEST_SLEEP"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(sleepVariable) != "":
		<-time.After(time.Hour)
	case os.Getenv(scriptVariable) != "":
		var script sourcetest.Script
		if err := json.Unmarshal([]byte(os.Getenv(scriptVariable)), &script); err != nil {
			panic(err)
		}
		newFake(os.Stdin, os.Stdout).serve(script)
	default:
		os.Exit(m.Run())
	}
}

// fake is an ACP agent that plays a script. It is written against the protocol
// alone and shares no code with the package.
type fake struct {
	out  *bufio.Writer
	in   chan rpcMessage
	next int
}

type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params map[string]any  `json:"params"`
	Result map[string]any  `json:"result"`
}

func newFake(r io.Reader, w io.Writer) *fake {
	f := &fake{out: bufio.NewWriter(w), in: make(chan rpcMessage)}
	go func() {
		defer close(f.in)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadBytes('\n')
			if err != nil {
				return
			}
			var m rpcMessage
			if json.Unmarshal(line, &m) == nil {
				f.in <- m
			}
		}
	}()
	return f
}

func (f *fake) send(format string, args ...any) {
	fmt.Fprintf(f.out, format+"\n", args...)
	f.out.Flush()
}

func (f *fake) update(kind string, fields string, args ...any) {
	f.send(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":%q,%s}}}`, kind, fmt.Sprintf(fields, args...))
}

func (f *fake) answer(id json.RawMessage, result string) {
	f.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func (f *fake) serve(script sourcetest.Script) {
	for m := range f.in {
		switch m.Method {
		case "initialize":
			f.answer(m.ID, `{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"fake","version":"1"}}`)
		case "session/new":
			f.answer(m.ID, `{"sessionId":"s1"}`)
		case "session/prompt":
			if len(script) == 0 {
				f.answer(m.ID, `{"stopReason":"refusal"}`)
				continue
			}
			steps := script[0]
			script = script[1:]
			for _, step := range steps {
				f.play(m.ID, step)
			}
		}
	}
}

func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func (f *fake) play(prompt json.RawMessage, s sourcetest.Step) {
	switch s.Do {
	case sourcetest.Say:
		f.update("agent_message_chunk", `"content":{"type":"text","text":%s}`, quote(s.Text))
	case sourcetest.Think:
		f.update("agent_thought_chunk", `"content":{"type":"text","text":%s}`, quote(s.Text))
	case sourcetest.Halves:
		runes := []rune(s.Text)
		last := runes[len(runes)-1] - 0x10000
		f.update("agent_message_chunk", `"content":{"type":"text","text":"%s\u%04x"}`, string(runes[:len(runes)-1]), 0xD800+last>>10)
		f.update("agent_message_chunk", `"content":{"type":"text","text":"\u%04x"}`, 0xDC00+last&0x3FF)
	case sourcetest.Call:
		f.update("tool_call", `"toolCallId":%q,"title":%s,"status":"pending"`, s.ID, quote(s.Text))
	case sourcetest.Args:
		f.update("tool_call_update", `"toolCallId":%q,"rawInput":%s`, s.ID, s.Text)
	case sourcetest.Done:
		f.finish(s, "completed")
	case sourcetest.Fail:
		f.finish(s, "failed")
	case sourcetest.Usage:
		f.update("usage_update", `"used":%s,"size":1000`, s.Text)
	case sourcetest.Odd:
		f.send("npm warn something is old")
		f.send(`{"jsonrpc":"2.0","method":"_vendor/news","params":{}}`)
		f.update("tea_leaves", `"shape":"cup"`)
		f.send(`{"jsonrpc":"2.0","id":"odd","method":"craft/drain"}`)
		f.await(func(m rpcMessage) bool { return string(m.ID) == `"odd"` })
	case sourcetest.End:
		f.answer(prompt, `{"stopReason":`+quote(s.Text)+`}`)
	default:
		f.control(s)
	}
}

func (f *fake) finish(s sourcetest.Step, status string) {
	f.update("tool_call_update", `"toolCallId":%q,"status":%q,"content":[{"type":"content","content":{"type":"text","text":%s}}]`, s.ID, status, quote(s.Text))
}

func (f *fake) control(s sourcetest.Step) {
	switch s.Do {
	case sourcetest.Ask:
		f.next++
		f.send(`{"jsonrpc":"2.0","id":%d,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":%q,"title":"may I"},`+
			`"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}`, f.next, s.ID)
		f.await(func(m rpcMessage) bool { return string(m.ID) == fmt.Sprint(f.next) && m.Method == "" })
	case sourcetest.Hang:
		f.await(func(m rpcMessage) bool { return m.Method == "session/cancel" })
	case sourcetest.Deaf:
		f.await(func(rpcMessage) bool { return false })
		<-time.After(time.Hour)
	case sourcetest.Die:
		fmt.Fprintln(os.Stderr, s.Text)
		os.Exit(9)
	case sourcetest.Spawn:
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), sleepVariable+"=1")
		cmd.Stdout = os.Stdout // as careless as they come: it holds the pipe
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			panic(err)
		}
	}
}

// await reads until a message fits; it is also what makes a script wait.
func (f *fake) await(fits func(rpcMessage) bool) {
	for m := range f.in {
		if fits(m) {
			return
		}
	}
}
