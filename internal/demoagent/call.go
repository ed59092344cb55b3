package demoagent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// call is one tool call of a turn.
type call struct {
	t     *turn
	id    string
	name  string
	state obj // all that was said about it, merged: its form in the history
}

// call announces a tool call as pending.
func (t *turn) call(kind, name, title string, input any, more obj) *call {
	t.s.mu.Lock()
	t.s.saved.Calls++
	id := fmt.Sprintf("call-%d", t.s.saved.Calls)
	t.s.mu.Unlock()
	c := &call{t: t, id: id, name: name}
	c.state = obj{"sessionUpdate": "tool_call", "toolCallId": id, "name": name, "title": title, "kind": kind, "status": "pending"}
	if input != nil {
		c.state["rawInput"] = input
	}
	maps.Copy(c.state, more)
	t.s.update(maps.Clone(c.state))
	t.history = append(t.history, c.state)
	t.open = append(t.open, c)
	return c
}

// update patches the call, on the wire and in the history.
func (c *call) update(fields obj) {
	u := obj{"sessionUpdate": "tool_call_update", "toolCallId": c.id}
	maps.Copy(u, fields)
	c.t.s.update(u)
	for k, v := range fields {
		if k != "_meta" {
			c.state[k] = v
		}
	}
}

func (c *call) progress() { c.update(obj{"status": "in_progress"}) }

func (c *call) done(text string, more ...obj) { c.settle("completed", text, more) }

func (c *call) fail(text string) { c.settle("failed", text, nil) }

func (c *call) settle(status, text string, more []obj) {
	content := more
	if text != "" {
		content = append([]obj{{"type": "content", "content": textBlock(text)}}, more...)
	}
	fields := obj{"status": status}
	if len(content) > 0 {
		fields["content"] = content
	}
	c.t.said += len(text)
	c.finish(fields)
}

// finish sends the call's terminal update.
func (c *call) finish(fields obj) {
	c.update(fields)
	c.t.open = slices.DeleteFunc(c.t.open, func(o *call) bool { return o == c })
}

var permissions = []obj{
	{"optionId": "allow-once", "name": "Allow", "kind": "allow_once"},
	{"optionId": "allow-always", "name": "Always allow", "kind": "allow_always"},
	{"optionId": "reject-once", "name": "Reject", "kind": "reject_once"},
	{"optionId": "reject-always", "name": "Always reject", "kind": "reject_always"},
}

// ask asks for permission at once; wait reports whether it was given. An
// answer that is none of the options is a refusal.
func (c *call) ask() (wait func(context.Context) (bool, error)) {
	c.t.s.mu.Lock()
	allowed, settled := c.t.s.always[c.name]
	c.t.s.mu.Unlock()
	if settled {
		return func(context.Context) (bool, error) { return allowed, nil }
	}
	tool := obj{}
	for _, k := range []string{"toolCallId", "name", "title", "kind", "status", "rawInput", "content", "locations"} {
		if v, ok := c.state[k]; ok {
			tool[k] = v
		}
	}
	answer := c.t.s.a.conn.ask("session/request_permission",
		obj{"sessionId": c.t.s.saved.ID, "toolCall": tool, "options": permissions})
	return func(ctx context.Context) (bool, error) {
		raw, err := answer(ctx)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		var p struct {
			Outcome struct {
				Outcome  string `json:"outcome"`
				OptionID string `json:"optionId"`
			} `json:"outcome"`
		}
		if err != nil || json.Unmarshal(raw, &p) != nil || p.Outcome.Outcome != "selected" {
			return false, nil // a client that cannot be asked allows nothing
		}
		return c.choice(p.Outcome.OptionID), nil
	}
}

// choice is what an option means; "always" is remembered for the session.
func (c *call) choice(option string) bool {
	allowed := option == "allow-once" || option == "allow-always"
	if option == "allow-always" || option == "reject-always" {
		c.t.s.mu.Lock()
		c.t.s.always[c.name] = allowed
		c.t.s.mu.Unlock()
	}
	return allowed
}
