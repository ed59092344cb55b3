package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/internal/term"
)

// markdown writes a thread as a document: what was said as it is, thoughts
// quoted, calls with their arguments and results in fences that hold them.
func markdown(w *bufio.Writer, t engine.Thread, m engine.Messages) error {
	fmt.Fprintf(w, "# %s\n\n", first(oneLine(t.Title), t.ID))
	fmt.Fprintf(w, "Thread `%s` with %s, begun %s.\n", oneLine(t.ID), t.Agent, t.CreatedAt.UTC().Format(time.RFC3339))
	results := map[string]agui.Message{}
	for _, one := range m.Messages {
		if one.Role == agui.RoleTool {
			results[one.ToolCallID] = one
		}
	}
	for _, one := range m.Messages {
		text := plainText(one)
		switch one.Role {
		case agui.RoleUser:
			fmt.Fprintf(w, "\n## User\n\n%s\n", text)
		case agui.RoleReasoning:
			fmt.Fprintf(w, "\n> %s\n", strings.ReplaceAll(text, "\n", "\n> "))
		case agui.RoleAssistant:
			if text != "" {
				fmt.Fprintf(w, "\n## %s\n\n%s\n", first(t.Agent, "Assistant"), text)
			}
			for _, c := range one.ToolCalls {
				markdownCall(w, c, results)
			}
		}
	}
	for _, q := range m.Pending {
		fmt.Fprintf(w, "\n*Waits for an answer: %s (`%s`)*\n", oneLine(q.Title), q.ID)
	}
	if m.OpenRun != nil {
		fmt.Fprintf(w, "\n*Run `%s` goes on.*\n", oneLine(*m.OpenRun))
	}
	return w.Flush()
}

func markdownCall(w *bufio.Writer, c agui.ToolCall, results map[string]agui.Message) {
	var meta struct{ Agentstream struct{ Title string } }
	_ = json.Unmarshal(c.Metadata, &meta)
	fmt.Fprintf(w, "\n### %s\n\n", first(oneLine(meta.Agentstream.Title), c.Name))
	fmt.Fprint(w, fenced("json", c.Arguments))
	if r, ok := results[c.ID]; ok {
		fmt.Fprint(w, "\n", fenced("", plainText(r)))
	}
}

// fenced puts text between fences that are longer than any in it.
func fenced(kind, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + kind + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

// plainText is a message's text, whatever form its content has, fit to be shown.
func plainText(m agui.Message) string {
	var s string
	if json.Unmarshal(m.Content, &s) == nil {
		return term.Clean(s)
	}
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(m.Content, &parts)
	var texts []string
	for _, p := range parts {
		switch {
		case p.Text != "":
			texts = append(texts, term.Clean(p.Text))
		case p.Type != "" && p.Type != "text":
			texts = append(texts, "["+oneLine(p.Type)+"]")
		}
	}
	return strings.Join(texts, "\n")
}
