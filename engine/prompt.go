package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/source"
)

// news is what a posted history has that the thread does not.
type news struct {
	prompt   []agui.Message // user messages for the agent
	imported []agui.Message // earlier ones, for the list only
}

// all are the messages that RUN_STARTED tells other readers of.
func (n news) all() []agui.Message {
	return append(n.imported[:len(n.imported):len(n.imported)], n.prompt...)
}

// sift finds the news in posted. The prompt is the user messages after the last
// one that is known and after the last foreign answer. A thread that has nothing
// yet takes over a foreign history whole; later only user messages are, since
// what a client makes up for itself (results, answers) is no history.
func sift(posted []agui.Message, known map[string]bool) news {
	after := -1
	for i, m := range posted {
		if m.Role == agui.RoleUser && known[m.ID] || m.Role == agui.RoleAssistant && !known[m.ID] {
			after = i
		}
	}
	var n news
	for i, m := range posted {
		switch {
		case known[m.ID]:
		case m.Role == agui.RoleUser && i > after:
			n.prompt = append(n.prompt, m)
		case m.Role == agui.RoleUser,
			len(known) == 0 && (m.Role == agui.RoleAssistant || m.Role == agui.RoleTool):
			n.imported = append(n.imported, m)
		}
	}
	if last := len(posted) - 1; len(n.prompt) == 0 && last >= 0 && posted[last].Role == agui.RoleUser {
		// Asked again: a client's "try again" posts the same history.
		n.prompt = posted[last:]
	}
	return n
}

func ids(list *agui.List) map[string]bool {
	known := map[string]bool{}
	for _, m := range list.Messages() {
		known[m.ID] = true
	}
	return known
}

func refs(messages []agui.Message) []inputRef {
	out := make([]inputRef, 0, len(messages))
	for _, m := range messages {
		out = append(out, inputRef{m.ID, hashOf(string(m.Content))})
	}
	return out
}

// repeats says whether posted asks for what a run was started with: it has the
// run's messages with the same content, and no other new ones.
func repeats(posted []agui.Message, inputs []inputRef, known map[string]bool) bool {
	have := map[string]string{}
	for _, m := range posted {
		if m.Role == agui.RoleUser {
			have[m.ID] = hashOf(string(m.Content))
		}
	}
	for _, in := range inputs {
		if have[in.ID] != in.Hash {
			return false
		}
		delete(have, in.ID)
	}
	for id := range have {
		if !known[id] {
			return false
		}
	}
	return true
}

// parts turns messages and context into a prompt.
func parts(messages []agui.Message, context []agui.ContextEntry) []source.Part {
	var out []source.Part
	for i, c := range context {
		out = append(out, source.Part{
			Type: source.PartResource, URI: fmt.Sprintf("context://%d", i+1),
			Name: c.Description, MIMEType: "text/plain", Text: strings.TrimSpace(c.Description + "\n" + c.Value),
		})
	}
	for _, m := range messages {
		out = append(out, contentParts(m)...)
	}
	return out
}

// contentPart is a part of a user message, in the forms of all client versions.
type contentPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MIMEType string `json:"mimeType"` // of a binary part
	Data     string `json:"data"`
	URL      string `json:"url"`
	Filename string `json:"filename"`
	Source   struct {
		Type, Value, MIMEType string
	} `json:"source"`
}

func contentParts(m agui.Message) []source.Part {
	var list []contentPart
	if json.Unmarshal(m.Content, &list) != nil {
		return []source.Part{{Type: source.PartText, Text: m.Text()}}
	}
	var out []source.Part
	for _, p := range list {
		if p.Type == "text" {
			out = append(out, source.Part{Type: source.PartText, Text: p.Text})
			continue
		}
		mime, data, uri := p.MIMEType, p.Data, p.URL
		if p.Source.MIMEType != "" {
			mime = p.Source.MIMEType
		}
		switch p.Source.Type {
		case "data":
			data = p.Source.Value
		case "url", "file":
			uri = p.Source.Value
		}
		out = append(out, mediaPart(p.Type, mime, data, uri, p.Filename))
	}
	return out
}

func mediaPart(kind, mime, data, uri, name string) source.Part {
	part := source.Part{Type: source.PartResource, MIMEType: mime, Data: data, URI: uri, Name: name}
	switch {
	case data == "":
		part.Type = source.PartResourceLink
		if part.Name == "" {
			part.Name = kind
		}
	case kind == "image" || strings.HasPrefix(mime, "image/"):
		part.Type = source.PartImage
	case kind == "audio" || strings.HasPrefix(mime, "audio/"):
		part.Type = source.PartAudio
	case uri == "":
		part.URI = "attachment://" + kind
	}
	return part
}

// titleOf makes a title of a prompt: its first line that is not empty.
func titleOf(messages []agui.Message) string {
	for _, m := range messages {
		for line := range strings.Lines(m.Text()) {
			if line = strings.Join(strings.Fields(line), " "); line != "" {
				return clip(line, 80)
			}
		}
	}
	return ""
}

// clip cuts s to n bytes at the boundary of a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

const (
	historyBytes = 64 << 10 // of the whole block, the latest rounds
	historyPiece = 4 << 10  // of one message
)

// history tells an agent that has no memory of the thread what was said before,
// in pieces of which the last ones count, as one clearly delimited block; empty
// if there is nothing.
func history(pieces []string) string {
	from, size := len(pieces), 0
	for from > 0 && size < historyBytes {
		from--
		size += len(pieces[from])
	}
	if from == len(pieces) {
		return ""
	}
	var b strings.Builder
	b.WriteString("What was said earlier in this conversation, before this session began. It is for your information; do not answer it.\n<conversation_history>\n")
	for _, piece := range pieces[from:] {
		b.WriteString(strings.ReplaceAll(piece, "</conversation_history>", "<\\/conversation_history>"))
	}
	b.WriteString("</conversation_history>")
	return b.String()
}

func roundText(r Round) string {
	var b strings.Builder
	say := func(who, text string) {
		if text != "" {
			fmt.Fprintf(&b, "%s: %s\n", who, clip(text, historyPiece))
		}
	}
	for _, m := range r.Input {
		say("User", m.Text())
	}
	for _, m := range r.Messages {
		if m.Role == schema.Assistant {
			say("Assistant", m.Content)
			for _, c := range m.ToolCalls {
				say("Assistant called "+c.Function.Name, c.Function.Arguments)
			}
		} else {
			say("Result of "+m.ToolName, m.Content)
		}
	}
	return b.String()
}
