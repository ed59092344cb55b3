package acp

import (
	"errors"

	"github.com/agentstream-go/agentstream/source"
)

var errRequest = errors.New("the request's params are no JSON object")

// ask takes the params of session/request_permission and declares the call that
// it names, if nobody did before. Outside a turn nothing is declared.
func (t *translator) ask(params []byte) (source.Request, error) {
	if !well(params) || !isObject(params) {
		return source.Request{}, errRequest
	}
	v := field(params, "toolCall")
	if v == nil {
		v = field(params, "subject", "toolCall")
	}
	var u update
	u.read(v)
	q := source.Request{
		ToolCallID: text(u.callID),
		Title:      first(text(field(params, "title")), text(u.title)),
		Kind:       text(u.tool),
		Locations:  locations(u.locations),
		Options:    options(field(params, "options")),
	}
	if t.turn == nil || q.ToolCallID == "" {
		return q, nil
	}
	w := t.of(&u)
	c := w.calls[q.ToolCallID]
	if c == nil {
		c = w.first(&u, q.ToolCallID, permission, false)
	}
	w.merge(c, &u, permission)
	q.Title, q.Kind = first(q.Title, c.title, c.name), c.kind
	if len(q.Locations) == 0 {
		q.Locations = locations(c.locations)
	}
	return q, nil
}

func isObject(v []byte) bool {
	i := skipSpace(v, 0)
	return i < len(v) && v[i] == '{'
}

func options(v []byte) []source.Option {
	var out []source.Option
	list := array(v)
	for e, ok := list.element(); ok; e, ok = list.element() {
		o := source.Option{ID: text(field(e, "optionId")), Name: text(field(e, "name")), Kind: text(field(e, "kind"))}
		if o.ID != "" {
			out = append(out, o)
		}
	}
	return out
}

// answered says how the question about a call was answered: the kind of the
// option chosen, empty for cancelled. The last answer counts.
func (t *translator) answered(toolCallID, kind string) {
	if t.turn == nil {
		return
	}
	c := t.turn.calls[toolCallID]
	if c == nil || c.done {
		return
	}
	refused := kind == "reject_once" || kind == "reject_always"
	if refused != c.refused {
		c.refused = refused
		if refused {
			t.turn.refused++
		} else {
			t.turn.refused--
		}
	}
	c.dropped = kind == ""
}

// elicit takes the params of elicitation/create.
func (t *translator) elicit(params []byte) (source.Request, error) {
	if !well(params) || !isObject(params) {
		return source.Request{}, errRequest
	}
	e := &source.Elicitation{
		Message: text(field(params, "message")),
		Mode:    text(field(params, "mode")),
		URL:     text(field(params, "url")),
	}
	if schema, ok := compact(field(params, "requestedSchema")); ok && isObject(schema) {
		e.Schema = schema
	}
	if e.Mode == "" {
		e.Mode = "form"
		if e.URL != "" {
			e.Mode = "url"
		}
	}
	q := source.Request{Title: e.Message, Elicitation: e}
	id := text(field(params, "toolCallId"))
	if t.turn != nil && t.turn.calls[id] != nil {
		q.ToolCallID = id
	}
	return q, nil
}
