package acp

import (
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/agentstream-go/agentstream"
)

// outputLimit bounds what is kept of a tool's output for its result. Live
// output is not bounded.
const outputLimit = 8 << 20

// output is what a running tool printed.
type output struct {
	kept strings.Builder
	cut  int
	wait halves
}

func (o *output) add(s string) {
	if room := outputLimit - o.kept.Len(); len(s) > room {
		s = strings.ToValidUTF8(s[:room], "")
		o.cut++
	}
	o.kept.WriteString(s)
}

func (o *output) String() string {
	if o.cut > 0 {
		return o.kept.String() + "\n[output cut here: longer than " + strconv.Itoa(outputLimit>>20) + " MiB]"
	}
	return o.kept.String()
}

// print passes on a piece of output. It shows that the arguments are complete,
// which is told first.
func (w *turn) print(c *call, b []byte) {
	w.settle(c)
	if out := c.output.wait.join(b); out != "" {
		c.output.add(out)
		agentstream.Send(c.of.h, agentstream.Output{ID: c.id, Data: out})
	}
}

// flushOutput shows what waits for its other half: the call ends.
func (w *turn) flushOutput(c *call) {
	if c.output.wait.n > 0 {
		out := c.output.wait.rest()
		c.output.add(out)
		agentstream.Send(c.of.h, agentstream.Output{ID: c.id, Data: out})
	}
}

// meta reads what agents say beside the protocol: output, exit codes, and
// that a tool has answered.
func (w *turn) meta(c *call, meta []byte) {
	if meta == nil {
		return
	}
	if id := field(meta, "terminal_info", "terminal_id"); id != nil {
		w.terminal[text(id)] = c.id
	}
	for _, name := range [...]string{"terminal_output", "terminal_output_delta"} {
		if data := field(meta, name, "data"); data != nil {
			w.print(c, appendText(nil, data))
		}
	}
	if code, ok := number(field(meta, "terminal_exit", "exit_code")); ok {
		c.setExit(int(code))
	}
	if field(meta, "claudeCode", "toolResponse") != nil {
		w.settle(c)
	}
}

func (c *call) setExit(code int) { c.exit = &code }

// terminal handles the draft's terminals, which the agent owns: their bytes are
// base64.
func (t *translator) terminal(u *update) {
	w := t.of(u)
	id := text(u.terminalID)
	name, ok := w.terminal[id]
	if !ok {
		name = id
	}
	c := w.calls[name]
	if c == nil && w != t.late {
		w = t.late
		c = w.calls[name]
	}
	if c == nil {
		if string(u.kind) == "terminal_output_chunk" && t.past[name] {
			c = w.first(u, name, updated, true)
		} else {
			return
		}
	}
	if c.done {
		return
	}
	if string(u.kind) == "terminal_output_chunk" {
		w.print(c, decode64(u.data))
		return
	}
	if code, ok := number(field(u.exitStatus, "exitCode")); ok {
		c.setExit(int(code))
	}
	if data := field(u.raw, "output", "data"); data != nil {
		w.replaceOutput(c, string(decode64(data)))
	}
}

func decode64(v []byte) []byte {
	b, err := base64.StdEncoding.DecodeString(text(v))
	if err != nil {
		b, _ = base64.RawStdEncoding.DecodeString(strings.TrimRight(text(v), "="))
	}
	return b
}

// replaceOutput takes the whole output at once. What continues the output that
// was shown is shown too.
func (w *turn) replaceOutput(c *call, all string) {
	w.settle(c)
	shown := c.output.kept.String()
	if more, ok := strings.CutPrefix(all, shown); ok {
		w.print(c, []byte(more))
		return
	}
	c.output = output{}
	c.output.add(whole([]byte(all)))
}

// contents tells the diffs and media in an update's content, and keeps the text
// of a tool that runs.
func (w *turn) contents(c *call, u *update, from origin) {
	if u.content == nil {
		return
	}
	var texts []string // of what the tool shows while it runs
	eachBlock(u.content, func(b block) {
		switch b.kind {
		case "diff":
			for _, d := range b.diffs(c.id) {
				if c.isNew("diff", d.Path, deref(d.Old), d.New) {
					if line := diffLine(d); !slices.Contains(c.edits, line) {
						c.edits = append(c.edits, line)
					}
					agentstream.Send(c.of.h, d)
				}
			}
		case "terminal":
			w.terminal[text(field(b.raw, "terminalId"))] = c.id
		default:
			if m, ok := b.media(c.id); ok && c.isNew("media", m.MIMEType, m.URI, m.Data) {
				agentstream.Send(c.of.h, m)
			}
			if form, isText := b.text(); isText {
				texts = append(texts, unfence(form))
			}
		}
	})
	if from == updated && c.running && !isTerminal(u.status) && len(texts) > 0 {
		w.grow(c, strings.Join(texts, "\n"), string(u.kind) == "tool_call_content_chunk")
	}
}

func isTerminal(status []byte) bool {
	switch string(status) {
	case "completed", "failed", "cancelled":
		return true
	}
	return false
}

// grow shows how the content of a running tool goes on. Agents send all of it
// again each time; what was replaced cannot be shown as output.
func (w *turn) grow(c *call, all string, piece bool) {
	before := c.progress
	if piece {
		all = before + all
	}
	c.progress = all
	more, ok := strings.CutPrefix(all, before)
	c.spoilt = c.spoilt || !ok
	w.settle(c)
	if !c.spoilt && more != "" && c.output.kept.Len() == 0 {
		agentstream.Send(c.of.h, agentstream.Output{ID: c.id, Data: more})
	}
}

func deref(s *string) string {
	if s == nil {
		return "\x00"
	}
	return *s
}

// isNew reports whether what these parts name was not told before.
func (c *call) isNew(parts ...string) bool {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	sum := [32]byte(h.Sum(nil))
	if c.seen[sum] {
		return false
	}
	if c.seen == nil {
		c.seen = map[[32]byte]bool{}
	}
	c.seen[sum] = true
	return true
}
