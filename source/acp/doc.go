// Package acp is the source for agents that speak the Agent Client Protocol,
// version 1, on their standard input and output.
//
// Two halves: the translator (translate.go and what stands beside it) turns
// what the agent says into calls of a StreamHandler and does nothing else; the
// session (session.go, open.go, run.go, ask.go) owns the process, the
// connection and the clock. Everything that the agent says, answers included,
// is handled by the one goroutine of the connection that delivers, in the order
// of the wire.
package acp
