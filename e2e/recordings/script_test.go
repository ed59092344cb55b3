package recordings_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// step is one thing that the player does.
type step struct {
	Do     string `json:"do"`
	ID     string `json:"id,omitempty"`     // of a request, as recorded
	Method string `json:"method,omitempty"` // of a request that is awaited
	Line   string `json:"line,omitempty"`
}

// What a step does.
const (
	doAwait  = "await"  // waits for a request of the client
	doAnswer = "answer" // answers it
	doSay    = "say"    // a notification
	doAsk    = "ask"    // a request to the client
	doReply  = "reply"  // waits for the client's answer
	doCancel = "cancel" // waits until the turn is cancelled
	doExit   = "exit"   // leaves
)

const methodPrompt = "session/prompt"

// session is what was recorded of one session, with what opened it.
type session struct {
	name    string // AGENT/NAME, and #N for one of several in a recording
	number  int    // of a damaged one
	agent   string
	opening string // session/new, session/load, session/resume or session/fork
	id      string
	draft   bool // speaks version 2
	steps   []step
	prompts []string
	replies []reply // in the order of the questions
}

// reply is how a question was answered: no option is a cancellation.
type reply struct{ option, kind string }

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		SessionID string          `json:"sessionId"`
		RequestID json.RawMessage `json:"requestId"`
		Options   []struct {
			OptionID string `json:"optionId"`
			Kind     string `json:"kind"`
		} `json:"options"`
		Prompt []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"prompt"`
		Update update `json:"update"`
	} `json:"params"`
	Result struct {
		SessionID       string `json:"sessionId"`
		ProtocolVersion int    `json:"protocolVersion"`
		Outcome         struct {
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	} `json:"result"`
	Error *struct{} `json:"error"`
}

type record struct {
	fromAgent bool
	line      string
	m         message
}

// recorded gives the recordings' files, or skips the test.
func recorded(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv("AGENTSTREAM_TRACES")
	if dir == "" {
		t.Skip("AGENTSTREAM_TRACES names no folder of recordings")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	return files
}

// sessionsOf gives the sessions of a recording in which something was asked.
func sessionsOf(t testing.TB, file string) (out []*session) {
	t.Helper()
	records := readRecords(t, file)
	agent := filepath.Base(filepath.Dir(file))
	name := agent + "/" + strings.TrimSuffix(filepath.Base(file), ".jsonl")
	answers := map[string]message{}
	for _, r := range records {
		if r.fromAgent && r.m.Method == "" && r.m.ID != nil {
			answers[string(r.m.ID)] = r.m
		}
	}
	for _, r := range records {
		s := &session{name: name, agent: agent, opening: r.m.Method, id: r.m.Params.SessionID}
		switch a, ok := answers[string(r.m.ID)]; {
		case r.fromAgent || !ok || a.Error != nil:
			continue
		case r.m.Method == "session/new" || r.m.Method == "session/fork":
			s.id = a.Result.SessionID
		case r.m.Method != "session/load" && r.m.Method != "session/resume":
			continue
		}
		if s.read(records, string(r.m.ID)); len(s.prompts) > 0 {
			out = append(out, s)
		}
	}
	for i, s := range out {
		if len(out) > 1 {
			s.name += "#" + string(rune('1'+i))
		}
	}
	return out
}

func readRecords(t testing.TB, file string) (out []record) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l struct{ Dir, Line string }
		if json.Unmarshal(lines.Bytes(), &l) != nil || l.Dir != "a2c" && l.Dir != "c2a" {
			continue
		}
		r := record{fromAgent: l.Dir == "a2c", line: l.Line}
		if json.Unmarshal([]byte(l.Line), &r.m) == nil {
			out = append(out, r) // what is no message was written to see what becomes of it
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return out
}

// read takes over what belongs to the session that the request opened.
func (s *session) read(records []record, openedBy string) {
	mine, asked := map[string]string{}, map[string]message{}
	for _, r := range records {
		id := string(r.m.ID)
		here := r.m.Params.SessionID == s.id
		if here && (r.m.Method == "session/close" || r.m.Method == "session/delete") {
			break // no client of ours asks anything of it afterwards
		}
		switch request := r.m.Method != "" && r.m.ID != nil; {
		case request && r.fromAgent && here:
			asked[id] = r.m
			s.steps = append(s.steps, step{Do: doAsk, ID: id, Line: r.line})
			s.replies = append(s.replies, reply{})
		case request && !r.fromAgent:
			switch method := r.m.Method; {
			case method == "initialize", method == "authenticate", id == openedBy, method == methodPrompt && here:
				mine[id] = method
				s.steps = append(s.steps, step{Do: doAwait, ID: id, Method: method})
				if method == methodPrompt {
					s.prompts = append(s.prompts, promptText(r.m))
				}
			}
		case r.m.Method == "session/cancel" && here,
			r.m.Method == "$/cancel_request" && mine[string(r.m.Params.RequestID)] == methodPrompt:
			s.steps = append(s.steps, step{Do: doCancel})
		case r.fromAgent && r.m.Method == "":
			if mine[id] != "" {
				s.draft = s.draft || mine[id] == "initialize" && r.m.Result.ProtocolVersion == 2
				s.steps = append(s.steps, step{Do: doAnswer, ID: id, Line: r.line})
			}
		case r.fromAgent && (here || r.m.Params.SessionID == ""):
			s.steps = append(s.steps, step{Do: doSay, Line: r.line})
		case !r.fromAgent && r.m.Method == "":
			if q, ok := asked[id]; ok {
				s.steps = append(s.steps, step{Do: doReply, ID: id})
				s.replied(q, r.m)
			}
		}
	}
	s.oneByOne()
}

func promptText(m message) string {
	var texts []string
	for _, p := range m.Params.Prompt {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	if len(texts) == 0 {
		return "(nothing)" // an empty prompt is refused before it reaches the agent
	}
	return strings.Join(texts, "\n")
}

// replied notes how a question was answered.
func (s *session) replied(question, answer message) {
	n := 0
	for _, st := range s.steps {
		if st.Do == doAsk {
			if st.ID == string(question.ID) {
				break
			}
			n++
		}
	}
	r := reply{option: answer.Result.Outcome.OptionID}
	for _, o := range question.Params.Options {
		if o.OptionID == r.option {
			r.kind = o.Kind
		}
	}
	s.replies[n] = r
}

// oneByOne makes overlapping prompts follow each other, and drops a cancellation
// outside of a turn and a second one in it: no client of ours sends these.
func (s *session) oneByOne() {
	var out, later []step
	open, cancelled := "", false
	begin := func(st step) {
		open, cancelled = st.ID, false
		out = append(out, st)
	}
	for _, st := range s.steps {
		switch {
		case st.Do == doAwait && st.Method == methodPrompt && open != "":
			later = append(later, st)
		case st.Do == doAwait && st.Method == methodPrompt:
			begin(st)
		case st.Do == doCancel && (open == "" || cancelled):
		case st.Do == doAnswer && st.ID == open:
			out = append(out, st)
			if open = ""; len(later) > 0 {
				begin(later[0])
				later = later[1:]
			}
		default:
			cancelled = cancelled || st.Do == doCancel
			out = append(out, st)
		}
	}
	s.steps = append(out, later...)
}

// renumber gives a message another id.
func renumber(line, id string) string {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &m) != nil {
		return line
	}
	m["id"] = json.RawMessage(id)
	out, err := json.Marshal(m)
	if err != nil {
		panic(err) // it was JSON a moment ago
	}
	return string(out)
}

// rename makes the agent one that nobody has heard of.
func (s *session) rename() *session {
	out := *s
	out.steps = slices.Clone(s.steps)
	for i, st := range out.steps {
		var m map[string]any
		if st.Do != doAnswer || json.Unmarshal([]byte(st.Line), &m) != nil {
			continue
		}
		result, _ := m["result"].(map[string]any)
		if info, ok := result["agentInfo"].(map[string]any); ok {
			info["name"], info["title"] = "nobody-knows", "Nobody Knows"
			line, err := json.Marshal(m)
			if err != nil {
				panic(err) // it was JSON a moment ago
			}
			out.steps[i].Line = string(line)
		}
	}
	return &out
}

// write leaves the script where the player looks for it.
func (s *session) write(t testing.TB, dir string) {
	t.Helper()
	var b []byte
	for _, st := range s.steps {
		line, err := json.Marshal(st)
		if err != nil {
			t.Fatal(err)
		}
		b = append(append(b, line...), '\n')
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, scriptFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
}
