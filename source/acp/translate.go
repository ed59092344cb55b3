package acp

import (
	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/source"
)

// translator turns what an agent says into calls of a StreamHandler. It is
// pure: no I/O, no clock, no goroutine; its methods are never called two at
// once. It belongs to one session.
type translator struct {
	agent agentInfo
	h     agentstream.StreamHandler
}

func newTranslator(agent agentInfo) *translator { return &translator{agent: agent} }

// begin opens a turn: what is said from now until end goes to h.
func (t *translator) begin(h agentstream.StreamHandler) { t.h = h }

// update takes the params of one session/update.
func (t *translator) update(params []byte) []source.Fact { return nil }

// history takes the params of an update that session/load replays.
func (t *translator) history(params []byte) {}

// opened takes the result of session/new, load, resume or set_config_option
// and gives the modes and models that it names.
func (t *translator) opened(result []byte) []source.Fact { return nil }

// ask takes the params of session/request_permission and declares the call that
// it names, if nobody did before.
func (t *translator) ask(params []byte) (source.Request, error) { return source.Request{}, nil }

// answered says how the question about a call was answered: the kind of the
// option chosen, empty for cancelled.
func (t *translator) answered(toolCallID, kind string) {}

// elicit takes the params of elicitation/create.
func (t *translator) elicit(params []byte) (source.Request, error) { return source.Request{}, nil }

// end closes the turn with the answer to the prompt: its result, its error, or
// neither if the agent is gone.
func (t *translator) end(result []byte, rpc *acpwire.Error, cancelled bool) (source.StopReason, error) {
	t.h = nil
	return source.EndTurn, nil
}
