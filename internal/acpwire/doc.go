// Package acpwire frames JSON-RPC 2.0 as the Agent Client Protocol does it: one
// JSON object a line, both sides asking. A Conn keeps the order of the wire,
// answers included, lets a slow consumer slow the agent down instead of losing
// anything, and survives lines that are no protocol.
package acpwire
