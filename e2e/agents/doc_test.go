// Package agents_test drives real agents through the whole binary, with the
// published AG-UI clients, a scripted model on loopback and, where the system
// lets it, no other network. What `make agents` has installed is tested;
// AGENTSTREAM_AGENTS="opencode gemini" tests these alone. What agents do in their
// own way is data (fleet_test.go), and is told to users in docs/agents.md.
package agents_test
