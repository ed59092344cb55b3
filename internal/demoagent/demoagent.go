// Package demoagent is the built-in agent: a real ACP agent over stdio that
// needs no key, no account and no network. What it does is chosen by words in
// the prompt, so that everything a front end or a store must cope with can be
// seen and tested at will. Its output is deterministic.
//
// It has its own small JSON-RPC loop and shares no code with the client side
// of the project, so that each tests the other.
//
// Environment:
//
//	AGENTSTREAM_DEMO_PACE   chunks a second; default 25; 0: as fast as possible
//	AGENTSTREAM_DEMO_STATE  folder for sessions; without it they cannot be loaded again
//	AGENTSTREAM_DEMO_AUTH   set to 1: sessions need an authenticate call first
package demoagent

import (
	"context"
	"io"
	"os"
)

// Main speaks ACP as the agent on stdin and stdout until stdin ends or ctx
// does, and returns the process's exit code: 0, or another after the word that
// makes the agent die. Diagnostics go to stderr. It is called once a process;
// when ctx ends, a goroutine may be left in a read of stdin.
func Main(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer) int {
	return run(ctx, os.Getenv, stdin, stdout, stderr)
}
