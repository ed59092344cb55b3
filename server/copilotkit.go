package server

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
)

// The routes that CopilotKit's runtimeUrl expects, so that no runtime of its own is
// needed: REST, and one route for all where that is not found.

// copilotInfo tells CopilotKit which agents there are.
func (s *Server) copilotInfo(w http.ResponseWriter, _ *http.Request) {
	type about struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	agents := map[string]about{}
	for _, a := range s.engine.Agents() {
		agents[a.Name] = about{Name: a.Name, Description: a.Name + " by agentstream"}
	}
	writeJSON(w, http.StatusOK, map[string]any{"version": cmp.Or(s.opts.Version, "dev"), "agents": agents, "mode": "sse"})
}

func (s *Server) copilotRun(w http.ResponseWriter, r *http.Request) {
	data, err := body(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.copilotStart(w, r, r.PathValue("agent"), data)
}

func (s *Server) copilotStart(w http.ResponseWriter, r *http.Request, agent string, data []byte) {
	in, err := agui.DecodeInput(data)
	if err != nil {
		s.fail(w, r, bad(err.Error()))
		return
	}
	s.start(w, r, agent, in)
}

func (s *Server) copilotConnect(w http.ResponseWriter, r *http.Request) {
	data, err := body(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.copilotAttach(w, r, r.PathValue("agent"), data)
}

// copilotAttach joins the thread of an input without starting anything.
func (s *Server) copilotAttach(w http.ResponseWriter, r *http.Request, agent string, data []byte) {
	in, err := agui.DecodeInput(data)
	if err != nil {
		s.fail(w, r, bad(err.Error()))
		return
	}
	if _, err = checkID("threadId", in.ThreadID); err == nil && !s.known(agent) {
		err = &engine.Error{Code: "agent_unknown", Message: "no agent is named " + agent}
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	held := in.Messages
	if held == nil {
		held = []agui.Message{}
	}
	s.serve(w, r, s.engine.Join(r.Context(), engine.JoinRequest{
		Thread: in.ThreadID, Held: held, Version: in.ProtocolVersion,
	}), s.checker(in.ProtocolVersion))
}

func (s *Server) copilotStop(w http.ResponseWriter, r *http.Request) {
	s.copilotCancel(w, r, r.PathValue("thread"))
}

// copilotCancel ends what runs on the thread; nothing running is no error.
func (s *Server) copilotCancel(w http.ResponseWriter, r *http.Request, thread string) {
	t, err := s.engine.Thread(r.Context(), thread)
	if code(err) == "thread_unknown" || err == nil && (t.LastRun == nil || t.State == "idle") {
		writeJSON(w, http.StatusOK, map[string]bool{"stopped": false})
		return
	}
	if err == nil {
		_, err = s.engine.Cancel(context.WithoutCancel(r.Context()), thread, t.LastRun.ID)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]bool{"stopped": true})
}

// copilotSingle is all of it on one route: {method, params, body}.
func (s *Server) copilotSingle(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Method string
		Params struct{ AgentID, ThreadID string }
		Body   json.RawMessage
	}
	if err := decode(r, &b, true); err != nil {
		s.fail(w, r, err)
		return
	}
	switch b.Method {
	case "info":
		s.copilotInfo(w, r)
	case "agent/run":
		s.copilotStart(w, r, b.Params.AgentID, b.Body)
	case "agent/connect":
		s.copilotAttach(w, r, b.Params.AgentID, b.Body)
	case "agent/stop":
		s.copilotCancel(w, r, b.Params.ThreadID)
	default:
		s.fail(w, r, bad("method is info, agent/run, agent/connect or agent/stop"))
	}
}
