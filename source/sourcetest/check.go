package sourcetest

import (
	"fmt"
	"unicode/utf8"

	"github.com/agentstream-go/agentstream"
)

// Check looks at what one Run said to its handler and gives, in words, every
// breach of G3, G4 and the valid text of G5. It may be called by tests of any
// kind, with recorded or random wires.
func Check(events []agentstream.Event) (breaches []string) {
	c := checker{declared: map[string]bool{}, ended: map[string]bool{}}
	for i, e := range events {
		if what := c.event(e); what != "" {
			breaches = append(breaches, fmt.Sprintf("event %d (%#v): %s", i, e, what))
		}
	}
	return breaches
}

type checker struct{ declared, ended map[string]bool }

func (c *checker) event(e agentstream.Event) string {
	switch e := e.(type) {
	case agentstream.MessageChunk:
		return valid(e.Text)
	case agentstream.ThoughtChunk:
		return valid(e.Text)
	case agentstream.ToolCall:
		if c.declared[e.ID] {
			return "G3: declared twice"
		}
		c.declared[e.ID] = true
		return valid(e.Title)
	case agentstream.ToolCallArgsSnapshot:
		return c.known(e.ID)
	case agentstream.Output:
		return c.known(e.ID)
	case agentstream.Diff:
		return c.known(e.ID)
	case agentstream.ToolCallUpdate:
		if c.ended[e.ID] && e.Status.IsTerminal() {
			return "G4: a second terminal"
		}
		c.ended[e.ID] = c.ended[e.ID] || e.Status.IsTerminal()
		if what := c.known(e.ID); what != "" {
			return what
		}
		return valid(e.Content)
	}
	return ""
}

func (c *checker) known(id string) string {
	if !c.declared[id] {
		return "G3: about a call that was not declared"
	}
	return ""
}

func valid(text string) string {
	if !utf8.ValidString(text) {
		return "G5: no valid UTF-8"
	}
	return ""
}
