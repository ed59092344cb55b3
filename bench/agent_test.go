//go:build unix

package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// agentEnv, in the environment, makes the test binary an ACP agent on its
// standard input and output.
const agentEnv = "AGENTSTREAM_BENCH_AGENT"

func TestMain(m *testing.M) {
	if os.Getenv(agentEnv) != "" {
		agent(os.Stdin, os.Stdout)
		return
	}
	if path := os.Getenv(generatorEnv); path != "" {
		if err := generate(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if dir := os.Getenv(serverEnv); dir != "" {
		if err := serveChild(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// agent answers a prompt "N [WINDOW [RATE [CALLS]]]" with N chunks of text. With a window it waits after that many chunks until the client has sent
// a session/cancel, the only notification a client has: that is how a
// client without back-pressure is kept alive. With a rate it says that many
// chunks a second, and each chunk begins with the time it was said. With calls it
// calls a tool after that many chunks.
func agent(stdin io.Reader, stdout io.Writer) {
	in := bufio.NewReaderSize(stdin, 1<<16)
	out := bufio.NewWriterSize(stdout, 1<<16)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Prompt []struct{ Text string } }
		}
		if json.Unmarshal(line, &m) != nil {
			return
		}
		result := "{}"
		switch m.Method {
		case "initialize":
			result = `{"protocolVersion":1,"agentCapabilities":{},"authMethods":[]}`
		case "session/new":
			result = `{"sessionId":"s"}`
		case "session/prompt":
			say(in, out, m.Params.Prompt[0].Text)
			result = `{"stopReason":"end_turn"}`
		}
		if m.ID != nil {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
		}
		if out.Flush() != nil {
			return
		}
	}
}

const (
	updateHead = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"`
	updateTail = `"}}}}` + "\n"
	toolCall   = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"call-%d","title":"Read a file","kind":"read","status":"in_progress","rawInput":{"path":"file-%d.txt"}}}}` + "\n" +
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"call-%d","status":"completed","content":[{"type":"content","content":{"type":"text","text":"what the file says, in a line or two"}}]}}}` + "\n"
	chunkText = "keeps every byte in order, "
)

func say(in *bufio.Reader, out *bufio.Writer, prompt string) {
	var f [4]int
	for i, s := range strings.Fields(prompt) {
		f[i], _ = strconv.Atoi(s)
	}
	count, window, rate, calls := f[0], f[1], f[2], f[3]
	begin := time.Now()
	var stamp []byte
	for i := range count {
		if window > 0 && i > 0 && i%window == 0 {
			_ = out.Flush()
			if _, err := in.ReadBytes('\n'); err != nil {
				return
			}
		}
		if calls > 0 && i > 0 && i%calls == 0 {
			fmt.Fprintf(out, toolCall, i, i, i)
		}
		text := chunkText
		if rate > 0 {
			due := begin.Add(time.Duration(i) * time.Second / time.Duration(rate))
			if wait := time.Until(due); wait > 0 {
				_ = out.Flush()
				<-time.After(wait)
			}
			stamp = strconv.AppendInt(stamp[:0], time.Now().UnixNano(), 10)
			text = string(append(stamp, ' '))
		}
		_, _ = out.WriteString(updateHead)
		_, _ = out.WriteString(text)
		_, _ = out.WriteString(updateTail)
		if rate > 0 {
			_ = out.Flush()
		}
	}
}
