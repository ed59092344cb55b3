package round

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cloudwego/eino/schema"
)

// Format encodes a history (user messages and the messages of rounds, in order)
// as the JSON array that a provider takes as messages: Eino, OpenAI (chat
// completions) or Anthropic (messages). Reasoning is left out where the provider
// only takes its own, signed one, and media where it takes none leave a line of
// text. A history that Validate accepts is encoded to one that the provider
// accepts.
func Format(name string, messages []*schema.Message) (json.RawMessage, error) {
	out := []any{}
	var err error
	switch name {
	case Eino:
		for _, m := range messages {
			out = append(out, m)
		}
	case OpenAI:
		out, err = openAI(messages)
	case Anthropic:
		out, err = anthropic(messages)
	default:
		return nil, fmt.Errorf("round: messages cannot be written for %q", name)
	}
	if err != nil {
		return nil, fmt.Errorf("round: messages for %s: %w", name, err)
	}
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("round: messages for %s: %w", name, err)
	}
	return data, nil
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// part is what is in a piece of a message, whatever its kind.
type part struct {
	text             string
	kind, mime, name string // kind: image, audio, video or file
	data, url        string
}

// partsOf reads the pieces of a user's message or of a result.
func partsOf(m *schema.Message) []part {
	if len(m.UserInputMultiContent) == 0 {
		return []part{{text: m.Content}}
	}
	var parts []part
	for _, in := range m.UserInputMultiContent {
		p := part{text: in.Text}
		switch {
		case in.Image != nil:
			p.kind = "image"
			p.take(in.Image.MessagePartCommon)
		case in.Audio != nil:
			p.kind = "audio"
			p.take(in.Audio.MessagePartCommon)
		case in.Video != nil:
			p.kind = "video"
			p.take(in.Video.MessagePartCommon)
		case in.File != nil:
			p.kind, p.name = "file", in.File.Name
			p.take(in.File.MessagePartCommon)
		}
		parts = append(parts, p)
	}
	return parts
}

func (p *part) take(c schema.MessagePartCommon) {
	p.mime = c.MIMEType
	if c.Base64Data != nil {
		p.data = *c.Base64Data
	}
	if c.URL != nil {
		p.url = *c.URL
	}
}

// line stands for a piece that a provider does not take.
func (p *part) line() string {
	switch {
	case p.kind == "":
		return p.text
	case p.url != "" && p.name != "":
		return "[" + p.name + "](" + p.url + ")"
	case p.url != "":
		return p.url
	case p.name != "":
		return "[" + p.kind + " " + p.name + "]"
	}
	return strings.TrimSpace("["+p.kind+" "+p.mime) + "]"
}

// dataURL is where the piece is, inline or not.
func (p *part) dataURL() string {
	if p.data == "" {
		return p.url
	}
	return "data:" + p.mime + ";base64," + p.data
}

// text is everything a message says, as one text.
func text(m *schema.Message) string {
	var lines []string
	for _, p := range partsOf(m) {
		lines = append(lines, p.line())
	}
	return strings.Join(lines, "\n")
}
