package acp

import (
	"fmt"
	"maps"
	"slices"

	"github.com/agentstream-go/agentstream/source"
)

// capabilities is what an agent says it can do.
type capabilities struct {
	agent               agentInfo
	load, resume        bool
	directories         bool
	image, audio, embed bool
	mcpHTTP, mcpSSE     bool
	authMethods         []string // "id (name)"
}

func readCapabilities(result []byte) capabilities {
	caps := field(result, "agentCapabilities")
	prompt, mcp, sessions := field(caps, "promptCapabilities"), field(caps, "mcpCapabilities"), field(caps, "sessionCapabilities")
	c := capabilities{
		agent:       agentInfo{Name: text(field(result, "agentInfo", "name")), Version: text(field(result, "agentInfo", "version"))},
		load:        yes(field(caps, "loadSession")),
		resume:      yes(field(sessions, "resume")),
		directories: yes(field(sessions, "additionalDirectories")),
		image:       yes(field(prompt, "image")),
		audio:       yes(field(prompt, "audio")),
		embed:       yes(field(prompt, "embeddedContext")),
		mcpHTTP:     yes(field(mcp, "http")),
		mcpSSE:      yes(field(mcp, "sse")),
	}
	methods := array(field(result, "authMethods"))
	for m, ok := methods.element(); ok; m, ok = methods.element() {
		id, name := text(field(m, "id")), text(field(m, "name"))
		if name != "" && name != id {
			id += " (" + name + ")"
		}
		c.authMethods = append(c.authMethods, id)
	}
	return c
}

// yes reads a capability: true, or an object that may be empty.
func yes(v []byte) bool { return string(v) == "true" || isObject(v) }

// mcpServers gives the servers as the wire has them. Those that the agent
// cannot reach are left out, and that is told.
func (s *session) mcpServers() []any {
	out := []any{}
	for _, given := range s.cmd.MCPServers {
		m := maps.Clone(given)
		kind, _ := m["type"].(string)
		switch {
		case kind == "" || kind == "stdio":
			delete(m, "type") // the wire knows it by its absence
			if m["args"] == nil {
				m["args"] = []string{}
			}
			m["env"] = pairs(m["env"])
		case kind == "http" && s.caps.mcpHTTP, kind == "sse" && s.caps.mcpSSE:
			m["headers"] = pairs(m["headers"])
		default:
			s.conn.Post(func() {
				s.observe(source.Fact{Diagnostic: fmt.Sprintf("the MCP server %v is left out: the agent takes no %s", m["name"], kind)})
			})
			continue
		}
		out = append(out, m)
	}
	return out
}

type namedValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// pairs gives a map as the list that the wire wants; a list stays as it is.
func pairs(v any) any {
	out := []namedValue{}
	switch m := v.(type) {
	case nil:
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(m)) {
			out = append(out, namedValue{name, fmt.Sprint(m[name])})
		}
	case map[string]string:
		for _, name := range slices.Sorted(maps.Keys(m)) {
			out = append(out, namedValue{name, m[name]})
		}
	default:
		return v
	}
	return out
}
