package agui

import (
	"encoding/json"
	"strings"
)

// part is one part of a message's content, in the shape of 1.0 and in that of
// the binary part that clients before it post.
type part struct {
	Type     string          `json:"type"`
	ID       string          `json:"id"`
	Text     string          `json:"text"`
	Source   *partSource     `json:"source"`
	Metadata json.RawMessage `json:"metadata"`

	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
	URL      string `json:"url"`
	Filename string `json:"filename"`
}

type partSource struct {
	Type     string `json:"type"`
	Value    string `json:"value"`
	Provider string `json:"provider"`
	MIMEType string `json:"mimeType"`
}

// readParts reads an array of parts; what is none that the protocol knows is
// left out.
func readParts(raw json.RawMessage) []part {
	elements, _ := readElements([]byte(raw))
	var list []part
	for _, e := range elements {
		var p part
		if unmarshal(e, &p) != nil {
			continue
		}
		if p.Type == "binary" {
			p.upgrade()
		}
		if p.known() {
			list = append(list, p)
		}
	}
	return list
}

// upgrade makes a media part of a binary one.
func (p *part) upgrade() {
	p.Type, p.Source = "document", &partSource{Type: "file", Value: p.ID, MIMEType: p.MIMEType}
	for _, kind := range []string{"image", "audio", "video"} {
		if strings.HasPrefix(p.MIMEType, kind+"/") {
			p.Type = kind
		}
	}
	if p.URL != "" {
		p.Source.Type, p.Source.Value = "url", p.URL
	}
	if p.Data != "" {
		p.Source.Type, p.Source.Value = "data", p.Data
	}
	if p.Filename != "" {
		p.Metadata = append(appendString([]byte(`{"filename":`), p.Filename), '}')
	}
	p.ID = ""
}

func (p *part) known() bool {
	switch p.Type {
	case "text":
		return true
	case "image", "audio", "video", "document":
		if p.Source == nil {
			return false
		}
		switch p.Source.Type {
		case "data", "url", "file":
			return true
		}
	}
	return false
}

// label stands for a part where only text can.
func (p *part) label() string {
	if p.Type == "text" {
		return p.Text
	}
	return strings.TrimRight("["+p.Type+" "+p.Source.MIMEType, " ") + "]"
}

func flatten(list []part) json.RawMessage {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = list[i].label()
	}
	return StringContent(strings.Join(texts, "\n"))
}

func encodeParts(list []part) json.RawMessage {
	var e encoder
	e.each("", len(list), func(i int) {
		p := &list[i]
		e.str(`{"type":`, p.Type)
		e.opt(`,"id":`, p.ID)
		if p.Type == "text" {
			e.str(`,"text":`, p.Text)
		} else {
			e.source(p.Source)
		}
		e.optRaw(`,"metadata":`, p.Metadata)
		e.buf = append(e.buf, '}')
	})
	return e.buf
}

func (e *encoder) source(s *partSource) {
	e.str(`,"source":{"type":`, s.Type)
	e.str(`,"value":`, s.Value)
	if s.Type == "file" {
		e.opt(`,"provider":`, s.Provider)
	}
	if s.Type == "data" {
		e.str(`,"mimeType":`, s.MIMEType)
	} else {
		e.opt(`,"mimeType":`, s.MIMEType)
	}
	e.buf = append(e.buf, '}')
}

// canonical gives content the form that 1.0 has for it: parts where the role may
// have them, in the protocol's own fields, and text elsewhere.
func (m *Message) canonical() {
	if kindOf(m.Content) != '[' {
		return
	}
	list := readParts(m.Content)
	if m.Role == RoleUser || m.Role == RoleTool {
		m.Content = encodeParts(list)
		return
	}
	m.Content = flatten(list)
}

// Portable is the message as every client takes it: a tool message's parts
// become text, and a file that only its provider can open is named in text.
// Whatever clients read back, snapshots and the echo of an input, is portable.
func (m Message) Portable() Message {
	if kindOf(m.Content) != '[' {
		return m
	}
	list := readParts(m.Content)
	if m.Role != RoleUser {
		m.Content = flatten(list)
		return m
	}
	for i := range list {
		if p := &list[i]; p.Source != nil && p.Source.Type == "file" {
			*p = part{Type: "text", Text: p.label()}
		}
	}
	m.Content = encodeParts(list)
	return m
}

func portable(messages []Message) []Message {
	list := make([]Message, len(messages))
	for i := range messages {
		list[i] = messages[i].Portable()
	}
	return list
}
