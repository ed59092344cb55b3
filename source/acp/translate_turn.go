package acp

import "github.com/agentstream-go/agentstream"

// turn is what is known of the turn that is open.
type turn struct {
	profile  *profile
	h        agentstream.StreamHandler
	main     *stream
	children map[string]*stream // of sub-agents, by the call that started them
	inOrder  []*stream          // the same, in order of appearance
	calls    map[string]*call
	order    []*call           // in order of declaration
	terminal map[string]string // id of a terminal → the call that shows it
	refused  int               // calls refused and not ended; see refuse
	lastErr  string            // an error notice, if nothing was said after it
	failed   bool              // the agent says that the turn failed
	pieces   int               // boundaries and calls: signs of a further model call
	buf      []byte
}

// stream is what one agent says: the main one or a sub-agent.
type stream struct {
	h    agentstream.StreamHandler
	id   string // of a sub-agent: the call that started it
	name string
	done bool // its end was told

	open  speech
	said  *said
	every map[string]*said // by messageId
	wait  halves
}

func newTurn(p *profile, h agentstream.StreamHandler) *turn {
	return &turn{
		profile:  p,
		h:        h,
		main:     &stream{h: h},
		calls:    map[string]*call{},
		terminal: map[string]string{},
	}
}

// send passes a rich event on; nobody has to take it.
func (w *turn) send(e agentstream.Event) bool { return agentstream.Send(w.h, e) }

// stream gives the main stream, or the one of the sub-agent that meta names.
func (w *turn) stream(meta []byte) *stream {
	if meta == nil {
		return w.main
	}
	id := parentOf(meta)
	if id == "" {
		return w.main
	}
	if s := w.children[id]; s != nil {
		return s
	}
	s := &stream{id: id}
	if c := w.calls[id]; c != nil {
		s.name = c.name
	}
	s.h = childHandler{h: w.h, id: id, name: s.name}
	if w.children == nil {
		w.children = map[string]*stream{}
	}
	w.children[id] = s
	w.inOrder = append(w.inOrder, s)
	w.send(agentstream.Subagent{ID: id, Name: s.name, ToolCallID: id})
	return s
}

// endChild tells that the sub-agent of a call is done, if it has said
// anything and has no call open.
func (w *turn) endChild(id, failure string) {
	s := w.children[id]
	if s == nil || s.done {
		return
	}
	for _, c := range w.order {
		if c.of == s && !c.done {
			return
		}
	}
	w.closeChild(s, failure)
}

func (w *turn) closeChild(s *stream, failure string) {
	if s.done {
		return
	}
	s.flush()
	s.done = true
	w.send(agentstream.Subagent{ID: s.id, Name: s.name, ToolCallID: s.id, Done: true, Err: failure})
}

// parentOf gives the call whose sub-agent speaks, "" for the agent itself.
func parentOf(meta []byte) string {
	if id := field(meta, "claudeCode", "parentToolUseId"); id != nil {
		return text(id)
	}
	return text(field(meta, "parentToolCallId"))
}

// childHandler makes Subagent events of what a sub-agent says.
type childHandler struct {
	h        agentstream.StreamHandler
	id, name string
}

func (c childHandler) Forward(e agentstream.Event) bool {
	return agentstream.Send(c.h, agentstream.Subagent{ID: c.id, Name: c.name, ToolCallID: c.id, Event: e})
}

func (c childHandler) OnMessageChunk(text string) { c.Forward(agentstream.MessageChunk{Text: text}) }
func (c childHandler) OnThoughtChunk(text string) { c.Forward(agentstream.ThoughtChunk{Text: text}) }
func (c childHandler) OnToolCall(id, title string) {
	c.Forward(agentstream.ToolCall{ID: id, Title: title})
}
func (c childHandler) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	c.Forward(agentstream.ToolCallUpdate{ID: id, Content: content, Status: status})
}
func (c childHandler) OnToolCallArgsSnapshot(id, args string) {
	c.Forward(agentstream.ToolCallArgsSnapshot{ID: id, Args: args})
}
func (c childHandler) OnTokenUsage(total int) { c.Forward(agentstream.TokenUsage{TotalTokens: total}) }
