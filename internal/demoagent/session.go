package demoagent

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// obj is a JSON object that the agent sends.
type obj = map[string]any

// choice is one value of a setting.
type choice struct{ id, name, description string }

var (
	modes = []choice{
		{"ask", "Ask", "Asks before it writes a file"},
		{"auto", "Auto", "Writes without asking"},
		{"read-only", "Read only", "Writes nothing"},
	}
	models = []choice{
		{"demo-small", "Demo small", "A context window of 32,000 tokens"},
		{"demo-large", "Demo large", "A context window of 200,000 tokens"},
	}
	windows = map[string]int{"demo-small": 32_000, "demo-large": 200_000}
)

// saved is what outlives the process, if there is a folder for it.
type saved struct {
	ID       string   `json:"id"`
	Cwd      string   `json:"cwd"`
	Title    string   `json:"title,omitempty"`
	Mode     string   `json:"mode"`
	Model    string   `json:"model"`
	Prompts  []string `json:"prompts,omitempty"`
	Calls    int      `json:"calls"`
	Messages int      `json:"messages"`
	Used     int      `json:"used"`
	History  []obj    `json:"history,omitempty"` // updates that a load repeats
}

// session is one conversation. Its turns run one after another.
type session struct {
	a *agent

	mu     sync.Mutex // guards all below
	saved  saved
	always map[string]bool // tool name → allowed or refused for good
	queue  []*turn         // the first one runs
}

type params struct {
	SessionID string          `json:"sessionId"`
	Cwd       string          `json:"cwd"`
	ModeID    string          `json:"modeId"`
	ConfigID  string          `json:"configId"`
	Value     json.RawMessage `json:"value"`
}

// open answers the requests that give a session, then tells its commands.
func (a *agent) open(m message) {
	var s *session
	err := a.loggedIn()
	switch {
	case err != nil:
	case m.Method == "session/new":
		s, err = a.newSession(m.Params)
	default:
		s, err = a.loadSession(m.Params, m.Method == "session/load")
	}
	if err != nil {
		a.conn.answer(m.ID, nil, err)
		return
	}
	result := s.settings()
	if m.Method == "session/new" {
		result["sessionId"] = s.saved.ID
	}
	a.conn.answer(m.ID, result, nil)
	s.update(obj{"sessionUpdate": "available_commands_update", "availableCommands": commands()})
}

func (a *agent) newSession(raw json.RawMessage) (*session, error) {
	var p params
	if json.Unmarshal(raw, &p) != nil || !filepath.IsAbs(p.Cwd) {
		return nil, &rpcError{codeParams, "cwd must be an absolute path"}
	}
	s := a.add(saved{ID: newID(), Cwd: filepath.Clean(p.Cwd), Mode: "ask", Model: "demo-small"})
	if err := a.save(s.saved); err != nil {
		return nil, err
	}
	return s, nil
}

// loadSession opens a session again and, for session/load, says its history
// before the answer.
func (a *agent) loadSession(raw json.RawMessage, replay bool) (*session, error) {
	if a.state == "" {
		return nil, &rpcError{codeNoMethod, "sessions are not stored: AGENTSTREAM_DEMO_STATE is not set"}
	}
	var p params
	if json.Unmarshal(raw, &p) != nil || !filepath.IsAbs(p.Cwd) {
		return nil, &rpcError{codeParams, "cwd must be an absolute path"}
	}
	s, err := a.session(p.SessionID)
	if err != nil {
		stored, err := a.load(p.SessionID)
		if err != nil {
			return nil, &rpcError{codeNotFound, "session not found"}
		}
		s = a.add(stored)
	}
	s.mu.Lock()
	s.saved.Cwd = filepath.Clean(p.Cwd)
	history := slices.Clone(s.saved.History)
	s.mu.Unlock()
	if replay {
		for _, u := range history {
			s.update(u)
		}
	}
	return s, nil
}

func (a *agent) closeSession(raw json.RawMessage) (any, error) {
	s, err := a.sessionOf(raw)
	if err != nil {
		return nil, err
	}
	s.cancel(nil)
	a.mu.Lock()
	delete(a.sessions, s.saved.ID)
	a.mu.Unlock()
	return obj{}, nil
}

func (a *agent) listSessions() any {
	list := []obj{}
	for _, s := range a.known() {
		list = append(list, obj{"sessionId": s.ID, "cwd": s.Cwd, "title": s.Title})
	}
	return obj{"sessions": list}
}

func (a *agent) setMode(raw json.RawMessage) (any, error) {
	var p params
	s, err := a.sessionOf(raw)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(raw, &p) != nil || !s.choose("mode", p.ModeID) {
		return nil, &rpcError{codeParams, "unknown mode"}
	}
	return obj{}, nil
}

func (a *agent) setOption(raw json.RawMessage) (any, error) {
	var p params
	var value string
	s, err := a.sessionOf(raw)
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(raw, &p) != nil || json.Unmarshal(p.Value, &value) != nil || !s.choose(p.ConfigID, value) {
		return nil, &rpcError{codeParams, "unknown option or value"}
	}
	return obj{"configOptions": s.options()}, nil
}

// choose sets the mode or the model and reports whether there is such a one.
func (s *session) choose(what, id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := func(c choice) bool { return c.id == id }
	switch {
	case what == "mode" && slices.ContainsFunc(modes, is):
		s.saved.Mode = id
	case what == "model" && slices.ContainsFunc(models, is):
		s.saved.Model = id
	default:
		return false
	}
	return true
}

// settings is the answer to new, load and resume.
func (s *session) settings() obj {
	s.mu.Lock()
	available := []obj{}
	for _, m := range modes {
		available = append(available, obj{"id": m.id, "name": m.name, "description": m.description})
	}
	result := obj{"modes": obj{"currentModeId": s.saved.Mode, "availableModes": available}}
	s.mu.Unlock()
	result["configOptions"] = s.options()
	return result
}

func (s *session) options() []obj {
	s.mu.Lock()
	defer s.mu.Unlock()
	option := func(id, name, current string, from []choice) obj {
		values := []obj{}
		for _, c := range from {
			values = append(values, obj{"value": c.id, "name": c.name, "description": c.description})
		}
		return obj{"id": id, "name": name, "category": id, "type": "select", "currentValue": current, "options": values}
	}
	return []obj{
		option("mode", "Mode", s.saved.Mode, modes),
		option("model", "Model", s.saved.Model, models),
	}
}

func (s *session) update(u obj) {
	s.a.conn.notify("session/update", obj{"sessionId": s.saved.ID, "update": u})
}

func (a *agent) add(v saved) *session {
	s := &session{a: a, saved: v, always: map[string]bool{}}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.sessions[v.ID] = s
	return s
}

func (a *agent) session(id string) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[id]; s != nil {
		return s, nil
	}
	return nil, &rpcError{codeNotFound, "session not found"}
}

func (a *agent) sessionOf(raw json.RawMessage) (*session, error) {
	var p params
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, &rpcError{codeParams, "sessionId is missing"}
	}
	return a.session(p.SessionID)
}

func (a *agent) all() []*session {
	a.mu.Lock()
	defer a.mu.Unlock()
	list := make([]*session, 0, len(a.sessions))
	for _, s := range a.sessions {
		list = append(list, s)
	}
	return list
}

// known lists the open and the stored sessions, in order of id.
func (a *agent) known() []saved {
	list := a.stored()
	for _, s := range a.all() {
		s.mu.Lock()
		list = slices.DeleteFunc(list, func(v saved) bool { return v.ID == s.saved.ID })
		list = append(list, s.saved)
		s.mu.Unlock()
	}
	slices.SortFunc(list, func(x, y saved) int { return strings.Compare(x.ID, y.ID) })
	return list
}

// cancel ends the turn that answers this request, or every turn for nil.
func (s *session) cancel(request json.RawMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.queue {
		if request == nil || bytes.Equal(bytes.TrimSpace(request), bytes.TrimSpace(t.request)) {
			t.cancel()
		}
	}
}

// prompt queues a turn behind those of its session that are still open.
func (a *agent) prompt(m message) {
	s, err := a.sessionOf(m.Params)
	if err != nil {
		a.conn.answer(m.ID, nil, err)
		return
	}
	t, err := newTurn(s, m)
	if err != nil {
		a.conn.answer(m.ID, nil, err)
		return
	}
	t.ctx, t.cancel = context.WithCancel(a.ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queue = append(s.queue, t)
	if len(s.queue) == 1 {
		a.turns.Go(s.work)
	}
}

// work runs turns until none is left.
func (s *session) work() {
	for more := true; more; {
		s.mu.Lock()
		t := s.queue[0]
		s.mu.Unlock()
		t.run()
		s.mu.Lock()
		s.queue = s.queue[1:]
		more = len(s.queue) > 0
		s.mu.Unlock()
	}
}

func newID() string {
	var b [8]byte
	rand.Read(b[:])
	return "demo-" + hex.EncodeToString(b[:])
}
