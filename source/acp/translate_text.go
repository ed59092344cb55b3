package acp

import (
	"bytes"

	"github.com/agentstream-go/agentstream"
)

// speech says what kind of text is open.
type speech byte

const (
	silent speech = iota
	message
	thought
)

// said is the text of one message so far, as the wire had it.
type said struct {
	id     string // messageId, as raw JSON; empty: the agent gives none
	text   []byte
	chunks int
}

// repeatFrom is how long a message must be before a chunk that equals all of
// it is a repetition for sure. Shorter ones may be what a model really says:
// "ha", "ha", "haha".
const repeatFrom = 32

// chunk handles an agent_message_chunk or agent_thought_chunk.
func (w *turn) chunk(u *update, kind speech) {
	s := w.stream(u.meta)
	if plain := plainText(u.content); plain != nil {
		w.buf = appendText(w.buf[:0], plain)
		if n, ok := w.profile.status(u, kind, w.buf); ok {
			w.status(s, n)
			return
		}
		w.say(s, kind, u.messageID, w.buf)
		return
	}
	eachBlock(u.content, func(b block) { w.sayBlock(s, kind, u.messageID, b) })
}

// plainText gives the string of a content that is one text, and nil for any
// other.
func plainText(content []byte) []byte {
	var kind, text []byte
	s := object(content)
	for name, value, ok := s.member(); ok; name, value, ok = s.member() {
		switch string(name) {
		case "type":
			kind = value
		case "text":
			text = value
		}
	}
	if string(kind) == `"text"` && len(text) > 1 && text[0] == '"' {
		return text
	}
	return nil
}

func (w *turn) sayBlock(s *stream, kind speech, id []byte, b block) {
	form, isText := b.text()
	taken := false
	if m, ok := b.media(""); ok {
		w.refuse()
		s.flush()
		taken = agentstream.Send(s.h, m)
	}
	switch {
	case b.kind == "":
		agentstream.Send(s.h, raw(b.raw))
	case isText || !taken:
		w.say(s, kind, id, []byte(form))
	}
}

// say passes on a piece of text. Where the wire shows that another message
// begins, a Segment comes first.
func (w *turn) say(s *stream, kind speech, id, b []byte) {
	if len(b) == 0 {
		w.segment(s)
		return
	}
	w.refuse()
	switch {
	case s.open != kind:
		s.flush()
		s.begin(kind, id)
	case s.said.id != string(id):
		w.segment(s)
		s.begin(kind, id)
	case s.said.repeats(b):
		return
	}
	s.said.text = append(s.said.text, b...)
	s.said.chunks++
	w.lastErr = ""
	if out := s.wait.join(b); out != "" {
		s.tell(out)
	}
}

// repeats reports whether b is the whole message once more, which some agents
// send when it is complete.
func (m *said) repeats(b []byte) bool {
	return m.id != "" && m.chunks > 1 && len(b) >= repeatFrom && bytes.Equal(b, m.text)
}

// segment tells that the next chunk begins a new message.
func (w *turn) segment(s *stream) {
	if s.open == silent {
		return
	}
	s.flush()
	s.open = silent
	w.pieces++
	agentstream.Send(s.h, agentstream.Segment{})
}

// upsert handles a whole message: what is new in it is said.
func (w *turn) upsert(u *update, kind speech) {
	s := w.stream(u.meta)
	var all []byte
	eachBlock(u.content, func(b block) {
		form, _ := b.text()
		all = append(all, form...)
	})
	if len(all) == 0 {
		return
	}
	old := s.every[key(kind, u.messageID)]
	switch {
	case old == nil:
	case bytes.HasPrefix(all, old.text):
		all = all[len(old.text):]
	case bytes.HasPrefix(old.text, all):
		return
	default:
		w.segment(s)
		old.text = old.text[:0]
	}
	if len(all) > 0 {
		w.say(s, kind, u.messageID, all)
	}
}

func key(kind speech, id []byte) string { return string(append([]byte{byte('0' + kind)}, id...)) }

func (s *stream) begin(kind speech, id []byte) {
	s.open = kind
	if m := s.every[key(kind, id)]; m != nil {
		s.said = m
		return
	}
	s.said = &said{id: string(id)}
	if len(id) == 0 {
		return
	}
	if s.every == nil {
		s.every = map[string]*said{}
	}
	s.every[key(kind, id)] = s.said
}

func (s *stream) tell(out string) {
	if s.open == thought {
		s.h.OnThoughtChunk(out)
	} else {
		s.h.OnMessageChunk(out)
	}
}

// flush says what waits for its other half: it will not come.
func (s *stream) flush() {
	if s.wait.n > 0 {
		s.tell(s.wait.rest())
	}
}

// status tells a line that is no answer.
func (w *turn) status(s *stream, n statusLine) {
	agentstream.Send(s.h, agentstream.Notice{Severity: n.severity, Text: n.text})
	w.lastErr = ""
	if n.severity == "error" {
		w.lastErr = n.text
	}
	if n.retry {
		w.segment(s)
	}
}

// notice handles a notice of the wire.
func (w *turn) notice(u *update) {
	n := statusLine{severity: text(field(u.raw, "severity")), text: text(u.title)}
	if n.severity == "" {
		n.severity = "info"
	}
	if more := text(field(u.raw, "description")); more != "" {
		if n.text != "" {
			n.text += "\n"
		}
		n.text += more
	}
	if n.text != "" {
		w.status(w.stream(u.meta), n)
	}
}
