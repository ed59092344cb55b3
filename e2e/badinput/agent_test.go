package badinput

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

const habitVariable = "BADINPUT_HABIT"

func TestMain(m *testing.M) {
	if name := os.Getenv(habitVariable); name != "" {
		play(name)
		return
	}
	os.Exit(m.Run())
}

// habit is what an agent writes beside what it should: lines, each with its end.
// In them SESSION is the session's id and PROMPT the id of the prompt.
type habit struct {
	start  string // before it says anything
	naming string // between session/new and its answer
	opened string // behind that answer, outside of any turn
	before string // in the turn, before the text
	middle string // in the midst of the text
	last   string // behind the text, before the prompt's answer
	after  string // behind the prompt's answer
	asks   bool   // waits in the turn until a request of its own was refused
	counts int    // diagnostics there must be at least
	more   string // the answer's text beside "Hello, world"
}

// said is the text of the turn.
const said = "Hello, world"

type agent struct {
	habit
	in      *bufio.Reader
	out     *bufio.Writer
	session string
}

type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Error  json.RawMessage `json:"error"`
}

func play(name string) {
	a := &agent{habit: stride[name], in: bufio.NewReader(os.Stdin), out: bufio.NewWriter(os.Stdout), session: "s1"}
	if start, ok := failures[name]; ok {
		start.play(a)
		return
	}
	a.write(a.start, nil)
	for {
		m, err := a.next()
		if err != nil {
			return
		}
		switch m.Method {
		case "initialize":
			a.answer(m.ID, `{"protocolVersion":1,"agentCapabilities":{},"agentInfo":{"name":"odd","version":"1"}}`)
		case "session/new":
			a.write(a.naming, m.ID)
			a.answer(m.ID, `{"sessionId":"s1"}`)
			a.write(a.opened, m.ID)
		case "session/prompt":
			a.prompt(m.ID)
		}
	}
}

func (a *agent) next() (m rpc, err error) {
	for {
		line, err := a.in.ReadBytes('\n')
		if err != nil {
			return m, err
		}
		if m = (rpc{}); json.Unmarshal(line, &m) == nil {
			return m, nil
		}
	}
}

func (a *agent) prompt(id json.RawMessage) {
	a.write(a.before, id)
	if a.asks {
		for m, err := a.next(); err == nil && m.Error == nil; m, err = a.next() {
			continue
		}
	}
	a.write(update(chunk(`"`+said[:5]+`"`)), id)
	a.write(a.middle, id)
	a.write(update(chunk(`"`+said[5:]+`"`)), id)
	a.write(a.last, id)
	a.answer(id, `{"stopReason":"end_turn"}`)
	a.write(a.after, id)
}

func (a *agent) answer(id json.RawMessage, result string) {
	a.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result), nil)
}

// write writes lines. One that begins with BIG is as many bytes long as it says.
func (a *agent) write(lines string, id json.RawMessage) {
	lines = strings.NewReplacer("PROMPT", string(id), "SESSION", a.session).Replace(lines)
	for line := range strings.SplitAfterSeq(lines, "\n") {
		var size int
		if n, _ := fmt.Sscanf(line, "BIG %d", &size); n == 1 {
			text := strings.ReplaceAll(update(chunk(`"|"`)), "SESSION", a.session)
			before, after, _ := strings.Cut(text, "|")
			_, _ = a.out.WriteString(before)
			fill(a.out, size-len(before)-len(after))
			line = after
		}
		_, _ = a.out.WriteString(line)
	}
	_ = a.out.Flush()
}

func fill(w io.Writer, size int) {
	piece := strings.Repeat("x", 1<<16)
	for ; size > 0; size -= len(piece) {
		_, _ = io.WriteString(w, piece[:min(size, len(piece))])
	}
}

// update is a session/update as a line.
func update(body string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"SESSION","update":` + body + "}}\n"
}

// chunk is the update with a piece of text, given as JSON.
func chunk(text string) string {
	return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + text + `}}`
}
