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

	sent       []byte // arguments that went out as deltas
	text       []byte // arguments as known, once that is not simply what went out
	own        bool   // text counts
	ended      bool   // in AG-UI, until it is started again
	replaced   string // what ReplaceArgs said last
	shown      []byte // metadata that went out last
	shownTitle string // the title in it
	held       int
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
	return changed
}

// open starts the call in AG-UI, the first time or again.
func (c *call) open() {
	c.ended = false
	c.shown, c.shownTitle = c.metadata(), c.title
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
	if now := c.metadata(); !bytes.Equal(now, c.shown) {
		c.shown, c.shownTitle, changed = now, c.title, now
	}
	c.lane.b.end(agui.KindToolCall, c.id, changed)
}

// append takes a delta of the arguments. It goes out at once, unless what went
// out is not what is known or the call has ended: then it waits to be settled.
func (c *call) append(delta string) {
	if !c.own && !c.ended {
		c.sent = append(c.sent, delta...)
		c.lane.b.delta(agui.KindToolCall, c.id, delta)
		return
	}
	c.rewrite(len(c.known()), delta)
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
		c.own, c.text = true, bytes.Clone(c.sent)
	}
	c.text = append(c.text[:from], text...)
	c.custom("agentstream.arguments", argumentsNote{ToolCallID: c.id, From: from, Text: text})
}

// known is the text of the arguments as the agent has said it so far.
func (c *call) known() []byte {
	if c.own {
		return c.text
	}
	return c.sent
}

// final is the text of the arguments: of semantically equal ones that which
// went out first.
func (c *call) final() []byte {
	if c.own && len(c.sent) > 0 && equalJSON(c.sent, object(c.text)) {
		return c.sent
	}
	return c.known()
}

// settle lets out what is known of the arguments, and ends the call. Unless the
// call is over too, one of which nothing usable is known stays open.
func (c *call) settle(over bool) {
	rest, contradicts := c.rest()
	if len(rest) == 0 && len(c.sent) == 0 {
		if !over {
			return
		}
		rest = []byte("{}")
	}
	if len(rest) > 0 && !contradicts {
		if c.ended {
			c.open()
		}
		c.sent = append(c.sent, rest...)
		c.lane.b.delta(agui.KindToolCall, c.id, string(rest))
	}
	c.close()
	if contradicts {
		args := string(object(c.final()))
		if args != c.replaced {
			c.replaced = args
			c.lane.b.replaceArgs(c.id, args)
		}
	}
}

// rest is what of the arguments is still to go out. Deltas only append: if what
// went out cannot become what is known, that is a contradiction.
func (c *call) rest() (rest []byte, contradicts bool) {
	switch {
	case !c.own:
		return nil, false
	case len(c.sent) == 0:
		if whole := object(c.text); !announces(string(whole)) {
			return whole, false
		}
		return nil, false
	case equalJSON(c.sent, object(c.text)):
		return nil, c.replaced != ""
	case c.replaced == "" && bytes.HasPrefix(c.text, c.sent):
		return c.text[len(c.sent):], false
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
