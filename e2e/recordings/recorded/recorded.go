// Package recorded reads recorded sessions of ACP agents into scripts for the player.
package recorded

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/agentstream-go/agentstream/e2e/recordings/player"
)

// Session is what was recorded of one session, with what opened it.
type Session struct {
	Name    string // AGENT/NAME, and #N for one of several in a recording
	Agent   string
	Opening string // session/new, session/load, session/resume or session/fork
	ID      string
	Draft   bool // speaks version 2
	Steps   []player.Step
	Prompts []string
	Replies []Reply // in the order of the questions
}

// Reply is how a question was answered: no option is a cancellation.
type Reply struct{ Option, Kind string }

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

// Sessions gives the sessions of a recording in which something was asked.
func Sessions(file string) (out []*Session, err error) {
	records, err := readRecords(file)
	if err != nil {
		return nil, err
	}
	agent := filepath.Base(filepath.Dir(file))
	name := agent + "/" + strings.TrimSuffix(filepath.Base(file), ".jsonl")
	answers := map[string]message{}
	for _, r := range records {
		if r.fromAgent && r.m.Method == "" && r.m.ID != nil {
			answers[string(r.m.ID)] = r.m
		}
	}
	for _, r := range records {
		s := &Session{Name: name, Agent: agent, Opening: r.m.Method, ID: r.m.Params.SessionID}
		switch a, ok := answers[string(r.m.ID)]; {
		case r.fromAgent || !ok || a.Error != nil:
			continue
		case r.m.Method == "session/new" || r.m.Method == "session/fork":
			s.ID = a.Result.SessionID
		case r.m.Method != "session/load" && r.m.Method != "session/resume":
			continue
		}
		if s.read(records, string(r.m.ID)); len(s.Prompts) > 0 {
			out = append(out, s)
		}
	}
	for i, s := range out {
		if len(out) > 1 {
			s.Name += "#" + string(rune('1'+i))
		}
	}
	return out, nil
}

func readRecords(file string) (out []record, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
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
	return out, lines.Err()
}

// read takes over what belongs to the session that the request opened.
func (s *Session) read(records []record, openedBy string) {
	mine, asked := map[string]string{}, map[string]message{}
	for _, r := range records {
		id := string(r.m.ID)
		here := r.m.Params.SessionID == s.ID
		if here && (r.m.Method == "session/close" || r.m.Method == "session/delete") {
			break // no client of ours asks anything of it afterwards
		}
		switch request := r.m.Method != "" && r.m.ID != nil; {
		case request && r.fromAgent && here:
			asked[id] = r.m
			s.Steps = append(s.Steps, player.Step{Do: player.Ask, ID: id, Line: r.line})
			s.Replies = append(s.Replies, Reply{})
		case request && !r.fromAgent:
			switch method := r.m.Method; {
			case method == "initialize", method == "authenticate", id == openedBy, method == player.Prompt && here:
				mine[id] = method
				s.Steps = append(s.Steps, player.Step{Do: player.Await, ID: id, Method: method})
				if method == player.Prompt {
					s.Prompts = append(s.Prompts, promptText(r.m))
				}
			}
		case r.m.Method == "session/cancel" && here,
			r.m.Method == "$/cancel_request" && mine[string(r.m.Params.RequestID)] == player.Prompt:
			s.Steps = append(s.Steps, player.Step{Do: player.Cancel})
		case r.fromAgent && r.m.Method == "":
			if mine[id] != "" {
				s.Draft = s.Draft || mine[id] == "initialize" && r.m.Result.ProtocolVersion == 2
				s.Steps = append(s.Steps, player.Step{Do: player.Answer, ID: id, Line: r.line})
			}
		case r.fromAgent && (here || r.m.Params.SessionID == ""):
			s.Steps = append(s.Steps, player.Step{Do: player.Say, Line: r.line})
		case !r.fromAgent && r.m.Method == "":
			if q, ok := asked[id]; ok {
				s.Steps = append(s.Steps, player.Step{Do: player.Reply, ID: id})
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
func (s *Session) replied(question, answer message) {
	n := 0
	for _, st := range s.Steps {
		if st.Do == player.Ask {
			if st.ID == string(question.ID) {
				break
			}
			n++
		}
	}
	r := Reply{Option: answer.Result.Outcome.OptionID}
	for _, o := range question.Params.Options {
		if o.OptionID == r.Option {
			r.Kind = o.Kind
		}
	}
	s.Replies[n] = r
}

// oneByOne makes overlapping prompts follow each other, and drops a cancellation
// outside of a turn and a second one in it: no client of ours sends these.
func (s *Session) oneByOne() {
	var out, later []player.Step
	open, cancelled := "", false
	begin := func(st player.Step) {
		open, cancelled = st.ID, false
		out = append(out, st)
	}
	for _, st := range s.Steps {
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
	s.Steps = append(out, later...)
}
