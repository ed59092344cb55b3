package source

import (
	"encoding/json"

	"github.com/agentstream-go/agentstream"
)

// Request is a question of the agent: a permission for a tool call or, with
// Elicitation, a form or a page for the user.
type Request struct {
	ToolCallID string // the call it is about, declared before; empty: none
	Title      string // for people
	Kind       string // as ToolCallInfo.Kind, merged from all that is known
	Locations  []agentstream.Location
	Options    []Option // as the agent gives them; none for an elicitation

	Elicitation *Elicitation

	// Done is closed when the question is over: answered, withdrawn by the
	// agent, or the turn has ended. A reply after that counts for nothing.
	Done <-chan struct{}
}

// Option is one answer that the agent offers. Kind is allow_once,
// allow_always, reject_once or reject_always; others may come.
type Option struct{ ID, Name, Kind string }

// Elicitation asks the user for data.
type Elicitation struct {
	Message string
	Mode    string          // form or url
	Schema  json.RawMessage // of a form: a flat JSON schema
	URL     string          // of a page to open
}

// Answer settles a Request. OptionID chooses an option; Content fills a form;
// Declined refuses an elicitation. The zero value means cancelled.
type Answer struct {
	OptionID string
	Content  json.RawMessage // JSON object
	Declined bool
}

// Allows reports whether an option of this kind grants what was asked. A kind
// that is not known to allow does not.
func (o Option) Allows() bool { return o.Kind == "allow_once" || o.Kind == "allow_always" }

// Refuse gives the answer that refuses q: reject_once, else reject_always, else
// cancelled; an elicitation is declined.
func Refuse(q Request) Answer {
	if q.Elicitation != nil {
		return Answer{Declined: true}
	}
	for _, kind := range [...]string{"reject_once", "reject_always"} {
		for _, o := range q.Options {
			if o.Kind == kind {
				return Answer{OptionID: o.ID}
			}
		}
	}
	return Answer{}
}
