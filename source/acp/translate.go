package acp

import (
	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
)

// translator turns what an agent says into calls of a StreamHandler. It is
// pure: no I/O, no clock, no goroutine; its methods are never called two at
// once. It belongs to one session.
type translator struct {
	profile profile
	turn    *turn // nil: none is open
	late    *turn // what belongs to no turn; it ends in facts
	facts   []source.Fact
	now     update // the update at hand; kept here so that a chunk does not allocate it

	past          map[string]bool // calls of earlier turns
	modes, models source.Choices
	spent         agentstream.ModelUsage // of the session, for agents that count so
}

func newTranslator(agent agentInfo) *translator {
	t := &translator{profile: profileOf(agent), past: map[string]bool{}}
	t.late = newTurn(&t.profile, lateHandler{t})
	return t
}

// begin opens a turn: what is said from now until end goes to h.
func (t *translator) begin(h agentstream.StreamHandler) { t.turn = newTurn(&t.profile, h) }

// update takes the params of one session/update. It gives what concerns the
// session and no turn.
func (t *translator) update(params []byte) []source.Fact {
	t.facts = nil
	u := &t.now
	u.read(field(params, "update"))
	switch string(u.kind) {
	case "":
		t.odd("a session/update that names no kind of update")
	case "agent_message_chunk":
		t.of(u).chunk(u, message)
	case "agent_thought_chunk":
		t.of(u).chunk(u, thought)
	case "agent_message":
		t.of(u).upsert(u, message)
	case "agent_thought":
		t.of(u).upsert(u, thought)
	default:
		if well(u.raw) {
			t.dispatch(u)
		} else {
			t.odd("a session/update with broken JSON")
		}
	}
	return t.facts
}

func (t *translator) odd(what string) {
	t.facts = append(t.facts, source.Fact{Diagnostic: what})
}

// dispatch handles every update that is no text.
func (t *translator) dispatch(u *update) {
	switch string(u.kind) {
	case "tool_call", "tool_call_update", "tool_call_content_chunk":
		t.toolCall(u)
	case "terminal_update", "terminal_output_chunk":
		t.terminal(u)
	case "usage_update":
		t.of(u).usage(u)
	case "plan":
		t.of(u).plan(u.raw)
	case "plan_update":
		t.of(u).planUpdate(u)
	case "plan_removed":
		t.of(u).send(agentstream.Plan{})
	case "notice":
		t.of(u).notice(u)
	case "session_info_update":
		t.sessionInfo(u)
	case "available_commands_update":
		t.commands(u)
	case "current_mode_update":
		t.currentMode(u)
	case "config_option_update":
		t.configOptions(field(u.raw, "configOptions"))
	case "user_message_chunk", "user_message", "state_update":
	default:
		t.of(u).unknown(u)
	}
}

// history takes the params of an update that session/load replays: calls are
// remembered, so that what is said about them later is not taken for new.
func (t *translator) history(params []byte) {
	var u update
	u.read(field(params, "update"))
	switch string(u.kind) {
	case "tool_call", "tool_call_update":
		if id := text(u.callID); id != "" {
			t.past[id] = true
		}
	case "current_mode_update":
		t.currentMode(&u)
	case "config_option_update":
		t.configOptions(field(u.raw, "configOptions"))
	}
	t.facts = nil
}

// of gives the turn that an update belongs to. Outside a turn, and for a
// sub-agent that was already said to be done, that is the observer's.
func (t *translator) of(u *update) *turn {
	if t.turn == nil {
		return t.late
	}
	if u.meta != nil {
		if s := t.turn.children[parentOf(u.meta)]; s != nil && s.done {
			return t.late
		}
	}
	return t.turn
}

// update is one update, or the call that a permission names: slices of the
// line, nil where there is nothing or null.
type update struct {
	raw, kind                    []byte
	content, messageID, meta     []byte
	callID, title, name, tool    []byte // tool: the kind of the tool
	status, locations            []byte
	rawInput, rawOutput          []byte
	terminalID, data, exitStatus []byte
}

// read takes the members of v.
func (u *update) read(v []byte) {
	*u = update{raw: v}
	s := object(v)
	for name, value, ok := s.member(); ok; name, value, ok = s.member() {
		switch string(name) {
		case "sessionUpdate":
			u.kind = bare(value)
		case "content":
			u.content = value
		case "messageId":
			u.messageID = value
		case "_meta":
			u.meta = value
		case "toolCallId":
			u.callID = value
		case "title":
			u.title = value
		case "name":
			u.name = value
		case "kind":
			u.tool = value
		case "status":
			u.status = bare(value)
		case "locations":
			u.locations = value
		case "rawInput":
			u.rawInput = value
		case "rawOutput":
			u.rawOutput = value
		case "terminalId":
			u.terminalID = value
		case "data":
			u.data = value
		case "exitStatus":
			u.exitStatus = value
		}
	}
}

// bare gives what stands between the quotes of a word without escapes.
func bare(v []byte) []byte {
	if len(v) < 2 || v[0] != '"' {
		return nil
	}
	return v[1 : len(v)-1]
}

// lateHandler makes facts of what is said outside a turn.
type lateHandler struct{ t *translator }

func (l lateHandler) Forward(e agentstream.Event) bool {
	l.t.facts = append(l.t.facts, source.Fact{Late: e})
	return true
}

func (l lateHandler) OnMessageChunk(text string) { l.Forward(agentstream.MessageChunk{Text: text}) }
func (l lateHandler) OnThoughtChunk(text string) { l.Forward(agentstream.ThoughtChunk{Text: text}) }
func (l lateHandler) OnToolCall(id, title string) {
	l.Forward(agentstream.ToolCall{ID: id, Title: title})
}
func (l lateHandler) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	l.Forward(agentstream.ToolCallUpdate{ID: id, Content: content, Status: status})
}
func (l lateHandler) OnToolCallArgsSnapshot(id, args string) {
	l.Forward(agentstream.ToolCallArgsSnapshot{ID: id, Args: args})
}
func (l lateHandler) OnTokenUsage(total int) { l.Forward(agentstream.TokenUsage{TotalTokens: total}) }
