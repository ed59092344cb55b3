package server

import (
	"net/http"
	"slices"
	"strings"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog"
)

// runAgent is the AG-UI endpoint: RunAgentInput in, the run's events out.
func (s *Server) runAgent(w http.ResponseWriter, r *http.Request) {
	data, err := body(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	in, err := agui.DecodeInput(data)
	if err != nil {
		s.fail(w, r, badInput(err))
		return
	}
	s.start(w, r, r.PathValue("agent"), in)
}

// badInput says what is wrong with an input. An answer that is none has a code of
// its own, whether its form or its sense is wrong.
func badInput(err error) error {
	if strings.HasPrefix(err.Error(), "agui: input: resume") {
		return &engine.Error{Code: "resume_invalid", Message: err.Error()}
	}
	return bad(err.Error())
}

// start starts, or finds, the run that an input asks for and streams it.
func (s *Server) start(w http.ResponseWriter, r *http.Request, agent string, in agui.Input) {
	for name, id := range map[string]string{"threadId": in.ThreadID, "runId": in.RunID} {
		if _, err := checkID(name, id); err != nil {
			s.fail(w, r, err)
			return
		}
	}
	last, err := number(r, "messages", 0)
	var started engine.Started
	if err == nil {
		started, err = s.engine.Start(r.Context(), engine.StartRequest{Agent: agent, Input: in, By: who(r)})
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	w.Header().Set("X-Run-Id", started.Run.ID)
	join, check := engine.JoinRequest{Thread: in.ThreadID, Version: in.ProtocolVersion}, s.checker(in.ProtocolVersion)
	if at, again := goesOn(r, &started); again {
		join.After, check = at, nil // begins in mid-run, where the rules cannot be judged
	} else {
		join.Started, join.Window = &started, last
	}
	s.serve(w, r, s.engine.Join(r.Context(), join), check)
}

// goesOn finds where a reader was that posts its run again after a cut, as TanStack
// AI does.
func goesOn(r *http.Request, started *engine.Started) (at eventlog.Cursor, ok bool) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" || !started.Attached || started.Pending != nil || started.Conflicts != nil {
		return at, false
	}
	at, err := eventlog.ParseCursor(text)
	return at, err == nil && at.Gen == started.After.Gen && at.Seq > started.After.Seq
}

// attach joins a thread's run, or what ran last, without starting anything.
func (s *Server) attach(w http.ResponseWriter, r *http.Request) {
	agent := r.PathValue("agent")
	if !s.known(agent) {
		s.fail(w, r, &engine.Error{Code: "agent_unknown", Message: "no agent is named " + agent})
		return
	}
	q := r.URL.Query()
	thread, run := q.Get("threadId"), q.Get("runId")
	if thread == "" && run != "" {
		// TanStack AI joins by the run alone.
		found, err := s.engine.Run(r.Context(), "", run)
		if err != nil {
			s.fail(w, r, err)
			return
		}
		thread = found.Thread
	}
	if _, err := checkID("threadId", thread); err != nil {
		s.fail(w, r, err)
		return
	}
	if t, err := s.engine.Thread(r.Context(), thread); err == nil && t.Agent != agent {
		s.fail(w, r, &engine.Error{Code: "agent_mismatch", Message: "the thread belongs to the agent " + t.Agent})
		return
	}
	if wantsJSON(r) {
		s.uiThread(w, r, thread)
		return
	}
	s.join(w, r, thread)
}

func (s *Server) join(w http.ResponseWriter, r *http.Request, thread string) {
	q := r.URL.Query()
	after, given, err := cursor(r)
	if err == nil && !slices.Contains([]string{"", "replay", "snapshot"}, q.Get("prelude")) {
		err = bad("prelude is replay or snapshot")
	}
	var last int
	if err == nil {
		last, err = number(r, "messages", 0)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if s.gone(w, r, thread, after) {
		return
	}
	check := s.checker(q.Get("protocolVersion"))
	if given && q.Get("prelude") == "" {
		check = nil // begins in mid-run, where the rules cannot be judged
	}
	if flag(r, "follow") {
		check = check.open()
	}
	s.serve(w, r, s.engine.Join(r.Context(), engine.JoinRequest{
		Thread: thread, After: after, Prelude: q.Get("prelude"),
		Follow: flag(r, "follow"), Version: q.Get("protocolVersion"), Window: last,
	}), check)
}

// capabilities says what the endpoint can do, for clients that ask.
func (s *Server) capabilities(w http.ResponseWriter, r *http.Request) {
	agent := r.PathValue("agent")
	if !s.known(agent) {
		s.fail(w, r, &engine.Error{Code: "agent_unknown", Message: "no agent is named " + agent})
		return
	}
	var c agui.Capabilities
	c.Identity.Name, c.Identity.Type, c.Identity.Version = agent, "agentstream", s.opts.Version
	c.Transport.Streaming, c.Transport.Resumable = true, true
	c.Tools.Supported, c.Tools.ParallelCalls = true, true
	c.State.PersistentState = true
	c.Reasoning.Supported, c.Reasoning.Streaming = true, true
	c.HumanInTheLoop.Supported, c.HumanInTheLoop.Approvals, c.HumanInTheLoop.Interrupts = true, true, true
	writeJSON(w, http.StatusOK, c)
}

func (s *Server) known(agent string) bool {
	return slices.ContainsFunc(s.engine.Agents(), func(a engine.Agent) bool { return a.Name == agent })
}

func wantsJSON(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "application/json") && !strings.Contains(accept, "text/event-stream")
}

// who names the one who acts, for the record of approvals. Everybody who holds the
// token is the same to the server; a client may say which of them it is.
func who(r *http.Request) string {
	name := r.Header.Get("X-Agentstream-User")
	if len(name) > 128 || strings.ContainsFunc(name, func(c rune) bool { return c < 0x20 || c == 0x7f }) {
		name = ""
	}
	if name == "" {
		return "user"
	}
	return name
}
