package harness

import (
	"encoding/json"
	"net/url"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// Client is a published AG-UI client that talks to the server about one thread.
// It keeps what it holds from run to run, over restarts of the server too.
type Client struct {
	Version agui.Version
	Thread  string

	s      *Server
	key    string
	agent  string
	driver *aguitest.Driver
}

// Client makes a client of a version for a thread of an agent.
func (s *Server) Client(v agui.Version, agent, thread string) *Client {
	s.t.Helper()
	return &Client{Version: v, Thread: thread, s: s, agent: agent, key: ID(s.t, "client"), driver: aguitest.Clients(s.t)}
}

// Run makes a run; what the call leaves out of server, thread and token is filled in.
func (c *Client) Run(call aguitest.Call) aguitest.Report {
	c.s.t.Helper()
	return c.driver.MustRun(c.Call(call))
}

// Call completes a call for the driver.
func (c *Client) Call(call aguitest.Call) aguitest.Call {
	c.s.t.Helper()
	call.Agent, call.Version, call.ThreadID = c.key, c.Version, c.Thread
	if call.URL == "" {
		call.URL = c.s.URL + "/agui/" + c.agent
	}
	if call.Headers == nil {
		call.Headers = map[string]string{"Authorization": "Bearer " + c.s.Token}
	}
	if call.RunID == "" {
		call.RunID = ID(c.s.t, "run")
	}
	return call
}

// Say sends the user's words as the next message and waits for the run's end.
func (c *Client) Say(text string) aguitest.Report {
	c.s.t.Helper()
	return c.Run(aguitest.Call{Add: []agui.Message{User(ID(c.s.t, "user"), text)}})
}

// Attach follows the thread by GET from a cursor, "" for a prelude and the rest.
// query is more of the address, such as "&follow=1".
func (c *Client) Attach(after, query string) aguitest.Report {
	c.s.t.Helper()
	return c.Run(c.AttachCall(after, query))
}

// AttachCall is the call that Attach makes.
func (c *Client) AttachCall(after, query string) aguitest.Call {
	path := c.s.URL + "/agui/" + c.agent + "?threadId=" + url.QueryEscape(c.Thread) + query
	if after != "" {
		path += "&after=" + url.QueryEscape(after)
	}
	return aguitest.Call{URL: path, Method: "GET", Connect: true}
}

// Driver is what drives the client, for what has no method here.
func (c *Client) Driver() *aguitest.Driver { return c.driver }

// Key is the driver's name of the client.
func (c *Client) Key() string { return c.key }

// User is a message of the user.
func User(id, text string) agui.Message {
	content, _ := json.Marshal(text)
	return agui.Message{ID: id, Role: agui.RoleUser, Content: content}
}

// Input is a RunAgentInput with one new message of the user.
func Input(thread, run string, messages ...agui.Message) map[string]any {
	if messages == nil {
		messages = []agui.Message{}
	}
	return map[string]any{
		"threadId": thread, "runId": run, "messages": messages,
		"state": map[string]any{}, "tools": []any{}, "context": []any{}, "forwardedProps": map[string]any{},
	}
}
