package server

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/agentstream-go/agentstream/agui"
)

// uiMessage is a message as TanStack AI keeps it: what a message stream is folded
// into there, results beside their calls and thoughts before the answer they led to.
type uiMessage struct {
	ID       string          `json:"id"`
	Role     string          `json:"role"`
	Parts    []*uiPart       `json:"parts"`
	Name     string          `json:"name,omitempty"`
	Metadata json.RawMessage `json:"metadata,omitempty"`
}

// uiPart is a part of any kind.
type uiPart struct {
	Type       string          `json:"type"`
	Content    json.RawMessage `json:"content,omitempty"`
	Signature  string          `json:"signature,omitempty"`
	ID         string          `json:"id,omitempty"`
	Name       string          `json:"name,omitempty"`
	Arguments  *string         `json:"arguments,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	State      string          `json:"state,omitempty"`
	Error      string          `json:"error,omitempty"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	other      json.RawMessage // instead of all these
}

func (p *uiPart) MarshalJSON() ([]byte, error) {
	if p.other != nil {
		return p.other, nil
	}
	type plain uiPart
	return json.Marshal((*plain)(p))
}

// uiMessages folds the AG-UI list. Activities have no place in it.
func uiMessages(list []agui.Message) []*uiMessage {
	out := []*uiMessage{}
	var thoughts []*uiMessage // of the answer that is to come
	flush := func() { out, thoughts = append(out, thoughts...), nil }
	calls := map[string]*uiMessage{}
	for i := range list {
		m := &list[i]
		u := &uiMessage{ID: m.ID, Role: string(m.Role), Name: m.Name, Metadata: m.Metadata, Parts: contentParts(m.Content)}
		switch m.Role {
		case agui.RoleActivity:
		case agui.RoleReasoning:
			u.Role = "assistant"
			u.Parts = []*uiPart{{Type: "thinking", Content: m.Content, Signature: m.EncryptedValue}}
			thoughts = append(thoughts, u)
		case agui.RoleTool:
			flush()
			calls[m.ToolCallID].result(m)
		case agui.RoleAssistant:
			var before []*uiPart
			for _, t := range thoughts {
				before = append(before, t.Parts...)
			}
			u.Parts, thoughts = append(before, u.Parts...), nil
			for k := range m.ToolCalls {
				u.Parts = append(u.Parts, callPart(&m.ToolCalls[k]))
				calls[m.ToolCalls[k].ID] = u
			}
			out = append(out, u)
		default:
			flush()
			if m.Role == agui.RoleDeveloper {
				u.Role = "system"
			}
			out = append(out, u)
		}
	}
	flush()
	return out
}

// contentParts gives what a person said: a text, or parts whose text has another
// name there.
func contentParts(content json.RawMessage) []*uiPart {
	parts := []*uiPart{}
	switch content = bytes.TrimSpace(content); {
	case len(content) == 0 || string(content) == `""`:
	case content[0] == '"':
		parts = append(parts, &uiPart{Type: "text", Content: content})
	case content[0] == '[':
		var list []json.RawMessage
		_ = json.Unmarshal(content, &list)
		for _, raw := range list {
			var p struct {
				Type string
				Text json.RawMessage
			}
			switch _ = json.Unmarshal(raw, &p); p.Type {
			case "text":
				parts = append(parts, &uiPart{Type: "text", Content: p.Text})
			case "", "binary": // it has none of that kind
			default:
				parts = append(parts, &uiPart{other: raw})
			}
		}
	}
	return parts
}

func callPart(c *agui.ToolCall) *uiPart {
	p := &uiPart{Type: "tool-call", ID: c.ID, Name: c.Name, Arguments: &c.Arguments, State: "input-complete", Metadata: c.Metadata}
	if json.Valid([]byte(c.Arguments)) {
		p.Input = json.RawMessage(c.Arguments)
	}
	return p
}

// result puts a result beside its call and into it.
func (u *uiMessage) result(m *agui.Message) {
	if u == nil {
		return
	}
	content := m.Content
	if content = bytes.TrimSpace(content); len(content) == 0 {
		content = json.RawMessage(`""`)
	}
	if content[0] == '[' {
		content, _ = json.Marshal(contentParts(content))
	}
	state := "complete"
	if m.Error != "" {
		state = "error"
	}
	for _, p := range u.Parts {
		if p.Type == "tool-call" && p.ID == m.ToolCallID {
			p.State, p.Output = state, content
			if text := m.Text(); content[0] == '"' && json.Valid([]byte(text)) {
				p.Output = json.RawMessage(text)
			}
		}
	}
	u.Parts = append(u.Parts, &uiPart{
		Type: "tool-result", ToolCallID: m.ToolCallID, Content: content, State: state, ID: m.ID, Name: m.Name, Error: m.Error, Metadata: m.Metadata,
	})
}

// uiThread answers TanStack AI, which asks for the thread as one document: the last
// messages before one, what runs, and what waits for an answer.
func (s *Server) uiThread(w http.ResponseWriter, r *http.Request, thread string) {
	limit, err := number(r, "limit", 0)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	type runRef struct {
		RunID   string           `json:"runId"`
		Pending []agui.Interrupt `json:"pending,omitempty"`
	}
	type page struct {
		Truncated bool   `json:"truncated"`
		Cursor    string `json:"cursor,omitempty"` // the next page's before
	}
	out := struct {
		Messages   []*uiMessage `json:"messages"`
		ActiveRun  *runRef      `json:"activeRun"`
		Interrupts *runRef      `json:"interrupts"`
		Page       page         `json:"page"`
		Cursor     string       `json:"cursor,omitempty"`
	}{Messages: []*uiMessage{}}
	m, err := s.engine.Messages(r.Context(), thread, 0, "")
	if err != nil && code(err) != "thread_unknown" {
		s.fail(w, r, err)
		return
	}
	if err == nil {
		list := uiMessages(m.Messages)
		if before := r.URL.Query().Get("before"); before != "" {
			at := slices.IndexFunc(list, func(u *uiMessage) bool { return u.ID == before })
			if at < 0 {
				s.fail(w, r, bad("before names no message of the thread"))
				return
			}
			list = list[:at]
		}
		if limit > 0 && len(list) > limit {
			list = list[len(list)-limit:]
			out.Page = page{Truncated: true, Cursor: list[0].ID}
		}
		out.Messages, out.Cursor = list, m.Cursor
		if m.OpenRun != nil {
			out.ActiveRun = &runRef{RunID: *m.OpenRun}
		}
		if len(m.Pending) > 0 {
			out.Interrupts = &runRef{RunID: m.Pending[0].Run, Pending: m.Interrupts()}
		}
	}
	writeJSON(w, http.StatusOK, out)
}
