package engine

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
)

// decide answers a request by the policy; allowed says whether it granted.
func (p Policy) decide(q source.Request, cwd string) (a source.Answer, allowed bool) {
	var kinds []string
	switch p {
	case PolicyAll:
		kinds = []string{"allow_once", "allow_always"}
	case PolicyReads:
		if readOnly(q, cwd) {
			kinds = []string{"allow_once"}
		}
	}
	if id := optionOf(q.Options, kinds...); id != "" && q.Elicitation == nil {
		return source.Answer{OptionID: id}, true
	}
	return source.Refuse(q), false
}

// readOnly reports whether a call only looks, and only inside the session's
// folder. A call that does not say where it looks is no such call.
func readOnly(q source.Request, cwd string) bool {
	return (q.Kind == "read" || q.Kind == "search") && len(q.Locations) > 0 &&
		!slices.ContainsFunc(q.Locations, func(l agentstream.Location) bool {
			path := l.Path
			if !filepath.IsAbs(path) {
				path = filepath.Join(cwd, path)
			}
			return !inside(path, []string{cwd})
		})
}

// optionOf gives the first option of the first kind that there is one of.
func optionOf(options []source.Option, kinds ...string) string {
	for _, kind := range kinds {
		for _, o := range options {
			if o.Kind == kind {
				return o.ID
			}
		}
	}
	return ""
}

// choose turns a person's answer into the agent's. The request is settled by it
// even if it says nothing: then it refuses. An option that was not offered is an
// error.
func choose(q source.Request, a Answer) (source.Answer, error) {
	if q.Elicitation != nil {
		if a.Approved != nil && !*a.Approved || a.Content == nil {
			return source.Answer{Declined: true}, nil
		}
		var object map[string]json.RawMessage
		if json.Unmarshal(a.Content, &object) != nil || object == nil {
			return source.Answer{}, refuse("bad_request", "the content of an answer is a JSON object")
		}
		return source.Answer{Content: a.Content}, nil
	}
	if a.OptionID != "" {
		i := slices.IndexFunc(q.Options, func(o source.Option) bool { return o.ID == a.OptionID })
		if i < 0 {
			return source.Answer{}, refuse("bad_request", "the request has no option %q", a.OptionID)
		}
		if a.Approved != nil && *a.Approved != q.Options[i].Allows() {
			return source.Refuse(q), nil
		}
		return source.Answer{OptionID: a.OptionID}, nil
	}
	if a.Approved != nil && *a.Approved {
		id := optionOf(q.Options, "allow_once", "allow_always")
		if id == "" {
			return source.Answer{}, refuse("bad_request", "the request has no option that allows; choose one by its id")
		}
		return source.Answer{OptionID: id}, nil
	}
	return source.Refuse(q), nil
}

// kindOf gives the kind of the option that an answer chose.
func kindOf(options []source.Option, id string) string {
	for _, o := range options {
		if o.ID == id {
			return o.Kind
		}
	}
	return ""
}

// covers reports whether a remembered answer is one to this request. Looking and
// editing is remembered for the tool or kind as such; what executes, deletes,
// fetches or is unknown only for the very same thing.
func (g Grant) covers(agent, tool string, q source.Request) bool {
	if q.Elicitation != nil || g.Agent != agent || g.Tool != tool || g.Kind != q.Kind {
		return false
	}
	return g.Title == "" || g.Title == q.Title
}

// grantFor makes the remembered form of an answer, if there is one to remember.
func grantFor(agent, tool string, q source.Request, kind string) (Grant, bool) {
	if kind != "allow_always" && kind != "reject_always" || tool == "" && q.Kind == "" {
		return Grant{}, false
	}
	g := Grant{Agent: agent, Tool: tool, Kind: q.Kind, Allow: kind == "allow_always"}
	switch q.Kind {
	case "read", "search", "edit", "think":
	default:
		if g.Title = q.Title; g.Title == "" {
			return Grant{}, false
		}
	}
	return g, true
}

// answer is what a remembered answer says to a request.
func (g Grant) answer(q source.Request) (source.Answer, bool) {
	if !g.Allow {
		return source.Refuse(q), true
	}
	id := optionOf(q.Options, "allow_once", "allow_always")
	return source.Answer{OptionID: id}, id != ""
}
