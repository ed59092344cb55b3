package acp

import (
	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
)

// opened takes the result of session/new, load, resume or set_config_option
// and gives the modes and models that it names.
func (t *translator) opened(result []byte) []source.Fact {
	t.facts = nil
	if v := field(result, "modes"); v != nil {
		t.modes = source.Choices{
			Current:   text(field(v, "currentModeId")),
			Available: choices(field(v, "availableModes"), "id"),
		}
	}
	if v := field(result, "models"); v != nil {
		t.models = source.Choices{
			Current:   text(field(v, "currentModelId")),
			Available: choices(field(v, "availableModels"), "modelId"),
		}
	}
	t.readOptions(field(result, "configOptions"))
	if t.modes.Current != "" || len(t.modes.Available) > 0 {
		t.tellModes()
	}
	if t.models.Current != "" || len(t.models.Available) > 0 {
		t.tellModels()
	}
	return t.facts
}

func (t *translator) tellModes() {
	modes := t.modes
	t.facts = append(t.facts, source.Fact{Modes: &modes})
}

func (t *translator) tellModels() {
	models := t.models
	t.facts = append(t.facts, source.Fact{Models: &models})
}

func choices(v []byte, id string) []source.Choice {
	var out []source.Choice
	list := array(v)
	for e, ok := list.element(); ok; e, ok = list.element() {
		if c := (source.Choice{ID: text(field(e, id)), Name: text(field(e, "name")), Description: text(field(e, "description"))}); c.ID != "" {
			out = append(out, c)
		}
		out = append(out, choices(field(e, "options"), id)...) // a group
	}
	return out
}

// configOptions handles config_option_update: the whole state.
func (t *translator) configOptions(v []byte) {
	modes, models := t.readOptions(v)
	if modes {
		t.tellModes()
	}
	if models {
		t.tellModels()
	}
}

func (t *translator) readOptions(v []byte) (modes, models bool) {
	list := array(v)
	for e, ok := list.element(); ok; e, ok = list.element() {
		c := source.Choices{Current: text(field(e, "currentValue")), Available: choices(field(e, "options"), "value")}
		switch text(field(e, "category")) {
		case "mode":
			t.modes, modes = c, true
		case "model":
			t.models, models = c, true
		}
	}
	return modes, models
}

func (t *translator) currentMode(u *update) {
	id := first(text(field(u.raw, "currentModeId")), text(field(u.raw, "modeId")))
	if id != "" {
		t.modes.Current = id
		t.tellModes()
	}
}

func (t *translator) commands(u *update) {
	commands := []source.Command{}
	list := array(field(u.raw, "availableCommands"))
	for e, ok := list.element(); ok; e, ok = list.element() {
		commands = append(commands, source.Command{
			Name:        text(field(e, "name")),
			Description: text(field(e, "description")),
			Hint:        text(field(e, "input", "hint")),
		})
	}
	t.facts = append(t.facts, source.Fact{Commands: &commands})
}

// sessionInfo reads the title, and what Codex says with it: that the turn has
// failed, or that it tries again.
func (t *translator) sessionInfo(u *update) {
	if title := text(u.title); title != "" {
		t.facts = append(t.facts, source.Fact{Title: &title})
	}
	codex := field(u.meta, "codex")
	if codex == nil || t.turn == nil {
		return
	}
	if text(field(codex, "threadStatus", "type")) == "systemError" {
		t.turn.failed = true
	}
	if line := text(field(codex, "error", "message")); line != "" {
		n := statusLine{severity: "error", text: line}
		if string(field(codex, "error", "willRetry")) == "true" {
			n.severity, n.retry = "warning", true
		}
		t.turn.status(t.turn.main, n)
	}
}

func (w *turn) plan(v []byte) {
	entries := []agentstream.PlanEntry{}
	list := array(field(v, "entries"))
	for e, ok := list.element(); ok; e, ok = list.element() {
		entries = append(entries, agentstream.PlanEntry{
			Content:  text(field(e, "content")),
			Priority: text(field(e, "priority")),
			Status:   text(field(e, "status")),
		})
	}
	w.send(agentstream.Plan{Entries: entries})
}

func (w *turn) planUpdate(u *update) {
	plan := field(u.raw, "plan")
	if field(plan, "entries") == nil {
		w.unknown(u)
		return
	}
	w.plan(plan)
}
