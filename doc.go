// Package agentstream is the contract between agents and whoever consumes
// what they say.
package agentstream
