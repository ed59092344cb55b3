package acp

import (
	"context"
	"errors"
	"fmt"

	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/source"
)

// choice is one of the two things that can be chosen in every session. Agents
// have them as config options, which supersede the older methods.
type choice struct{ category, method, param string }

var (
	modeChoice  = choice{"mode", "session/set_mode", "modeId"}
	modelChoice = choice{"model", "session/set_model", "modelId"}
)

// configIDs are the ids of the config options for mode and model, by category.
type configIDs map[string]string

func (c *configIDs) read(result []byte) {
	list := array(field(result, "configOptions"))
	for e, ok := list.element(); ok; e, ok = list.element() {
		id, category := text(field(e, "id")), text(field(e, "category"))
		if category == "" {
			category = id
		}
		if id != "" && (category == modeChoice.category || category == modelChoice.category) {
			if *c == nil {
				*c = configIDs{}
			}
			(*c)[category] = id
		}
	}
}

// SetMode selects a mode between turns.
func (s *session) SetMode(ctx context.Context, id string) error {
	return s.choiceError(s.choose(ctx, modeChoice, id, false))
}

// SetModel selects a model between turns.
func (s *session) SetModel(ctx context.Context, id string) error {
	return s.choiceError(s.choose(ctx, modelChoice, id, false))
}

// choose selects by config option, else by the older method. tolerant: an
// agent that knows neither is left as it is, and that is told; so is one that
// does not know the model any more, because that must not fail every start.
func (s *session) choose(ctx context.Context, c choice, value string, tolerant bool) error {
	var id string
	if err := s.inOrder(ctx, func() { id = s.options[c.category] }); err != nil {
		return err
	}
	var err error = &acpwire.Error{Code: acpwire.CodeMethodNotFound, Message: "the agent has no config option for it"}
	if id != "" {
		params := map[string]string{"sessionId": s.id, "configId": id, "value": value}
		err = s.conn.Call(ctx, "session/set_config_option", params, func(result []byte) { s.observeAll(s.tr.opened(result)) })
	}
	if unknownMethod(err) {
		params := map[string]string{"sessionId": s.id, c.param: value}
		err = s.conn.Call(ctx, c.method, params, func([]byte) { s.observe(s.selected(c, value)) })
	}
	var rpc *acpwire.Error
	if tolerant && (unknownMethod(err) || c == modelChoice && errors.As(err, &rpc)) {
		s.conn.Post(func() {
			s.observe(source.Fact{Diagnostic: fmt.Sprintf("the agent keeps its own %s, not %s: %v", c.category, value, err)})
		})
		return nil
	}
	return err
}

// selected notes a selection that the answer does not repeat.
func (s *session) selected(c choice, value string) source.Fact {
	if c == modeChoice {
		s.tr.modes.Current = value
		modes := s.tr.modes
		return source.Fact{Modes: &modes}
	}
	s.tr.models.Current = value
	models := s.tr.models
	return source.Fact{Models: &models}
}

func (s *session) choiceError(err error) error {
	if err == nil {
		return nil
	}
	return s.turnError(err)
}
