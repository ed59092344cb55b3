package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/internal/catalog"
	"github.com/agentstream-go/agentstream/server"
)

func agentsCommand() *cobra.Command {
	var t target
	var asJSON bool
	c := &cobra.Command{
		Use:   "agents",
		Short: "List the agents that can be run",
		Long:  "agents lists what is configured, built in and found on PATH: where it is, its version,\nand for what is missing or not logged in the command that helps.",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if err := t.load(c); err != nil {
				return err
			}
			t.found = catalog.Versions(c.Context(), t.found)
			own, err := t.engineAgents()
			if err != nil {
				return err
			}
			list := t.listed(own)
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(list)
			}
			return t.print(c, list)
		},
	}
	t.setup.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func (t *target) print(c *cobra.Command, list []server.Agent) error {
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tSTATE\tVERSION\tWHERE, OR WHAT HELPS")
	for _, a := range list {
		where := first(a.Path, a.Install)
		if a.State != string(catalog.Ready) {
			for _, f := range t.found {
				if f.Name == a.Name {
					where = first(f.Login, f.Install, f.Why)
				}
			}
		}
		if a.Name == "demo" && where == "" {
			where = "built in"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", a.Name, a.State, first(a.Version, "-"), first(where, "-"))
	}
	return w.Flush()
}

func doctorCommand() *cobra.Command {
	var t target
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine and say what would help",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			bad := t.load(c)
			r := catalog.Doctor(c.Context(), t.doctor(c.Context(), bad))
			if asJSON {
				if err := json.NewEncoder(c.OutOrStdout()).Encode(r); err != nil {
					return err
				}
			} else {
				printReport(c, r)
			}
			if !r.OK {
				return &exitError{code: exitFailed}
			}
			return nil
		},
	}
	t.setup.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func (t *target) doctor(ctx context.Context, bad error) catalog.Setup {
	s := catalog.Setup{
		Machine: catalog.Here(), Data: t.data, Listen: first(t.file.Listen, defaultListen), Config: t.config,
		ConfigError: bad, Agents: t.found,
		OpenDB: func(_ context.Context, data string) error {
			log, err := sqlite.Open(folder(data).database(), sqlite.Options{})
			if err != nil {
				return err
			}
			return log.Close()
		},
	}
	if r := t.running(ctx, folder(t.data)); r != nil {
		s.ServerURL = r.base
	}
	return s
}

func printReport(c *cobra.Command, r catalog.Report) {
	for _, k := range r.Checks {
		mark := "ok  "
		switch {
		case !k.OK && k.Optional:
			mark = "-   "
		case !k.OK:
			mark = "FAIL"
		}
		fmt.Fprintf(c.OutOrStdout(), "%s  %s: %s\n", mark, k.Name, k.Detail)
		if !k.OK && k.Fix != "" {
			fmt.Fprintf(c.OutOrStdout(), "      %s\n", k.Fix)
		}
	}
}
