package main

import (
	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/internal/demoagent"
)

// demoCommand is the built-in agent as a process of its own, so that even the
// demo crosses a real wire.
func demoCommand() *cobra.Command {
	return &cobra.Command{
		Use: "acp-demo", Short: "The built-in agent, over ACP on stdio", Hidden: true, Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if code := demoagent.Main(c.Context(), c.InOrStdin(), c.OutOrStdout(), c.ErrOrStderr()); code != 0 {
				return &exitError{code: code}
			}
			return nil
		},
	}
}
