package acp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agentstreamtest"
	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/source"
)

// frame is one line of a wire: ">" goes to the agent, "<" comes from it.
type frame struct {
	fromAgent bool
	line      string
}

// frames reads the wire section of a scenario. A line that begins with neither
// ">" nor "<" is the params of a session/update.
func frames(lines []string) []frame {
	var out []frame
	for _, line := range lines {
		switch line[0] {
		case '>':
			out = append(out, frame{false, strings.TrimSpace(line[1:])})
		case '<':
			out = append(out, frame{true, strings.TrimSpace(line[1:])})
		default:
			out = append(out, frame{true, `{"method":"session/update","params":{"update":` + line + `}}`})
		}
	}
	return out
}

type rpc struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *acpwire.Error  `json:"error"`
}

// player feeds translators with a wire, one a session, and keeps what comes out.
type player struct {
	agent    agentInfo
	draft    bool // version 2: a turn ends with state_update idle
	sessions map[string]*played
	order    []*played
	prompts  map[string]*played // by request id
	asks     map[string]asked   // by request id
	loading  map[string]string  // request id of session/load → session
}

type asked struct {
	s *played
	q source.Request
}

type played struct {
	t         *translator
	turns     []*playedTurn
	open      *playedTurn
	queued    int
	cancelled bool
	replay    bool
	facts     []source.Fact
	last      string // the call of the last permission
}

type playedTurn struct {
	rec    agentstreamtest.Recorder
	reason source.StopReason
	err    error
	wire   strings.Builder // text of the chunks as the wire had it
	calls  map[string]*wireCall
}

// wireCall is a call as the wire had it: its last arguments, its first terminal
// status.
type wireCall struct{ args, status string }

func newPlayer() *player {
	return &player{
		sessions: map[string]*played{}, prompts: map[string]*played{},
		asks: map[string]asked{}, loading: map[string]string{},
	}
}

func play(wire []frame) *player {
	p := newPlayer()
	for _, f := range wire {
		p.step(f)
	}
	for _, s := range p.order {
		if s.open != nil {
			s.end(nil, nil)
		}
	}
	return p
}

func (p *player) session(id string) *played {
	s := p.sessions[id]
	if s == nil {
		s = &played{t: newTranslator(p.agent)}
		p.sessions[id] = s
		p.order = append(p.order, s)
	}
	return s
}

func (p *player) step(f frame) {
	var m rpc
	if json.Unmarshal([]byte(f.line), &m) != nil {
		// Broken: the frame is the connection's to drop, params may get through.
		if params, ok := strings.CutPrefix(f.line, `{"method":"session/update","params":`); ok {
			p.session("").update([]byte(params))
		}
		return
	}
	s := p.session(sessionOf(m.Params))
	switch {
	case !f.fromAgent && m.Method == "session/prompt":
		p.prompts[string(m.ID)] = s
		s.prompt()
	case !f.fromAgent && m.Method == "session/cancel":
		s.cancelled = s.open != nil
	case !f.fromAgent && m.Method == "session/load":
		p.loading[string(m.ID)] = sessionOf(m.Params)
		s.replay = true
	case !f.fromAgent && m.Method == "":
		p.reply(m)
	case f.fromAgent && m.Method == "session/update" && p.draft && s.idle(m.Params):
	case f.fromAgent && m.Method == "session/update":
		s.update(m.Params)
	case f.fromAgent && m.Method == "session/request_permission":
		if q, err := s.t.ask(m.Params); err == nil {
			p.asks[string(m.ID)] = asked{s, q}
		}
	case f.fromAgent && m.Method == "":
		p.result(m)
	}
}

func sessionOf(params []byte) string {
	var v struct {
		SessionID string `json:"sessionId"`
	}
	_ = json.Unmarshal(params, &v)
	return v.SessionID
}

func (p *player) reply(m rpc) {
	a, ok := p.asks[string(m.ID)]
	if !ok {
		return
	}
	delete(p.asks, string(m.ID))
	var v struct {
		Outcome struct {
			OptionID string `json:"optionId"`
		} `json:"outcome"`
	}
	_ = json.Unmarshal(m.Result, &v)
	kind := ""
	for _, o := range a.q.Options {
		if o.ID == v.Outcome.OptionID {
			kind = o.Kind
		}
	}
	a.s.t.answered(a.q.ToolCallID, kind)
}

func (p *player) result(m rpc) {
	var v struct {
		AgentInfo agentInfo `json:"agentInfo"`
		Info      agentInfo `json:"info"`
	}
	if json.Unmarshal(m.Result, &v) == nil && v.AgentInfo.Name+v.Info.Name != "" {
		p.draft = v.Info.Name != ""
		p.agent = v.AgentInfo
		if p.draft {
			p.agent = v.Info
		}
		p.sessions, p.order = map[string]*played{}, nil
	}
	if id, ok := p.loading[string(m.ID)]; ok {
		p.session(id).replay = false
	}
	if s := p.prompts[string(m.ID)]; s != nil && !(p.draft && m.Error == nil) {
		delete(p.prompts, string(m.ID))
		s.end(m.Result, m.Error)
	}
}

// idle ends the turn of the draft's wire.
func (s *played) idle(params []byte) bool {
	var v struct {
		Update json.RawMessage `json:"update"`
	}
	var u struct {
		Kind  string `json:"sessionUpdate"`
		State string `json:"state"`
	}
	if json.Unmarshal(params, &v) != nil || json.Unmarshal(v.Update, &u) != nil || u.Kind != "state_update" || u.State != "idle" {
		return false
	}
	s.end(v.Update, nil)
	return true
}

func (s *played) prompt() {
	if s.open != nil {
		s.queued++
		return
	}
	s.open = &playedTurn{}
	s.turns = append(s.turns, s.open)
	s.cancelled = false
	s.t.begin(&s.open.rec)
}

func (s *played) end(result []byte, e *acpwire.Error) {
	if s.open == nil {
		return
	}
	s.open.reason, s.open.err = s.t.end(result, e, s.cancelled)
	s.open = nil
	if s.queued > 0 {
		s.queued--
		s.prompt()
	}
}

func (s *played) update(params []byte) {
	if s.replay {
		s.t.history(params)
		return
	}
	if s.open != nil {
		s.open.note(params)
	}
	s.facts = append(s.facts, s.t.update(params)...)
}

// note keeps what the wire said, to compare with what came out.
func (turn *playedTurn) note(params []byte) {
	var v struct {
		Update struct {
			Kind    string          `json:"sessionUpdate"`
			Title   string          `json:"title"`
			Content json.RawMessage `json:"content"`
			CallID  string          `json:"toolCallId"`
			Status  string          `json:"status"`
			Args    json.RawMessage `json:"rawInput"`
		} `json:"update"`
	}
	if json.Unmarshal(params, &v) != nil {
		return
	}
	u := v.Update
	switch u.Kind {
	case "agent_message_chunk":
		var c struct{ Text string }
		_ = json.Unmarshal(u.Content, &c)
		turn.wire.WriteString(c.Text)
	case "notice":
		turn.wire.WriteString(u.Title)
	case "tool_call", "tool_call_update":
		if turn.calls == nil {
			turn.calls = map[string]*wireCall{}
		}
		c := turn.calls[u.CallID]
		if c == nil {
			c = &wireCall{}
			turn.calls[u.CallID] = c
		}
		if c.status == "" && len(u.Args) > 2 && string(u.Args) != "null" {
			c.args = string(u.Args)
		}
		if c.status == "" && (u.Status == "completed" || u.Status == "failed") {
			c.status = u.Status
		}
	}
}

// events gives what came out as the events section of a scenario; ends and
// facts stand in it as comments.
func (p *player) events() string {
	var b strings.Builder
	for _, s := range p.order {
		for _, turn := range s.turns {
			b.WriteString(turn.rec.String())
			if turn.err != nil {
				code := "error"
				if e, ok := turn.err.(*source.Error); ok {
					code = e.Code
				}
				fmt.Fprintf(&b, "# turn failed: %s: %v\n", code, turn.err)
			} else {
				fmt.Fprintf(&b, "# turn ended: %s\n", turn.reason)
			}
		}
		for _, f := range s.facts {
			b.WriteString("# " + factLine(f) + "\n")
		}
	}
	return b.String()
}

func factLine(f source.Fact) string {
	switch {
	case f.Late != nil:
		return "late: " + string(agentstream.AppendEvent(nil, f.Late))
	case f.Title != nil:
		return "title: " + *f.Title
	case f.Diagnostic != "":
		return "diagnostic: " + f.Diagnostic
	}
	for what, v := range map[string]any{"modes": f.Modes, "models": f.Models, "commands": f.Commands} {
		if data, _ := json.Marshal(v); string(data) != "null" {
			return what + ": " + string(data)
		}
	}
	return "nothing"
}

// check holds a turn's events against what a source promises.
func (turn *playedTurn) check(t testing.TB) {
	t.Helper()
	declared, ended := map[string]bool{}, map[string]bool{}
	info := ""
	for i, e := range turn.rec.Events() {
		line := string(agentstream.AppendEvent(nil, e))
		if !utf8.ValidString(line) || strings.Contains(line, "\n") || !json.Valid([]byte(line)) {
			t.Errorf("event %d is no line of valid UTF-8: %q", i, line)
		}
		checkEvent(t, i, e, declared, ended, info)
		info = ""
		if x, ok := e.(agentstream.ToolCallInfo); ok {
			info = x.ID
		}
	}
}

func checkEvent(t testing.TB, i int, e agentstream.Event, declared, ended map[string]bool, info string) {
	t.Helper()
	known := func(id string) {
		if id != "" && !declared[id] {
			t.Errorf("event %d (%T) for %q before its declaration", i, e, id)
		}
	}
	switch e := e.(type) {
	case agentstream.MessageChunk:
		if e.Text == "" || !utf8.ValidString(e.Text) {
			t.Errorf("event %d: chunk %q", i, e.Text)
		}
	case agentstream.ToolCall:
		if declared[e.ID] {
			t.Errorf("event %d: %q is declared twice", i, e.ID)
		}
		if info != e.ID {
			t.Errorf("event %d: no info just before the declaration of %q", i, e.ID)
		}
		declared[e.ID] = true
	case agentstream.ToolCallUpdate:
		known(e.ID)
		if ended[e.ID] {
			t.Errorf("event %d: %q goes on after its terminal", i, e.ID)
		}
		if !e.Status.IsTerminal() && e.Content != "" {
			t.Errorf("event %d: %q was pushed as arguments", i, e.Content)
		}
		ended[e.ID] = ended[e.ID] || e.Status.IsTerminal()
	case agentstream.ToolCallArgsSnapshot:
		known(e.ID)
		if ended[e.ID] || !json.Valid([]byte(e.Args)) {
			t.Errorf("event %d: arguments %q of %q", i, e.Args, e.ID)
		}
	case agentstream.Diff:
		known(e.ID)
	case agentstream.Output:
		known(e.ID)
	case agentstream.Media:
		known(e.ID)
	}
}
