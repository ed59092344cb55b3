package round

import (
	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// lane is the stream of one agent: the turn's own, or one of a sub-agent, whose
// rounds are kept only for the order of things and never handed out.
type lane struct {
	b      *Builder
	parent *lane  // nil: the turn's own
	agent  string // sub-agent: the agent's id of it
	id     string // sub-agent: the public id
	name   string // sub-agent
	owner  string // sub-agent: public id of the call that started it
	shown  bool   // sub-agent: announced in this run

	open   *segment // takes the next chunk of its kind
	round  *state   // the current round, nil before the first
	rounds []*state
	calls  map[string]*call                    // by the agent's id
	infos  map[string]agentstream.ToolCallInfo // come before their call
	plan   string                              // id of the plan's message
	used   int                                 // context window, as told last
	size   int
}

// state is a round as it grows.
type state struct {
	number, revision int
	run              string
	start            int64
	segments         []*segment
	calls            []*call
	carrier          string // the message that owns the calls
	unanswered       int
	held             int
	late             int  // results since it was handed out last
	over             bool // nothing is added any more
	dirty            bool // there is more to it than was handed out
	again            bool // hand out at the end though nothing changed
}

// segment is a stretch of text or reasoning: one AG-UI message.
type segment struct {
	kind       agui.Kind
	id         string
	runNo      int
	text       buffer
	start, end int64
}

func newLane(b *Builder, parent *lane, agent, id string) *lane {
	return &lane{
		b: b, parent: parent, agent: agent, id: id,
		calls: map[string]*call{},
		infos: map[string]agentstream.ToolCallInfo{},
		used:  -1,
	}
}

func (l *lane) chunk(kind agui.Kind, text string) {
	if text == "" || l.b.closed {
		return
	}
	text = valid(text)
	s := l.open
	if s == nil || s.kind != kind {
		letter := byte('m')
		if kind == agui.KindReasoning {
			letter = 'r'
		}
		s = l.openSegment(kind, l.b.mint(letter))
	}
	l.grow(s, text)
	l.b.delta(kind, s.id, text)
}

// grow keeps the text; that of a sub-agent is nobody's to read.
func (l *lane) grow(s *segment, text string) {
	if l.parent == nil {
		s.text.add(text)
	}
}

func (l *lane) openSegment(kind agui.Kind, id string) *segment {
	l.closeSegment()
	if l.round != nil && len(l.round.calls) > 0 {
		l.supersede()
	}
	r := l.current()
	s := &segment{kind: kind, id: id, runNo: l.b.runNo, start: l.b.clock()}
	r.segments = append(r.segments, s)
	r.dirty = true
	l.open = s
	l.b.start(agui.Item{Kind: kind, ID: id, Subagent: l.id})
	return s
}

func (l *lane) closeSegment() {
	s := l.open
	if s == nil {
		return
	}
	l.open = nil
	s.end = l.b.clock()
	l.b.end(s.kind, s.id, nil)
}

// current returns the round that takes what comes next.
func (l *lane) current() *state {
	if l.round == nil {
		l.round = &state{run: l.b.cfg.Run, start: l.b.clock()}
		if l.parent == nil {
			l.round.number = l.b.next
			l.b.next++
		}
		l.rounds = append(l.rounds, l.round)
	}
	return l.round
}

// supersede ends the current round: what comes next is another one's. Calls
// whose arguments are known by now will not get more, so they are settled.
func (l *lane) supersede() {
	r := l.round
	l.round = nil
	r.over = true
	if r.unanswered > 0 {
		r.dirty = true
		for _, c := range r.calls {
			if c.result == nil {
				c.settle(false)
			}
		}
	}
	l.offer(r)
}

// handOuts is about how often a round is handed out for late results, so that
// many of them do not cost the square of their number.
const handOuts = 64

// ripe reports whether a result has come with which the round is to be handed out.
// What is left out comes with the next, with the last, or at the end of the turn.
func (r *state) ripe() bool {
	return !r.over || r.unanswered == 0 || r.late*handOuts >= len(r.calls)
}

// offer hands a round out if it is due and no approval is open.
func (l *lane) offer(r *state) {
	due := r.over || (len(r.calls) > 0 && r.unanswered == 0)
	if l.parent == nil && due && r.dirty && r.held == 0 {
		l.b.handOut(r)
	}
}

func (l *lane) declare(agentID, title string) {
	if l.b.closed {
		return
	}
	if l.calls[agentID] != nil {
		l.info(agentstream.ToolCallInfo{ID: agentID, Title: title})
		return
	}
	info := l.infos[agentID]
	delete(l.infos, agentID)
	if title != "" {
		info.Title = title
	}
	l.closeSegment()
	carrier := l.roundForCall().carrier
	if carrier == "" {
		carrier = l.carrier()
	}
	c := &call{agentID: agentID, id: l.b.mint('c'), name: functionName(info)}
	c.know(info)
	l.addCall(c, carrier)
	if c.exitCode != nil || c.partial { // its START has no place for them
		c.custom("agentstream.tool", toolNote{ToolCallID: c.id, ExitCode: c.exitCode, Partial: c.partial})
	}
}

// roundForCall returns the round that a call declared now belongs to: another
// one than that whose calls all have their results, for the agent has seen them.
func (l *lane) roundForCall() *state {
	if r := l.round; r != nil && len(r.calls) > 0 && r.unanswered == 0 {
		l.supersede()
	}
	return l.current()
}

// carrier is the message that owns a round's calls: its last text, if that is
// the last thing said and of this run, else one that exists for that only.
func (l *lane) carrier() string {
	if n := len(l.round.segments); n > 0 {
		if s := l.round.segments[n-1]; s.kind == agui.KindText && s.runNo == l.b.runNo {
			return s.id
		}
	}
	return l.b.mint('m')
}

func (l *lane) addCall(c *call, carrier string) {
	r := l.roundForCall()
	r.carrier = carrier
	r.calls = append(r.calls, c)
	r.unanswered++
	r.dirty = true
	c.lane, c.round, c.start = l, r, l.b.clock()
	l.calls[c.agentID] = c
	c.open()
}

func (l *lane) update(agentID, content string, status agentstream.ToolCallStatus) {
	c := l.calls[agentID]
	if c == nil || c.result != nil || l.b.closed {
		return
	}
	content = valid(content)
	switch {
	case status.IsTerminal():
		failed := status == agentstream.ToolCallStatusFailed
		if failed && content == "" {
			content = "Tool call failed."
		}
		c.finish(&outcome{id: l.b.mint('t'), content: content, failed: failed})
		if c.round.late++; c.round.ripe() {
			l.offer(c.round)
		}
	case content != "":
		c.append(content)
	case status == agentstream.ToolCallStatusInProgress:
		c.settle(false)
	}
}

func (l *lane) snapshot(agentID, args string) {
	c := l.calls[agentID]
	if c == nil || c.result != nil || l.b.closed {
		return
	}
	c.replace(valid(args))
}
