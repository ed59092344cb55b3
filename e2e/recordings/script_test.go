package recordings_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/recordings/player"
)

// session is what was recorded of one session, with what opened it.
type session struct {
	name    string // AGENT/NAME, and #N for one of several in a recording
	number  int    // of a damaged one
	agent   string
	opening string // session/new, session/load, session/resume or session/fork
	id      string
	draft   bool // speaks version 2
	steps   []player.Step
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
			s.steps = append(s.steps, player.Step{Do: player.Ask, ID: id, Line: r.line})
			s.replies = append(s.replies, reply{})
		case request && !r.fromAgent:
			switch method := r.m.Method; {
			case method == "initialize", method == "authenticate", id == openedBy, method == player.Prompt && here:
				mine[id] = method
				s.steps = append(s.steps, player.Step{Do: player.Await, ID: id, Method: method})
				if method == player.Prompt {
					s.prompts = append(s.prompts, promptText(r.m))
				}
			}
		case r.m.Method == "session/cancel" && here,
			r.m.Method == "$/cancel_request" && mine[string(r.m.Params.RequestID)] == player.Prompt:
			s.steps = append(s.steps, player.Step{Do: player.Cancel})
		case r.fromAgent && r.m.Method == "":
			if mine[id] != "" {
				s.draft = s.draft || mine[id] == "initialize" && r.m.Result.ProtocolVersion == 2
				s.steps = append(s.steps, player.Step{Do: player.Answer, ID: id, Line: r.line})
			}
		case r.fromAgent && (here || r.m.Params.SessionID == ""):
			s.steps = append(s.steps, player.Step{Do: player.Say, Line: r.line})
		case !r.fromAgent && r.m.Method == "":
			if q, ok := asked[id]; ok {
				s.steps = append(s.steps, player.Step{Do: player.Reply, ID: id})
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
		if st.Do == player.Ask {
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
	var out, later []player.Step
	open, cancelled := "", false
	begin := func(st player.Step) {
		open, cancelled = st.ID, false
		out = append(out, st)
	}
	for _, st := range s.steps {
		switch {
		case st.Do == player.Await && st.Method == player.Prompt && open != "":
			later = append(later, st)
		case st.Do == player.Await && st.Method == player.Prompt:
			begin(st)
		case st.Do == player.Cancel && (open == "" || cancelled):
		case st.Do == player.Answer && st.ID == open:
			out = append(out, st)
			if open = ""; len(later) > 0 {
				begin(later[0])
				later = later[1:]
			}
		default:
			cancelled = cancelled || st.Do == player.Cancel
			out = append(out, st)
		}
	}
	s.steps = append(out, later...)
}

// rename makes the agent one that nobody has heard of.
func (s *session) rename() *session {
	out := *s
	out.steps = slices.Clone(s.steps)
	for i, st := range out.steps {
		var m map[string]any
		if st.Do != player.Answer || json.Unmarshal([]byte(st.Line), &m) != nil {
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
	if err := player.Write(dir, s.steps); err != nil {
		t.Fatal(err)
	}
}
