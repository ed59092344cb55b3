package round

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// outputKept bounds what a tool message keeps of a terminal's text: its end.
const outputKept = 64 << 10

// What stands under "agentstream" in the metadata of a call, of a tool message
// and of a sub-agent, and in the values of custom events.
type (
	wrapped struct {
		Agentstream any `json:"agentstream"`
	}
	callMeta struct {
		ID           string     `json:"id"`
		Title        string     `json:"title,omitzero"`
		Kind         string     `json:"kind,omitzero"`
		Locations    []Location `json:"locations,omitzero"`
		RawArguments string     `json:"rawArguments,omitzero"`
	}
	resultMeta struct {
		Status      string  `json:"status"`
		ExitCode    *int    `json:"exitCode,omitzero"`
		Partial     bool    `json:"partial,omitzero"`
		Placeholder string  `json:"placeholder,omitzero"`
		Title       string  `json:"title,omitzero"`
		Diffs       []diff  `json:"diffs,omitzero"`
		Output      string  `json:"output,omitzero"`
		Media       []media `json:"media,omitzero"`
		Subagent    string  `json:"subagent,omitzero"`
	}
	diff struct {
		Path string  `json:"path"`
		Old  *string `json:"old,omitzero"`
		New  string  `json:"new"`
	}
	media struct {
		MIMEType string `json:"mimeType,omitzero"`
		URI      string `json:"uri,omitzero"`
		Data     string `json:"data,omitzero"`
		Name     string `json:"name,omitzero"`
	}
	argumentsNote struct {
		ToolCallID string `json:"toolCallId"`
		From       int    `json:"from"`
		Text       string `json:"text"`
	}
	toolNote struct {
		ToolCallID string     `json:"toolCallId"`
		Title      string     `json:"title,omitzero"`
		Kind       string     `json:"kind,omitzero"`
		Locations  []Location `json:"locations,omitzero"`
		ExitCode   *int       `json:"exitCode,omitzero"`
		Partial    bool       `json:"partial,omitzero"`
	}
	diffNote struct {
		ToolCallID string `json:"toolCallId"`
		diff
	}
	mediaNote struct {
		ToolCallID string `json:"toolCallId,omitzero"`
		media
	}
	outputNote struct {
		ToolCallID string `json:"toolCallId"`
		Data       string `json:"data"`
	}
	contextNote struct {
		Used int   `json:"used"`
		Size int   `json:"size,omitzero"`
		Cost *cost `json:"cost,omitzero"`
	}
	cost struct {
		Amount   float64 `json:"amount"`
		Currency string  `json:"currency,omitzero"`
	}
	rawNote struct {
		Source string          `json:"source,omitzero"`
		Data   json.RawMessage `json:"data"`
	}
)

// metadata of a call's START and END. Clients replace it whole, so it is always
// complete.
func (c *call) metadata() []byte {
	m := callMeta{ID: c.agentID, Title: c.title, Kind: c.kind, Locations: c.locations}
	if c.own {
		if _, as := object(c.text); !as {
			m.RawArguments = string(c.text)
		}
	}
	return encode(wrapped{m})
}

func (c *call) resultMetadata() []byte {
	m := resultMeta{
		Status: c.result.status(), ExitCode: c.exitCode, Partial: c.partial && c.result.placeholder == "",
		Placeholder: c.result.placeholder, Diffs: c.diffs, Output: c.terminal(), Media: c.media, Subagent: c.sub,
	}
	if c.shownTitle != c.title {
		m.Title = c.title
	}
	return encode(wrapped{m})
}

func (o *outcome) status() string {
	if o.failed {
		return "failed"
	}
	return "completed"
}

// terminal is the end of what a command printed, unless the result ends with it
// too.
func (c *call) terminal() string {
	out := c.output
	if over := len(out) - outputKept; over > 0 {
		for out = out[over:]; len(out) > 0 && !utf8.RuneStart(out[0]); {
			out = out[1:]
		}
	}
	if c.result != nil && strings.HasSuffix(c.result.content, string(out)) {
		return ""
	}
	return string(out)
}

// print takes a piece of what the running tool prints. Only the end is kept.
func (c *call) print(data string) {
	c.output = append(c.output, data...)
	if over := len(c.output) - outputKept; over > outputKept {
		c.output = append(c.output[:0], c.output[over:]...)
	}
}

// custom tells readers of the run something that no message holds.
func (c *call) custom(name string, value any) { c.lane.custom(name, value) }

func (l *lane) custom(name string, value any) {
	if l.b.events == (nobody{}) {
		return
	}
	e := &agui.Custom{Name: name, Value: encode(value)}
	e.SubagentRunID = l.id
	l.b.emit(e)
}

func locations(in []agentstream.Location) []Location {
	var out []Location
	for _, l := range in {
		out = append(out, Location{Path: valid(l.Path), Line: l.Line})
	}
	return out
}
