package acp_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/agentstream-go/agentstream/source"
	"github.com/agentstream-go/agentstream/source/acp"
)

func ExampleCommand() {
	agent := &acp.Command{
		Name: "opencode", Argv: []string{"an-agent-that-is-not-here", "acp"}, Install: "npm install -g opencode-ai",
	}
	_, err := agent.Open(context.Background(), source.Options{Cwd: os.TempDir()})
	var e *source.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code)
		fmt.Println(e)
	}
	// Output:
	// agent_missing
	// opencode is not installed: an-agent-that-is-not-here: not found on PATH (install it: npm install -g opencode-ai)
}
