package round

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/cloudwego/eino/schema"
)

// The providers that Validate knows, and Format but for Gemini.
const (
	Eino      = "eino"
	OpenAI    = "openai"
	Anthropic = "anthropic"
	Gemini    = "gemini"
)

// rules are what a provider asks of a history beyond what all of them ask.
type rules struct {
	name, id   *regexp.Regexp
	order      bool // results in the order of their calls
	uniqueIDs  bool // in the whole history, not only in a message
	system     bool // system messages among the others
	userFirst  bool
	content    bool // no user message without content
	callerTurn bool // calls only right after a user message or results
}

var (
	anyName   = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)
	anyID     = regexp.MustCompile(`^.+$`)
	plainID   = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	shortID   = regexp.MustCompile(`^.{1,40}$`)
	providers = map[string]rules{
		Eino:      {name: anyName, id: anyID, order: true, system: true},
		OpenAI:    {name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`), id: shortID, system: true},
		Anthropic: {name: regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`), id: plainID, uniqueIDs: true, userFirst: true, content: true},
		Gemini:    {name: regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.-]{0,63}$`), id: anyID, order: true, userFirst: true, content: true, callerTurn: true},
	}
)

// Validate says whether a provider would take the history: who follows whom,
// each call answered once, right behind and where the provider wants it, names,
// ids and arguments as it wants them. An assistant message that has neither text
// nor calls is not sent, so it counts for nothing. The error names the message
// by its index.
func Validate(name string, messages []*schema.Message) error {
	r, ok := providers[name]
	if !ok {
		return fmt.Errorf("round: no provider is called %q", name)
	}
	c := check{rules: r, ids: map[string]bool{}}
	for i, m := range messages {
		if err := c.message(m); err != nil {
			return fmt.Errorf("round: message %d for %s: %w", i, name, err)
		}
	}
	if len(c.waiting) > 0 {
		return fmt.Errorf("round: the end for %s: no result for the call %q", name, c.waiting[0])
	}
	return nil
}

// check walks a history.
type check struct {
	rules
	ids     map[string]bool
	waiting []string // calls of the message before that have no result yet
	last    schema.RoleType
}

func (c *check) message(m *schema.Message) error {
	switch {
	case m == nil:
		return errors.New("there is none")
	case m.Role == schema.Tool:
		return c.result(m)
	case len(c.waiting) > 0:
		return fmt.Errorf("a %s message where the result of the call %q has to stand", m.Role, c.waiting[0])
	}
	switch m.Role {
	case schema.System:
		if !c.system {
			return errors.New("system messages have a field of their own")
		}
		return nil
	case schema.User:
		if c.content && isEmptyUser(m) {
			return errors.New("a user message without content")
		}
	case schema.Assistant:
		if silent(m) {
			return nil
		}
		if err := c.assistant(m); err != nil {
			return err
		}
	default:
		return fmt.Errorf("the role %q", m.Role)
	}
	c.last = m.Role
	return nil
}

func (c *check) assistant(m *schema.Message) error {
	if c.last == "" && c.userFirst {
		return errors.New("the history begins with the assistant")
	}
	if len(m.ToolCalls) > 0 && c.last == schema.Assistant && c.callerTurn {
		return errors.New("calls that follow neither a user message nor results")
	}
	if !c.uniqueIDs {
		clear(c.ids)
	}
	for _, call := range m.ToolCalls {
		switch {
		case !c.id.MatchString(call.ID):
			return fmt.Errorf("the call id %q", call.ID)
		case c.ids[call.ID]:
			return fmt.Errorf("the call id %q stands there twice", call.ID)
		case call.Type != "function":
			return fmt.Errorf("the call %q is of type %q", call.ID, call.Type)
		case !c.name.MatchString(call.Function.Name):
			return fmt.Errorf("the call %q is of a function named %q", call.ID, call.Function.Name)
		}
		if _, as := object([]byte(call.Function.Arguments)); !as {
			return fmt.Errorf("the arguments of the call %q are no JSON object", call.ID)
		}
		c.ids[call.ID] = true
		c.waiting = append(c.waiting, call.ID)
	}
	return nil
}

func (c *check) result(m *schema.Message) error {
	for i, id := range c.waiting {
		if id != m.ToolCallID {
			continue
		}
		if i > 0 && c.order {
			return fmt.Errorf("the result of the call %q before that of %q", id, c.waiting[0])
		}
		c.waiting = append(c.waiting[:i:i], c.waiting[i+1:]...)
		c.last = schema.Tool
		return nil
	}
	return fmt.Errorf("a result for %q, a call that is not made right before it or has its result", m.ToolCallID)
}

// silent says whether a message of the assistant has nothing to send: thoughts
// are the provider's own and signed, or not sent at all.
func silent(m *schema.Message) bool {
	return len(m.ToolCalls) == 0 && blank(m.Content)
}

func isEmptyUser(m *schema.Message) bool {
	return blank(text(m))
}
