package term

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/agentstream-go/agentstream"
)

const (
	maxOutput = 20 // lines of a running tool that are shown
	maxFailed = 5  // lines of a failed tool's result

	maxLine = 8 << 10 // bytes of a line of output that has no end yet
)

// call is what is known of one tool call.
type call struct {
	id, title, kind string
	prefix          string // of a sub-agent
	status          agentstream.ToolCallStatus
	began           time.Time
	shown           bool   // its first line is on the screen
	partial         string // output without its newline
	lines           int
}

// label is the call's text, clean and on one line.
func (c *call) label() string {
	text := c.prefix + oneLine(c.title)
	if c.kind != "" && c.kind != "other" {
		text += " · " + oneLine(c.kind)
	}
	return text
}

func (r *Renderer) callOf(id string) *call {
	c := r.calls[id]
	if c == nil {
		c = &call{id: id, title: id, began: r.o.Now()}
		r.calls[id] = c
		r.order = append(r.order, c)
	}
	return c
}

// OnToolCall shows a call.
func (r *Renderer) OnToolCall(id, title string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.declare(id, title, "")
}

func (r *Renderer) declare(id, title, prefix string) {
	r.aside()
	if prefix == "" { // what is said after a call is another message
		r.endMessage()
	}
	c := r.callOf(id)
	c.prefix = prefix
	if title != "" {
		c.title = title
	}
	r.show(c)
}

// OnToolCallInfo takes a better title and kind.
func (r *Renderer) OnToolCallInfo(e agentstream.ToolCallInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.callOf(e.ID)
	if e.Kind != "" {
		c.kind = e.Kind
	}
	if e.Title != "" {
		c.title = e.Title
	}
	if c == r.live {
		r.show(c)
	}
}

// OnToolCallUpdate shows a call's progress and end.
func (r *Renderer) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.update(id, content, status)
}

func (r *Renderer) update(id, content string, status agentstream.ToolCallStatus) {
	c := r.callOf(id)
	if c.status.IsTerminal() || status < c.status {
		return
	}
	c.status = status
	if !status.IsTerminal() {
		if content == "" { // else a delta of the arguments
			r.show(c)
		}
		return
	}
	c.flush(r)
	r.show(c)
	if status == agentstream.ToolCallStatusFailed {
		for _, l := range firstLines(content, maxFailed) {
			r.line(dim, "  "+l)
		}
	}
}

// OnToolCallArgsSnapshot shows nothing: the title tells what is done.
func (r *Renderer) OnToolCallArgsSnapshot(string, string) {}

// show writes the call's line. On a terminal the last line is written anew; a
// line further up stays as it is until the call has ended.
func (r *Renderer) show(c *call) {
	if r.o.Quiet {
		return
	}
	if r.live != c {
		switch {
		case c.status.IsTerminal(): // its end is always shown
		case !r.o.ErrTTY && (c.status == agentstream.ToolCallStatusPending || c.shown):
			return
		case c.shown:
			return
		}
		r.aside()
		r.freshLine()
	} else {
		r.force(plain, "\r\x1b[K")
	}
	r.draw(c)
}

// draw writes the call's line where the cursor is.
func (r *Renderer) draw(c *call) {
	c.shown = true
	mark, code, after := "○", plain, ""
	switch c.status {
	case agentstream.ToolCallStatusInProgress:
		mark, code = "●", cyan
	case agentstream.ToolCallStatusCompleted:
		mark, code = "✓", green
	case agentstream.ToolCallStatusFailed:
		mark, code = "✗", red
	}
	switch d := r.o.Now().Sub(c.began); {
	case c.status.IsTerminal():
		after = " " + took(d)
	case r.o.ErrTTY && d >= time.Second:
		after = " " + d.Truncate(time.Second).String()
	}
	r.tell(code, mark+" ")
	r.tell(plain, fit(c.label(), max(8, r.o.Width-4-len(after))))
	r.tell(dim, after)
	r.live = c
	if !r.o.ErrTTY || c.status.IsTerminal() {
		r.tell(plain, "\n")
		r.live = nil
	}
}

func took(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// OnOutput shows what a running tool prints, the first lines of it.
func (r *Renderer) OnOutput(e agentstream.Output) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.callOf(e.ID)
	c.partial += e.Data
	for {
		line, rest, found := strings.Cut(c.partial, "\n")
		if !found && len(line) < maxLine {
			break
		}
		c.partial = rest
		c.output(r, line)
	}
	if c.lines > maxOutput { // the rest is not shown, so it is not kept
		c.partial = ""
	}
}

func (c *call) output(r *Renderer, line string) {
	c.lines++
	if c.lines > maxOutput+1 {
		return
	}
	if c.lines > maxOutput {
		line = "…"
	}
	if !c.shown {
		c.status = max(c.status, agentstream.ToolCallStatusInProgress)
		r.show(c)
	}
	r.aside()
	r.line(dim, "  │ "+strings.ReplaceAll(Clean(bare(line)), "\t", "    "))
}

// colours are what commands put into their output on any terminal.
var colours = regexp.MustCompile("\x1b\\[[0-9;:]*m")

// bare is a line of output without its colours and the CR at its end; what
// else it has of control characters is for Clean.
func bare(line string) string { return colours.ReplaceAllString(strings.TrimSuffix(line, "\r"), "") }

// flush shows an output line that has no end yet.
func (c *call) flush(r *Renderer) {
	if c.partial != "" {
		c.output(r, c.partial)
		c.partial = ""
	}
}

// OnSubagent shows a sub-agent's calls under its name.
func (r *Renderer) OnSubagent(e agentstream.Subagent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	name := oneLine(e.Name)
	if name == "" {
		name = "sub-agent"
	}
	key := "\x00" + e.ID + "\x00" // no call of the agent itself has such an id
	switch inner := e.Event.(type) {
	case nil:
		if e.Done && e.Err != "" {
			r.aside()
			r.line(red, "✗ "+name+": "+oneLine(e.Err))
		}
	case agentstream.ToolCallInfo:
		c := r.callOf(key + inner.ID)
		c.prefix, c.kind = name+" › ", inner.Kind
	case agentstream.ToolCall:
		r.declare(key+inner.ID, inner.Title, name+" › ")
	case agentstream.ToolCallUpdate:
		if r.calls[key+inner.ID] != nil {
			r.update(key+inner.ID, inner.Content, inner.Status)
		}
	}
}

// OnRaw shows nothing: nobody knows what it means.
func (r *Renderer) OnRaw(agentstream.Raw) {}

// firstLines are the first lines of a text that say something, clean.
func firstLines(text string, n int) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = oneLine(bare(line)); line == "" {
			continue
		}
		if len(lines) == n {
			return append(lines, "…")
		}
		lines = append(lines, line)
	}
	return lines
}
