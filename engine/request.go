package engine

import (
	"encoding/json"
	"time"

	"github.com/agentstream-go/agentstream"
)

// Request is an agent's question: a permission, or data from the user.
type Request struct {
	ID          string                 `json:"id"`
	Thread      string                 `json:"thread"`
	Run         string                 `json:"run"`
	Agent       string                 `json:"agent"`
	ToolCallID  string                 `json:"toolCallId,omitempty"` // as in the AG-UI events
	Title       string                 `json:"title"`
	Kind        string                 `json:"kind,omitempty"`
	Locations   []agentstream.Location `json:"locations,omitempty"`
	Options     []RequestOption        `json:"options"`
	Elicitation *Elicitation           `json:"elicitation,omitempty"`
	State       string                 `json:"state"` // pending, then resolved, cancelled or expired
	CreatedAt   time.Time              `json:"createdAt"`
	ExpiresAt   *time.Time             `json:"expiresAt,omitempty"`
	Resolution  *Resolution            `json:"resolution,omitempty"`
}

// Elicitation is what a request for data asks: a form by JSON schema, or a page.
type Elicitation struct {
	Message string          `json:"message"`
	Mode    string          `json:"mode,omitempty"` // form or url
	Schema  json.RawMessage `json:"schema,omitempty"`
	URL     string          `json:"url,omitempty"`
}

// RequestOption is one answer that the agent offers.
type RequestOption struct {
	OptionID string `json:"optionId"`
	Name     string `json:"name"`
	Kind     string `json:"kind"` // allow_once, allow_always, reject_once, reject_always or another
}

// Resolution is how a request ended.
type Resolution struct {
	By       string          `json:"by"` // who, or policy, grant, or engine
	At       time.Time       `json:"at"`
	OptionID string          `json:"optionId,omitempty"` // empty: cancelled, or an elicitation
	Policy   Policy          `json:"policy,omitempty"`
	Grant    string          `json:"grant,omitempty"`
	Reason   string          `json:"reason,omitempty"`
	Content  json.RawMessage `json:"content,omitempty"` // what was filled in
}

// Answer settles a request: by option, or by yes or no, or with an elicitation's
// content. An answer that says nothing is a refusal.
type Answer struct {
	OptionID string
	Approved *bool
	Content  json.RawMessage // JSON object
	Reason   string
	By       string // who answers
}

// Grant is a remembered "always" answer of a thread.
type Grant struct {
	ID        string    `json:"id"`
	Thread    string    `json:"thread"`
	Agent     string    `json:"agent"`
	Tool      string    `json:"tool,omitempty"`  // the tool's name, with
	Kind      string    `json:"kind,omitempty"`  // the kind of call
	Title     string    `json:"title,omitempty"` // only calls with this very title; empty: all
	Allow     bool      `json:"allow"`
	Request   string    `json:"request"` // the one whose answer is remembered
	By        string    `json:"by,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
}
