package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
)

// startRun starts a run by REST: the answer is the run, or its stream where the
// client asks for one.
func (s *Server) startRun(w http.ResponseWriter, r *http.Request) {
	var b struct {
		Agent, RunID, Cwd, OnConflict, ParentRunID string
		Input                                      json.RawMessage
	}
	thread, err := pathID(r, "thread")
	if err == nil {
		err = decode(r, &b, true)
	}
	req := engine.StartRequest{Agent: b.Agent, Cwd: b.Cwd, By: who(r), Strict: true, Enqueue: b.OnConflict == "enqueue"}
	if err == nil {
		req.Input, err = restInput(thread, b.RunID, b.Input)
		req.Input.ParentRunID = b.ParentRunID
	}
	if err == nil && b.RunID != "" {
		_, err = checkID("runId", b.RunID)
	}
	if err == nil && b.OnConflict != "" && b.OnConflict != "reject" && b.OnConflict != "enqueue" {
		err = bad("onConflict is reject or enqueue")
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	started, err := s.engine.Start(r.Context(), req)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	run := started.Run
	w.Header().Set("Location", runPath(run))
	w.Header().Set("X-Run-Id", run.ID)
	if strings.Contains(r.Header.Get("Accept"), "text/event-stream") {
		s.serve(w, r, s.engine.Join(r.Context(), engine.JoinRequest{
			Thread: thread, Started: &started, Version: r.URL.Query().Get("protocolVersion"),
		}), s.checker(r.URL.Query().Get("protocolVersion")))
		return
	}
	writeJSON(w, http.StatusAccepted, run)
}

func runPath(run engine.Run) string {
	return "/v1/runs/" + url.PathEscape(run.ID) + "?threadId=" + url.QueryEscape(run.Thread)
}

// restInput makes an AG-UI input of "text" or of messages, read as tolerantly as
// the AG-UI route reads its own.
func restInput(thread, run string, input json.RawMessage) (agui.Input, error) {
	var text string
	if len(input) == 0 || string(input) == "null" {
		return agui.Input{}, bad("input is missing: a text, or messages")
	}
	if json.Unmarshal(input, &text) == nil {
		if strings.TrimSpace(text) == "" {
			return agui.Input{}, bad("input is empty")
		}
		content, _ := json.Marshal(text)
		return agui.Input{ThreadID: thread, RunID: run, Messages: []agui.Message{{Role: agui.RoleUser, Content: content}}}, nil
	}
	doc, err := json.Marshal(map[string]any{"threadId": thread, "runId": "r", "messages": input})
	if err != nil {
		return agui.Input{}, bad("input is neither a text nor messages")
	}
	in, err := agui.DecodeInput(doc)
	if err != nil {
		return agui.Input{}, bad("input: " + err.Error())
	}
	in.RunID = run
	return in, nil
}

func (s *Server) run(w http.ResponseWriter, r *http.Request) {
	s.aboutRun(w, r, s.engine.Run)
}

func (s *Server) cancelRun(w http.ResponseWriter, r *http.Request) {
	s.aboutRun(w, r, s.engine.Cancel)
}

func (s *Server) aboutRun(w http.ResponseWriter, r *http.Request, f func(ctx context.Context, thread, run string) (engine.Run, error)) {
	id, err := pathID(r, "run")
	var run engine.Run
	if err == nil {
		run, err = f(r.Context(), r.URL.Query().Get("threadId"), id)
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, run)
}
