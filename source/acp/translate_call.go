package acp

import (
	"github.com/agentstream-go/agentstream"
)

// call is what is known of one tool call of the turn.
type call struct {
	id, name, title, kind string
	locations             []byte // as the wire has them
	of                    *stream

	args     []byte // the arguments so far, compact
	argsFrom origin

	asked    bool // the first mention was a permission
	running  bool
	settled  bool // the arguments were said to be complete
	refused  bool // the user refused it, and no terminal came yet
	dropped  bool // its permission was cancelled
	done     bool // a terminal was sent
	progress string
	spoilt   bool // progress was replaced, not continued
	output   output
	exit     *int
	seen     map[[32]byte]bool // diffs and media already told
	edits    []string          // a line for each diff
}

// toolCall handles tool_call and tool_call_update.
func (t *translator) toolCall(u *update) {
	id := text(u.callID)
	from := updated
	if string(u.kind) == "tool_call" {
		from = announced
	}
	w := t.of(u)
	if id == "" {
		w.unknown(u)
		return
	}
	if w == t.turn && w.calls[id] == nil && t.past[id] && !announces(u, from) {
		w = t.late
	}
	c := w.calls[id]
	if c == nil {
		c = w.first(u, id, from, t.past[id] && w == t.late)
	}
	w.merge(c, u, from)
	if w == t.late {
		t.past[id] = true
		if c.done {
			w.forget(c)
		}
	}
}

// announces reports whether an update for a call of an earlier turn begins
// a new one.
func announces(u *update, from origin) bool {
	status := string(u.status)
	return from != updated || u.title != nil && (status == "pending" || status == "in_progress")
}

// first declares a call at its first mention, whatever that is. A call known
// from an earlier turn was declared there.
func (w *turn) first(u *update, id string, from origin, known bool) *call {
	s := w.stream(u.meta)
	c := &call{
		id:        id,
		of:        s,
		name:      w.profile.nameOf(u, id),
		title:     text(u.title),
		kind:      text(u.tool),
		locations: u.locations,
		asked:     from == permission,
	}
	if !known {
		w.refuse()
		w.settleOthers()
		s.flush()
		s.open = silent
		w.pieces++
		w.lastErr = ""
		agentstream.Send(s.h, agentstream.ToolCallInfo{
			ID: id, Name: c.name, Kind: c.kind, Title: c.title, Locations: locations(u.locations),
		})
		s.h.OnToolCall(id, first(c.title, c.name))
	}
	c.locations = append([]byte(nil), c.locations...)
	w.calls[id] = c
	w.order = append(w.order, c)
	return c
}

// merge takes over what u says about c. Nothing of it is heard after the
// terminal.
func (w *turn) merge(c *call, u *update, from origin) {
	if c.done {
		return
	}
	w.describe(c, u)
	w.arguments(c, u.rawInput, from)
	status := string(u.status)
	if from == permission {
		status = ""
	}
	c.running = c.running || status == "in_progress"
	if status == "in_progress" || from == permission && (!c.asked || c.argsFrom != permission) {
		w.settle(c)
	}
	w.meta(c, u.meta)
	w.contents(c, u, from)
	switch status {
	case "completed":
		w.finish(c, u, agentstream.ToolCallStatusCompleted)
	case "failed":
		w.finish(c, u, agentstream.ToolCallStatusFailed)
	case "cancelled":
		c.dropped = true
		w.finish(c, u, agentstream.ToolCallStatusFailed)
	}
}

// describe tells what changed of title, kind and files. The name never does.
func (w *turn) describe(c *call, u *update) {
	info := agentstream.ToolCallInfo{ID: c.id}
	if title := text(u.title); title != "" && title != c.title {
		c.title, info.Title = title, title
	}
	if kind := text(u.tool); kind != "" && kind != c.kind {
		c.kind, info.Kind = kind, kind
	}
	if places := locations(u.locations); len(places) > 0 && !sameJSON(u.locations, c.locations) {
		c.locations, info.Locations = append([]byte(nil), u.locations...), places
	}
	if info.Title != "" || info.Kind != "" || info.Locations != nil {
		agentstream.Send(c.of.h, info)
	}
}

// arguments tells a snapshot if it says something new. What a permission shows
// counts only while the call has no arguments of its own.
func (w *turn) arguments(c *call, v []byte, from origin) {
	if v == nil || !hasArguments(v) || from == permission && c.args != nil && c.argsFrom != permission {
		return
	}
	before := c.argsFrom
	c.argsFrom = from
	if c.args != nil && sameJSON(c.args, v) {
		if from == permission {
			c.argsFrom = before
		}
		return
	}
	args, ok := compact(v)
	if !ok {
		c.argsFrom = before
		return
	}
	c.args = args
	c.of.h.OnToolCallArgsSnapshot(c.id, string(args))
}

// settle tells that the arguments are complete, once, if there are any.
func (w *turn) settle(c *call) {
	if c.settled || c.done || c.args == nil {
		return
	}
	c.settled = true
	c.of.h.OnToolCallUpdate(c.id, "", agentstream.ToolCallStatusInProgress)
}

// settleOthers: another call or a count of tokens says that the model goes on,
// so arguments that came in updates are complete. A pending announcement may
// still hold a part only.
func (w *turn) settleOthers() {
	for _, c := range w.order {
		if c.argsFrom == updated {
			w.settle(c)
		}
	}
}

// finish sends the terminal.
func (w *turn) finish(c *call, u *update, status agentstream.ToolCallStatus) {
	if c.exit == nil {
		c.exit = exitCode(u.rawOutput)
	}
	failed := status == agentstream.ToolCallStatusFailed
	w.flushOutput(c)
	w.end(c, c.result(u.content, u.rawOutput, failed), status, false)
}

// end closes a call with its result.
func (w *turn) end(c *call, result string, status agentstream.ToolCallStatus, partial bool) {
	if c.exit != nil || partial {
		agentstream.Send(c.of.h, agentstream.ToolCallInfo{ID: c.id, ExitCode: c.exit, Partial: partial})
	}
	c.done = true
	c.of.h.OnToolCallUpdate(c.id, result, status)
	c.args, c.seen, c.progress = nil, nil, ""
	if c.refused {
		c.refused = false
		w.refused--
	}
	failure := ""
	if status == agentstream.ToolCallStatusFailed {
		failure = result
	}
	w.endChild(c.id, failure)
}

// refuse ends the calls that the user refused and of which the agent says
// nothing more: what comes next would be taken for their answer.
func (w *turn) refuse() {
	if w.refused == 0 {
		return
	}
	for _, c := range w.order {
		if c.refused {
			w.end(c, resultDenied, agentstream.ToolCallStatusFailed, false)
		}
	}
}

// forget drops a call of no turn once it has ended.
func (w *turn) forget(c *call) {
	delete(w.calls, c.id)
	for i, o := range w.order {
		if o == c {
			w.order = append(w.order[:i], w.order[i+1:]...)
			return
		}
	}
}
