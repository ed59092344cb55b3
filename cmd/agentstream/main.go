// Command agentstream serves AI agents over AG-UI, and runs them at a terminal.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

// Exit codes that scripts rely on.
const (
	exitFailed    = 1
	exitUsage     = 2
	exitTimeout   = 3
	exitRefused   = 4
	exitAgent     = 5
	exitCancelled = 130
)

// exitError ends the command with a code. A nil err has been told already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func usage(format string, args ...any) error {
	return &exitError{code: exitUsage, err: fmt.Errorf(format, args...)}
}

func main() { os.Exit(Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// Main runs the command line and gives its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := command()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	code := exitUsage // what cobra itself refuses
	var e *exitError
	if errors.As(err, &e) {
		code = e.code
	}
	if text := strings.TrimSpace(err.Error()); text != "" {
		fmt.Fprintln(stderr, "agentstream: "+strings.ReplaceAll(text, "\n", "; "))
	}
	return code
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "agentstream",
		Short: "Any AI agent in, valid history in your database, AG-UI out",
		Long: "agentstream runs AI agents and keeps what they say: any agent in, valid history\n" +
			"in your database, AG-UI out, and a refresh never loses a byte.\n\n" +
			"Begin with 'agentstream serve' and open the address that it prints, or with\n" +
			"'agentstream run demo help'. Nothing else is needed: the agent demo is built in.",
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       version,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("there is no command %q; 'agentstream --help' lists them", args[0])
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetVersionTemplate(versionLine())
	root.AddCommand(
		serveCommand(), runCommand(), chatCommand(),
		lsCommand(), showCommand(), tailCommand(), exportCommand(),
		pendingCommand(), approveCommand(), denyCommand(), cancelCommand(),
		lintCommand(), agentsCommand(), doctorCommand(), versionCommand(), demoCommand(),
	)
	return root
}
