package acp

import "github.com/agentstream-go/agentstream/source"

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

type namedValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func pairs(m map[string]string) []namedValue {
	out := []namedValue{}
	for name, value := range m {
		out = append(out, namedValue{name, value})
	}
	return out
}

// mcpServers gives the servers as the wire has them. Those that the agent
// cannot reach are left out, and that is told.
func (s *session) mcpServers() []any {
	out := []any{}
	for _, m := range s.cmd.MCPServers {
		switch {
		case m.Type == "" || m.Type == "stdio":
			args := m.Args
			if args == nil {
				args = []string{}
			}
			out = append(out, map[string]any{"name": m.Name, "command": m.Command, "args": args, "env": pairs(m.Env)})
		case m.Type == "http" && s.caps.mcpHTTP, m.Type == "sse" && s.caps.mcpSSE:
			out = append(out, map[string]any{"type": m.Type, "name": m.Name, "url": m.URL, "headers": pairs(m.Headers)})
		default:
			s.conn.Post(func() {
				s.observe(source.Fact{Diagnostic: "the MCP server " + m.Name + " is left out: the agent takes no " + m.Type})
			})
		}
	}
	return out
}
