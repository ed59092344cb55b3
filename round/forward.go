package round

import (
	"encoding/json"
	"slices"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// Forward takes every event there is, the core ones included; false for nil.
func (b *Builder) Forward(e agentstream.Event) bool {
	if e == nil {
		return false
	}
	b.mu.Lock()
	defer b.unlock()
	if !b.closed {
		b.main.take(e)
	}
	return true
}

// take is Forward for one agent's stream.
func (l *lane) take(e agentstream.Event) {
	switch e := e.(type) {
	case agentstream.MessageChunk:
		l.chunk(agui.KindText, e.Text)
	case agentstream.ThoughtChunk:
		l.chunk(agui.KindReasoning, e.Text)
	case agentstream.ToolCall:
		l.declare(e.ID, e.Title)
	case agentstream.ToolCallUpdate:
		l.update(e.ID, e.Content, e.Status)
	case agentstream.ToolCallArgsSnapshot:
		l.snapshot(e.ID, e.Args)
	case agentstream.TokenUsage:
		l.gauge(e.TotalTokens)
	case agentstream.ToolCallInfo:
		l.info(e)
	case agentstream.Segment:
		l.closeSegment()
	case agentstream.Notice:
		l.activity(l.b.mint('a'), "notice", noticeContent{valid(e.Severity), valid(e.Text)})
	case agentstream.Plan:
		l.takePlan(e)
	case agentstream.Diff:
		l.takeDiff(e)
	case agentstream.Output:
		l.takeOutput(e)
	case agentstream.Media:
		l.takeMedia(e)
	case agentstream.Usage:
		l.takeUsage(e)
	case agentstream.Raw:
		l.takeRaw(e)
	case agentstream.Subagent:
		l.subagent(e)
	}
}

type (
	noticeContent struct {
		Severity string `json:"severity,omitzero"`
		Text     string `json:"text"`
	}
	planContent struct {
		Entries []planEntry `json:"entries"`
	}
	planEntry struct {
		Content  string `json:"content"`
		Priority string `json:"priority,omitzero"`
		Status   string `json:"status,omitzero"`
	}
)

// activity shows something that is no part of the answer, and survives a reload.
func (l *lane) activity(id, kind string, content any) {
	e := &agui.ActivitySnapshot{MessageID: id, ActivityType: kind, Content: encode(content)}
	e.SubagentRunID = l.id
	l.b.emit(e)
}

func (l *lane) takePlan(e agentstream.Plan) {
	if l.plan == "" {
		l.plan = l.b.mint('a')
	}
	content := planContent{Entries: []planEntry{}}
	for _, entry := range e.Entries {
		content.Entries = append(content.Entries, planEntry(entry))
	}
	l.activity(l.plan, "plan", content)
}

// live returns a call that still changes.
func (l *lane) live(agentID string) *call {
	if c := l.calls[agentID]; c != nil && c.result == nil {
		return c
	}
	return nil
}

func (l *lane) info(e agentstream.ToolCallInfo) {
	c := l.calls[e.ID]
	if c == nil {
		l.infos[e.ID] = mergeInfo(l.infos[e.ID], e)
		return
	}
	if c.result != nil {
		return
	}
	before := *c
	if !c.know(e) {
		return
	}
	note := toolNote{ToolCallID: c.id}
	if c.title != before.title {
		note.Title = c.title
	}
	if c.kind != before.kind {
		note.Kind = c.kind
	}
	if !slices.Equal(c.locations, before.locations) {
		note.Locations = c.locations
	}
	if c.exitCode != before.exitCode {
		note.ExitCode = c.exitCode
	}
	note.Partial = c.partial && !before.partial
	c.custom("agentstream.tool", note)
}

func mergeInfo(to, from agentstream.ToolCallInfo) agentstream.ToolCallInfo {
	to.ID = from.ID
	if from.Name != "" {
		to.Name = from.Name
	}
	if from.Kind != "" {
		to.Kind = from.Kind
	}
	if from.Title != "" {
		to.Title = from.Title
	}
	if len(from.Locations) > 0 {
		to.Locations = from.Locations
	}
	if from.ExitCode != nil {
		to.ExitCode = from.ExitCode
	}
	to.Partial = to.Partial || from.Partial
	return to
}

func (l *lane) takeDiff(e agentstream.Diff) {
	c := l.live(e.ID)
	if c == nil {
		return
	}
	d := diff{Path: valid(e.Path), New: valid(e.New)}
	if e.Old != nil {
		old := valid(*e.Old)
		d.Old = &old
	}
	c.diffs = append(c.diffs, d)
	c.custom("agentstream.diff", diffNote{c.id, d})
}

func (l *lane) takeOutput(e agentstream.Output) {
	c := l.live(e.ID)
	if c == nil || e.Data == "" {
		return
	}
	data := valid(e.Data)
	c.print(data)
	c.custom("agentstream.output", outputNote{c.id, data})
}

// takeMedia keeps a call's media for its result. That of a message becomes an
// activity, because a text message has no other place that survives a reload.
func (l *lane) takeMedia(e agentstream.Media) {
	m := media{MIMEType: valid(e.MIMEType), URI: valid(e.URI), Data: valid(e.Data), Name: valid(e.Name)}
	if e.ID == "" {
		l.activity(l.b.mint('a'), "media", m)
		return
	}
	if c := l.live(e.ID); c != nil {
		c.media = append(c.media, m)
		c.custom("agentstream.media", mediaNote{c.id, m})
	}
}

// gauge tells the occupancy of the context window, unless Usage just did.
func (l *lane) gauge(used int) {
	if used < 0 || used == l.used || l.b.closed {
		return
	}
	l.used = used
	l.custom("agentstream.context", contextNote{Used: used, Size: l.size})
}

func (l *lane) takeUsage(e agentstream.Usage) {
	if c := e.Context; c != nil && c.Used >= 0 {
		note := contextNote{Used: c.Used, Size: c.Size}
		if c.Currency != "" || c.Cost != 0 {
			note.Cost = &cost{c.Cost, c.Currency}
		}
		l.used, l.size = c.Used, c.Size
		l.custom("agentstream.context", note)
	}
	if l.parent != nil || len(e.Turn) == 0 {
		return
	}
	l.b.usage = nil
	for _, u := range e.Turn {
		l.b.usage = append(l.b.usage, agui.TokenUsage{
			Provider: u.Provider, Model: u.Model,
			InputTokens: tokens(u.Input), OutputTokens: tokens(u.Output), TotalTokens: tokens(u.Total),
			ReasoningTokens: tokens(u.Reasoning), CachedInputTokens: tokens(u.CachedRead),
			CacheWriteInputTokens: tokens(u.CacheWrite),
		})
	}
}

// tokens keeps a client from refusing a count that makes no sense.
func tokens(n int) int64 { return int64(max(n, 0)) }

func (l *lane) takeRaw(e agentstream.Raw) {
	data := json.RawMessage(e.Data)
	if !validJSON(data) {
		data = encode(valid(string(e.Data)))
	}
	l.custom("agentstream.raw", rawNote{Source: valid(e.Source), Data: data})
}
