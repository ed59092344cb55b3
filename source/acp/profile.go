package acp

import (
	"regexp"
	"strings"
)

// profile is what an agent does in its own way. Everything else follows the
// general rules.
type profile struct {
	toolName func(id, title string) string                   // name of a tool that the wire does not name
	line     func(u *update, text string) (statusLine, bool) // text that is no answer
	spending spending
}

// statusLine is text that is no part of the answer.
type statusLine struct {
	severity, text string
	retry          bool // what follows begins anew
}

// spending says what an agent's count of tokens in its answer covers.
type spending byte

const (
	perTurn    spending = iota
	perCall             // the last model call alone
	perSession          // everything since the session began
)

func profileOf(agent agentInfo) profile {
	name := strings.ToLower(agent.Name)
	has := func(part string) bool { return strings.Contains(name, part) }
	switch {
	case has("claude-agent-acp"), has("claude-code-acp"):
		return profile{line: claudeLine}
	case name == "@agentclientprotocol/codex-acp":
		return profile{line: codexLine}
	case has("gemini"):
		return profile{toolName: geminiTool}
	case has("opencode"):
		return profile{toolName: openCodeTool, spending: perCall}
	case has("kilo"):
		return profile{spending: perCall}
	case has("copilot"):
		return profile{line: matching(copilotLines), spending: perSession}
	case has("pi-acp"):
		return profile{line: matching(piLines)}
	}
	return profile{}
}

// status decides whether a chunk is a status line. Only a message without an
// id can be one.
func (p *profile) status(u *update, kind speech, b []byte) (statusLine, bool) {
	if p.line == nil || kind != message || len(u.messageID) > 0 || len(b) == 0 || len(b) > 4096 {
		return statusLine{}, false
	}
	return p.line(u, whole(b))
}

// claudeLine: what Claude Code says about itself carries a kind.
func claudeLine(u *update, line string) (statusLine, bool) {
	about := field(u.meta, "claudeCode")
	if field(about, "kind") == nil {
		return statusLine{}, false
	}
	severity := "info"
	switch level := text(field(about, "level")); level {
	case "warning", "error":
		severity = level
	}
	return statusLine{severity: severity, text: line}, true
}

// codexLine: Codex gives every message of the model an id; its own lines have
// none and end in a blank line. The ones that are no warnings are errors.
func codexLine(_ *update, line string) (statusLine, bool) {
	if !strings.HasSuffix(line, "\n\n") {
		return statusLine{}, false
	}
	line = strings.TrimSpace(line)
	if warning, ok := strings.CutPrefix(line, "Warning: "); ok {
		return statusLine{severity: "warning", text: warning}, true
	}
	return statusLine{severity: "error", text: line}, line != ""
}

var (
	copilotLines = regexp.MustCompile(`^Info: Request failed due to a transient API error\. Retrying\.\s*$`)
	piLines      = regexp.MustCompile(`^(Queued message \(position \d+\)\.|Retrying \(attempt \d+/\d+[^\n]*|Retry finished, resuming\.)\s*$`)
)

// matching takes chunks as a whole.
func matching(lines *regexp.Regexp) func(*update, string) (statusLine, bool) {
	return func(_ *update, line string) (statusLine, bool) {
		if !lines.MatchString(line) {
			return statusLine{}, false
		}
		line = strings.TrimSpace(line)
		return statusLine{severity: "info", text: line, retry: strings.Contains(line, "Retry")}, true
	}
}

// geminiTool: ids are the tool's name, two underscores and a number.
func geminiTool(id, _ string) string {
	name, _, ok := strings.Cut(id, "__")
	if !ok {
		return ""
	}
	return name
}

// openCodeTool: a call is announced with the tool's name as its title.
func openCodeTool(_, title string) string {
	if isIdentifier(title) {
		return title
	}
	return ""
}

// nameOf gives the name of a call's tool. It is fixed at first sight.
func (p *profile) nameOf(u *update, id string) string {
	title, kind := text(u.title), text(u.tool)
	name := first(text(u.name), text(field(u.meta, "claudeCode", "toolName")), text(field(u.meta, "toolName")))
	if name == "" && p.toolName != nil {
		name = p.toolName(id, title)
	}
	switch {
	case name != "":
	case kind != "" && kind != "other":
		name = kind
	case kind != "execute" && isIdentifier(title):
		name = title
	default:
		name = "tool"
	}
	return identifier(name)
}

func isIdentifier(s string) bool {
	return s != "" && len(s) <= 64 && identifier(s) == s
}

// identifier makes a name that every model API takes.
func identifier(s string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	if clean == "" || clean[0] == '-' || '0' <= clean[0] && clean[0] <= '9' {
		clean = "_" + clean
	}
	return clean[:min(len(clean), 64)]
}
