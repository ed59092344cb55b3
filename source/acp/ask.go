package acp

import (
	"bytes"
	"encoding/json"
	"slices"
	"sync"

	"github.com/agentstream-go/agentstream/internal/acpwire"
	"github.com/agentstream-go/agentstream/source"
)

// question is a request of the agent that waits for an answer. The delivering
// goroutine owns it.
type question struct {
	q     source.Request
	reply *acpwire.Reply
	done  chan struct{}
}

// request takes what the agent asks; what it does not know is refused by the
// connection.
func (s *session) request(method string, params []byte, reply *acpwire.Reply) bool {
	read := s.tr.ask
	switch method {
	case "session/request_permission":
	case "elicitation/create":
		read = s.tr.elicit
	default:
		return false
	}
	s.guard(func() {
		q, err := read(params)
		if err != nil {
			reply.Fail(&acpwire.Error{Code: acpwire.CodeInvalidParams, Message: err.Error()})
			return
		}
		s.ask(q, reply)
	})
	return true
}

func (s *session) ask(q source.Request, reply *acpwire.Reply) {
	one := &question{q: q, reply: reply, done: make(chan struct{})}
	one.q.Done = one.done
	s.questions = append(s.questions, one)
	switch {
	case s.run == nil:
		s.observe(source.Fact{Diagnostic: "the agent asked while no turn was open, and was refused: " + q.Title})
		s.settle(one, source.Refuse(q))
	case s.run.turn.Ask == nil || s.run.cancelled:
		a := source.Answer{}
		if !s.run.cancelled {
			a = source.Refuse(q)
		}
		s.settle(one, a)
	default:
		var once sync.Once
		s.run.turn.Ask(one.q, func(a source.Answer) {
			once.Do(func() { s.conn.Post(func() { s.settle(one, a) }) })
		})
	}
}

// settle answers a question; only the first answer counts.
func (s *session) settle(one *question, a source.Answer) {
	i := slices.Index(s.questions, one)
	if i < 0 {
		return
	}
	s.questions = slices.Delete(s.questions, i, i+1)
	close(one.done)
	if one.q.Elicitation != nil {
		one.reply.Send(elicited(a))
		return
	}
	kind, ok := optionKind(one.q, a.OptionID)
	if a.OptionID != "" && !ok || a.Declined {
		// What is not clearly an approval is a refusal.
		a = source.Refuse(one.q)
		kind, _ = optionKind(one.q, a.OptionID)
	}
	s.tr.answered(one.q.ToolCallID, kind)
	result := map[string]string{"outcome": "cancelled"}
	if a.OptionID != "" {
		result = map[string]string{"outcome": "selected", "optionId": a.OptionID}
	}
	one.reply.Send(map[string]any{"outcome": result})
}

func optionKind(q source.Request, id string) (string, bool) {
	for _, o := range q.Options {
		if o.ID == id {
			return o.Kind, true
		}
	}
	return "", false
}

func elicited(a source.Answer) any {
	switch {
	case a.Declined:
		return map[string]string{"action": "decline"}
	case a.Content != nil && json.Valid(a.Content):
		return map[string]any{"action": "accept", "content": a.Content}
	case a.OptionID != "":
		return map[string]string{"action": "accept"}
	}
	return map[string]string{"action": "cancel"}
}

// settleAll answers everything that is open with cancelled.
func (s *session) settleAll() {
	for len(s.questions) > 0 {
		s.settle(s.questions[0], source.Answer{})
	}
}

// dropQuestions ends what is open without a word to the agent, which is about
// to be killed.
func (s *session) dropQuestions() {
	for _, one := range s.questions {
		close(one.done)
	}
	s.questions = nil
}

// withdrawn: the agent takes its question back; it still wants an answer.
func (s *session) withdrawn(id []byte) {
	for _, one := range s.questions {
		if bytes.Equal(one.reply.ID(), id) {
			s.settle(one, source.Answer{})
			return
		}
	}
}
