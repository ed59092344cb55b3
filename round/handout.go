package round

import (
	"strings"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream/agui"
)

// handOut gives a round to the caller. It counts as handed out only if the
// caller took it without a panic; else it comes again at the end of the turn.
func (b *Builder) handOut(r *state) {
	if r.dirty {
		r.revision++
	}
	if b.cfg.OnRound != nil {
		defer b.caught()
		b.cfg.OnRound(Round{
			Thread: b.cfg.Thread, Run: r.run, Number: r.number, Revision: r.revision,
			Complete: r.complete(), Messages: r.messages(),
		})
	}
	r.dirty, r.again, r.late = false, false, 0
	if b.cfg.OnRound != nil && r.complete() {
		r.forget()
	}
}

// forget drops what only messages are made of. A round that was handed out with
// every result in it does not change any more, and a turn may have hundreds with
// megabytes each.
func (r *state) forget() {
	for _, s := range r.segments {
		s.text = buffer{}
	}
	for _, c := range r.calls {
		c.sent, c.text, c.output, c.diffs, c.media = buffer{}, nil, nil, nil, nil
		c.result.content = ""
	}
}

func (r *state) complete() bool {
	for _, c := range r.calls {
		if c.result == nil || c.result.placeholder != "" {
			return false
		}
	}
	return true
}

func (r *state) messages() []*schema.Message {
	messages := make([]*schema.Message, 1, 1+len(r.calls))
	messages[0] = r.assistant()
	for _, c := range r.calls {
		messages = append(messages, c.toolMessage())
	}
	return messages
}

func (r *state) assistant() *schema.Message {
	m := &schema.Message{Role: schema.Assistant}
	info := Info{Run: r.run, Round: r.number, Revision: r.revision, Start: r.start, End: r.start}
	var content, reasoning []string
	for _, s := range r.segments {
		kind := "text"
		if s.kind == agui.KindReasoning {
			kind = "reasoning"
			reasoning = append(reasoning, s.text.String())
		} else {
			content = append(content, s.text.String())
		}
		info.Segments = append(info.Segments, Segment{
			Kind: kind, ID: s.id, Length: s.text.size, Start: s.start, End: s.end,
		})
		info.End = max(info.End, s.end)
	}
	m.Content = strings.Join(content, "\n\n")
	m.ReasoningContent = strings.Join(reasoning, "\n\n")
	for _, c := range r.calls {
		call, about := c.toolCall()
		m.ToolCalls = append(m.ToolCalls, call)
		info.Calls = append(info.Calls, about)
		info.End = max(info.End, about.End)
		info.ID = r.carrier
	}
	m.Extra = map[string]any{ExtraKey: string(encode(info))}
	return m
}

func (c *call) toolCall() (schema.ToolCall, CallInfo) {
	args, as := object(c.final())
	about := CallInfo{
		ID: c.id, AgentID: c.agentID, Title: c.title, Kind: c.kind, Locations: c.locations, Start: c.start,
	}
	if c.own {
		_, as = object(c.text)
	}
	if !as {
		about.RawArguments = string(c.known())
	}
	if c.result != nil {
		about.End = c.result.at
	}
	return schema.ToolCall{
		ID: c.id, Type: "function", Function: schema.FunctionCall{Name: c.name, Arguments: string(args)},
	}, about
}

func (c *call) toolMessage() *schema.Message {
	info := Info{
		Run: c.round.run, Round: c.round.number, Revision: c.round.revision,
		ExitCode: c.exitCode, Output: c.terminal(), Start: c.start,
	}
	if len(c.diffs) > 0 {
		info.Diffs = encode(c.diffs)
	}
	o := c.result
	if o == nil {
		o = &outcome{content: placeholder(unfinished), failed: true, placeholder: unfinished}
	}
	info.Partial = c.partial && o.placeholder == ""
	info.ID, info.Status, info.Placeholder, info.End = o.id, o.status(), o.placeholder, o.at
	return &schema.Message{
		Role: schema.Tool, ToolCallID: c.id, ToolName: c.name, Content: o.content,
		UserInputMultiContent: c.parts(o.content),
		Extra:                 map[string]any{ExtraKey: string(encode(info))},
	}
}

// parts are the result with its media, nil without. The text is among them,
// because a model is given the parts instead of Content.
func (c *call) parts(text string) []schema.MessageInputPart {
	var parts []schema.MessageInputPart
	for _, m := range c.media {
		common := schema.MessagePartCommon{MIMEType: m.MIMEType}
		switch {
		case m.Data != "":
			common.Base64Data = &m.Data
		case m.URI != "":
			common.URL = &m.URI
		default:
			continue
		}
		kind, _, _ := strings.Cut(m.MIMEType, "/")
		var p schema.MessageInputPart
		switch kind {
		case "image":
			p = schema.MessageInputPart{Type: schema.ChatMessagePartTypeImageURL, Image: &schema.MessageInputImage{MessagePartCommon: common}}
		case "audio":
			p = schema.MessageInputPart{Type: schema.ChatMessagePartTypeAudioURL, Audio: &schema.MessageInputAudio{MessagePartCommon: common}}
		case "video":
			p = schema.MessageInputPart{Type: schema.ChatMessagePartTypeVideoURL, Video: &schema.MessageInputVideo{MessagePartCommon: common}}
		default:
			p = schema.MessageInputPart{Type: schema.ChatMessagePartTypeFileURL, File: &schema.MessageInputFile{MessagePartCommon: common, Name: m.Name}}
		}
		parts = append(parts, p)
	}
	if len(parts) > 0 && text != "" {
		parts = append([]schema.MessageInputPart{{Type: schema.ChatMessagePartTypeText, Text: text}}, parts...)
	}
	return parts
}
