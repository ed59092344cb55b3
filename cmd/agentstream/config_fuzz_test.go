package main

import (
	"strings"
	"testing"
)

// FuzzConfig: whatever the file is, no panic; what is refused is refused in one
// line that names the file, and what is taken can be used.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"", "a: [", "agents: {a: {command: [x]}}", "agents:\n  a-1: { command: [b, c], env: { K: V }, start_timeout: 10s, mcp_servers: [{name: x}] }\n",
		"permissions: { default: reads }\nworkspace_roots: [~/a, b]\nlimits: { processes: 3, body_bytes: 9 }\nshutdown_timeout: 5s\nlisten: 127.0.0.1:0\n",
		"limits: { run_events: 0, run_bytes: -1, thread_bytes: 1, total_bytes: 2 }\nretention: { compact_after: 1h, collapse_after: null }\n",
		"agents: &a {x: *a}", "shutdown_timeout: -1s", "limits: { processes: -1 }", "agents: {A: {command: [x]}}", "? [1]\n: 2", "%YAML 1.1\n---\n!!binary x", "listen: \x00",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := parseConfig("the-file.yaml", data)
		if err != nil {
			if text := err.Error(); !strings.Contains(text, "the-file.yaml") || strings.Contains(text, "\n") {
				t.Errorf("%q", text)
			}
			return
		}
		for name, a := range c.Agents {
			if !agentName.MatchString(name) || len(a.Command) == 0 || a.StartTimeout < 0 || a.IdleTimeout < 0 {
				t.Errorf("%s: %+v", name, a)
			}
		}
		if l := c.Limits; l.Processes < 0 || l.BodyBytes < 0 || below(l.RunEvents) || below(l.RunBytes) || below(l.ThreadBytes) || l.TotalBytes < 0 || c.ShutdownTimeout < 0 {
			t.Errorf("%+v", c)
		}
	})
}
