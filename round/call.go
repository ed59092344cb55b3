package round

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// call is one tool call from its declaration to its result.
type call struct {
	lane    *lane
	round   *state
	agentID string
	id      string
	name    string

	title     string
	kind      string
	locations []Location
	exitCode  *int
	partial   bool
	diffs     []diff
	media     []media
	output    []byte

	sent       buffer // arguments that went out as deltas
	text       []byte // arguments as known, once that is not simply what went out
	own        bool   // text counts
	ended      bool   // in AG-UI, until it is started again
	replaced   string // what ReplaceArgs said last
	shown      []byte // metadata that went out last
	shownTitle string // the title in it
	stale      bool   // it may have changed
	held       int
	sub        string // id of the sub-agent that it started
	result     *outcome
	start      int64
}

// outcome is a call's result, or what stands for it.
type outcome struct {
	id          string // of the tool message
	content     string
	failed      bool
	placeholder string // the reason
	at          int64
}

// know takes over what info says; it reports whether anything is new.
func (c *call) know(info agentstream.ToolCallInfo) (changed bool) {
	set := func(field *string, value string) {
		if value = valid(value); value != "" && value != *field {
			*field, changed = value, true
		}
	}
	set(&c.title, info.Title)
	set(&c.kind, info.Kind)
	if l := locations(info.Locations); len(l) > 0 && !slices.Equal(l, c.locations) {
		c.locations, changed = l, true
	}
	if info.ExitCode != nil && (c.exitCode == nil || *c.exitCode != *info.ExitCode) {
		code := *info.ExitCode
		c.exitCode, changed = &code, true
	}
	if info.Partial && !c.partial {
		c.partial, changed = true, true
	}
	c.stale = c.stale || changed
	return changed
}

// open starts the call in AG-UI, the first time or again.
func (c *call) open() {
	c.ended = false
	c.shown, c.shownTitle, c.stale = c.metadata(), c.title, false
	c.lane.b.start(agui.Item{
		Kind: agui.KindToolCall, ID: c.id, Name: c.name, Parent: c.round.carrier,
		Subagent: c.lane.id, Metadata: c.shown,
	})
}

func (c *call) close() {
	if c.ended {
		return
	}
	c.ended = true
	var changed []byte
	if c.stale || c.own {
		if now := c.metadata(); !bytes.Equal(now, c.shown) {
			c.shown, c.shownTitle, changed = now, c.title, now
		}
		c.stale = false
	}
	c.lane.b.end(agui.KindToolCall, c.id, changed)
}

// append takes a delta of the arguments. It goes out at once, unless what went
// out is not what is known or the call has ended: then it waits to be settled.
func (c *call) append(delta string) {
	if !c.own && !c.ended {
		c.sent.add(delta)
		c.lane.b.delta(agui.KindToolCall, c.id, delta)
		return
	}
	c.rewrite(c.length(), delta)
}

// replace takes a whole snapshot of the arguments. An empty one only announces.
func (c *call) replace(args string) {
	known := c.known()
	if announces(args) || equalJSON(known, []byte(args)) {
		return
	}
	n := 0
	for n < len(known) && n < len(args) && known[n] == args[n] {
		n++
	}
	for n > 0 && n < len(args) && !utf8.RuneStart(args[n]) {
		n--
	}
	c.rewrite(n, args[n:])
}

// rewrite makes the arguments what they were up to from, and text. It tells
// readers, because what they know by deltas is not that any more.
func (c *call) rewrite(from int, text string) {
	if !c.own {
		c.own, c.text = true, bytes.Clone(c.sent.bytes())
	}
	c.text = append(c.text[:from], text...)
	c.custom("agentstream.arguments", argumentsNote{ToolCallID: c.id, From: from, Text: text})
}

// known is the text of the arguments as the agent has said it so far.
func (c *call) known() []byte {
	if c.own {
		return c.text
	}
	return c.sent.bytes()
}

func (c *call) length() int {
	if c.own {
		return len(c.text)
	}
	return c.sent.size
}

// final is the text of the arguments: of semantically equal ones that which
// went out first.
func (c *call) final() []byte {
	if c.own && c.sent.size > 0 && c.agrees() {
		return c.sent.bytes()
	}
	return c.known()
}

// agrees says whether what went out means what is known.
func (c *call) agrees() bool {
	whole, _ := object(c.text)
	return equalJSON(c.sent.bytes(), whole)
}

// settle lets out what is known of the arguments, and ends the call. Unless the
// call is over too, one of which nothing usable is known stays open.
func (c *call) settle(over bool) {
	rest, contradicts := c.rest()
	if len(rest) == 0 && c.sent.size == 0 {
		if !over {
			return
		}
		rest = []byte("{}")
	}
	if len(rest) > 0 && !contradicts {
		if c.ended {
			c.open()
		}
		delta := string(rest)
		c.sent.add(delta)
		c.lane.b.delta(agui.KindToolCall, c.id, delta)
	}
	c.close()
	if contradicts {
		args, _ := object(c.final())
		if string(args) != c.replaced {
			c.replaced = string(args)
			c.lane.b.replaceArgs(c.id, c.replaced)
		}
	}
}

// rest is what of the arguments is still to go out. Deltas only append: if what
// went out cannot become what is known, that is a contradiction.
func (c *call) rest() (rest []byte, contradicts bool) {
	switch {
	case !c.own:
		return nil, false
	case c.sent.size == 0:
		if whole, _ := object(c.text); !announces(string(whole)) {
			return whole, false
		}
		return nil, false
	case c.agrees():
		return nil, c.replaced != ""
	case c.replaced == "" && bytes.HasPrefix(c.text, c.sent.bytes()):
		return c.text[c.sent.size:], false
	}
	return nil, true
}

// finish gives the call its result, or a placeholder at the end of the turn.
func (c *call) finish(o *outcome) {
	c.settle(true)
	o.at = c.lane.b.clock()
	c.result = o
	c.round.unanswered--
	c.round.dirty = true
	c.lane.b.result(agui.Result{
		MessageID: o.id, CallID: c.id, Content: o.content,
		Subagent: c.lane.id, Metadata: c.resultMetadata(),
	})
}
