package main

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var update = flag.Bool("update", false, "write the reference anew")

// reference compares a page of docs/reference with what the code says, or writes it.
func reference(t *testing.T, file, want string) {
	t.Helper()
	path := "../../docs/reference/" + file
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference/%s is not what the code says ('go test ./cmd/agentstream -update' writes it anew):\n%s", file, diff)
	}
}

// The reference of the command line is its help.
func TestReferenceOfCommands(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Commands\n\nMade from the commands' own help; `agentstream COMMAND --help` says the same.\n")
	for name, value := range map[string]string{"HOME": "/home/you", "XDG_DATA_HOME": "", "XDG_CONFIG_HOME": "", "AGENTSTREAM_DATA": "", "AGENTSTREAM_CONFIG": "", "AGENTSTREAM_SERVER": ""} {
		t.Setenv(name, value)
	}
	root := command()
	root.InitDefaultHelpFlag()
	for _, c := range root.Commands() {
		if c.Hidden || c.Name() == "completion" || c.Name() == "help" {
			continue
		}
		fmt.Fprintf(&b, "\n## `agentstream %s`\n\n%s\n", c.Use, strings.ReplaceAll(first(c.Long, c.Short), "\n  ", "\n      "))
		if c.Example != "" {
			fmt.Fprintf(&b, "\n```sh\n%s\n```\n", unindent(c.Example))
		}
		b.WriteString(flagTable(c))
	}
	b.WriteString(`
## Exit codes

| code | when |
|---|---|
`)
	for _, row := range []struct {
		code int
		when string
	}{
		{0, "done"}, {exitFailed, "the run failed, or ended with max_tokens, max_turn_requests or refusal"}, {exitUsage, "the command is not used as it should be, or the data folder is taken"},
		{exitTimeout, "`--timeout`, or the agent did not start in time"}, {exitRefused, "at least one request was refused"},
		{exitAgent, "the agent is missing or not logged in"}, {exitCancelled, "cancelled"},
	} {
		fmt.Fprintf(&b, "| %d | %s |\n", row.code, row.when)
	}
	reference(t, "commands.md", strings.ReplaceAll(b.String(), "/home/you", "~"))
}

func flagTable(c *cobra.Command) string {
	var rows strings.Builder
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		value, about := pflag.UnquoteUsage(f)
		if value != "" {
			name += " " + map[string]string{"stringArray": "TEXT", "string": "TEXT", "int": "N", "duration": "TIME"}[value]
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "0s" && f.DefValue != "[]" && !strings.Contains(about, "default") {
			about += " (default `" + f.DefValue + "`)"
		}
		fmt.Fprintf(&rows, "| `%s` | %s |\n", name, strings.ReplaceAll(about, "|", `\|`))
	})
	if rows.Len() == 0 {
		return ""
	}
	return "\n| flag | |\n|---|---|\n" + rows.String()
}

func unindent(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

// The reference of the file is the type that it is read into.
func TestReferenceOfConfiguration(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Keys of the configuration file\n\nMade from what the file is read into; `docs/configuration.md` says what the keys mean.\n\n| key | value |\n|---|---|\n")
	keys(&b, reflect.TypeFor[config](), "")
	reference(t, "configuration.md", b.String())
}

func keys(b *strings.Builder, t reflect.Type, prefix string) {
	for i := range t.NumField() {
		f := t.Field(i)
		key := prefix + f.Tag.Get("yaml")
		switch ft := f.Type; {
		case ft.Kind() == reflect.Struct:
			keys(b, ft, key+".")
		case ft.Kind() == reflect.Map && ft.Elem().Kind() == reflect.Struct:
			keys(b, ft.Elem(), key+".NAME.")
		default:
			fmt.Fprintf(b, "| `%s` | %s |\n", key, valueOf(ft))
		}
	}
}

func valueOf(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[duration](), t == reflect.TypeFor[time.Duration]():
		return "time, such as `90s` or `10m`"
	case t.Kind() == reflect.Pointer:
		return valueOf(t.Elem())
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return "list of texts"
	case t.Kind() == reflect.Slice:
		return "list of mappings"
	case t.Kind() == reflect.Map:
		return "mapping of names to texts"
	case t.Kind() == reflect.Bool:
		return "`true` or `false`"
	case t.Kind() == reflect.String:
		return "text"
	}
	return "whole number"
}
