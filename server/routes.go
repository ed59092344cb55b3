package server

import (
	"net/http"
	"regexp"
	"strings"
)

// route is one line of the table that the mux and the OpenAPI document are both
// made of.
type route struct {
	method, path string
	summary      string
	query        string // names of query parameters, space separated
	body         bool   // takes a JSON body
	stream       bool   // may answer with an event stream
	public       bool   // needs no sign-in
	handle       http.HandlerFunc
}

func (s *Server) routes() []route {
	return []route{
		{method: "GET", path: "/{$}", summary: "The web page", query: "token", public: true, handle: s.home},
		{method: "GET", path: "/t/{thread}", summary: "The web page, with a thread opened", query: "token", public: true, handle: s.home},
		{method: "GET", path: "/icon.svg", summary: "The web page's icon", public: true, handle: s.icon},
		{method: "GET", path: "/assets/{name}", summary: "A file of the web page", handle: s.asset},
		{method: "GET", path: "/healthz", summary: "The process answers", public: true, handle: s.healthz},
		{method: "GET", path: "/readyz", summary: "New runs are taken", public: true, handle: s.readyz},
		{method: "GET", path: "/metrics", summary: "Gauges in Prometheus's text form", handle: s.metrics},
		{method: "GET", path: "/openapi.json", summary: "This document", handle: s.openapi},
		{method: "POST", path: "/agui/{agent}", summary: "AG-UI: RunAgentInput in, AG-UI events out", query: "messages", body: true, stream: true, handle: s.runAgent},
		{method: "GET", path: "/agui/{agent}", summary: "Attach to a thread's run: prelude and live tail, or what comes after a cursor", query: "threadId runId offset after prelude follow messages protocolVersion limit before", stream: true, handle: s.attach},
		{method: "GET", path: "/agui/{agent}/capabilities", summary: "AG-UI capabilities", handle: s.capabilities},
		{method: "GET", path: "/copilotkit/info", summary: "CopilotKit: the agents", handle: s.copilotInfo},
		{method: "POST", path: "/copilotkit/agent/{agent}/run", summary: "CopilotKit: run", body: true, stream: true, handle: s.copilotRun},
		{method: "POST", path: "/copilotkit/agent/{agent}/connect", summary: "CopilotKit: join a thread", body: true, stream: true, handle: s.copilotConnect},
		{method: "POST", path: "/copilotkit/agent/{agent}/stop/{thread}", summary: "CopilotKit: stop what runs", handle: s.copilotStop},
		{method: "POST", path: "/copilotkit", summary: "CopilotKit: all of it on one route", body: true, stream: true, handle: s.copilotSingle},
		{method: "GET", path: "/v1/agents", summary: "Agents that can be run", handle: s.agents},
		{method: "GET", path: "/v1/threads", summary: "Threads, newest first; with since and wait, as soon as they are others", query: "limit before q since wait", handle: s.threads},
		{method: "GET", path: "/v1/threads/{thread}", summary: "One thread, with its agent's modes, models and commands", handle: s.thread},
		{method: "PATCH", path: "/v1/threads/{thread}", summary: "Change title, mode or model", body: true, handle: s.patchThread},
		{method: "DELETE", path: "/v1/threads/{thread}", summary: "Delete a thread and all that belongs to it", query: "force", handle: s.deleteThread},
		{method: "GET", path: "/v1/threads/{thread}/runs", summary: "The thread's runs", handle: s.runs},
		{method: "POST", path: "/v1/threads/{thread}/runs", summary: "Start a run", query: "protocolVersion", body: true, stream: true, handle: s.startRun},
		{method: "GET", path: "/v1/threads/{thread}/events", summary: "The thread's log, raw, over all runs, without end; with wait, long polling", query: "after tail format wait", stream: true, handle: s.events},
		{method: "GET", path: "/v1/threads/{thread}/messages", summary: "The AG-UI list, atomic with its cursor", query: "limit before", handle: s.messages},
		{method: "GET", path: "/v1/threads/{thread}/rounds", summary: "Rounds, paired", query: "format", handle: s.rounds},
		{method: "GET", path: "/v1/threads/{thread}/files", summary: "Names below the thread's working folder", query: "prefix", handle: s.files},
		{method: "GET", path: "/v1/threads/{thread}/grants", summary: "Remembered answers", handle: s.grants},
		{method: "DELETE", path: "/v1/grants/{id}", summary: "Forget a remembered answer", handle: s.revoke},
		{method: "GET", path: "/v1/runs/{run}", summary: "One run", query: "threadId", handle: s.run},
		{method: "POST", path: "/v1/runs/{run}/cancel", summary: "Cancel a run", query: "threadId", handle: s.cancelRun},
		{method: "GET", path: "/v1/blobs/{sha}", summary: "A large payload that events name by its hash", handle: s.blob},
		{method: "GET", path: "/v1/requests", summary: "Requests for approval, over all threads", query: "state threadId", handle: s.requests},
		{method: "GET", path: "/v1/requests/events", summary: "Every change of a request, as a stream", query: "after", stream: true, handle: s.requestEvents},
		{method: "GET", path: "/v1/requests/{id}", summary: "One request", handle: s.request},
		{method: "POST", path: "/v1/requests/{id}/resolve", summary: "Answer a request", body: true, handle: s.resolve},
	}
}

// openapi describes the routes; what goes in and out is in docs/http.md.
func (s *Server) openapi(w http.ResponseWriter, _ *http.Request) {
	type object = map[string]any
	paths := object{}
	for _, rt := range s.routes() {
		path := strings.TrimSuffix(rt.path, "{$}")
		var params []object
		for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
			params = append(params, object{"name": m[1], "in": "path", "required": true, "schema": object{"type": "string"}})
		}
		for _, name := range strings.Fields(rt.query) {
			params = append(params, object{"name": name, "in": "query", "schema": object{"type": "string"}})
		}
		ok := object{"description": "done"}
		if rt.stream {
			ok["content"] = object{"text/event-stream": object{}, "application/json": object{}}
		}
		op := object{"summary": rt.summary, "responses": object{"200": ok, "default": object{"description": "a problem", "content": object{"application/problem+json": object{}}}}}
		if params != nil {
			op["parameters"] = params
		}
		if rt.body {
			op["requestBody"] = object{"required": true, "content": object{"application/json": object{"schema": object{"type": "object"}}}}
		}
		if rt.public {
			op["security"] = []object{}
		}
		methods, _ := paths[path].(object)
		if methods == nil {
			methods = object{}
			paths[path] = methods
		}
		methods[strings.ToLower(rt.method)] = op
	}
	writeJSON(w, http.StatusOK, object{
		"openapi":    "3.1.0",
		"info":       object{"title": "agentstream", "version": s.opts.Version},
		"security":   []object{{"token": []string{}}},
		"components": object{"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
		"paths":      paths,
	})
}

// agents lists what can be run.
func (s *Server) agents(w http.ResponseWriter, r *http.Request) {
	var list []Agent
	if s.opts.Agents != nil {
		list = s.opts.Agents(r.Context())
	} else {
		for _, a := range s.engine.Agents() {
			list = append(list, Agent{Name: a.Name, Type: a.Type, State: "ready"})
		}
	}
	if list == nil {
		list = []Agent{}
	}
	writeJSON(w, http.StatusOK, map[string]any{"agents": list})
}
