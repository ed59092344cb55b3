package agui

import (
	"errors"
	"fmt"
)

// Verifier says whether a stock client would accept a stream, event by event,
// and adds what the protocol's draft makes fatal: a terminal with other ids than
// the run's, a second thread in the stream, an interrupt id twice, no terminal
// at the end. Several runs may follow each other. Not for concurrent use.
type Verifier struct {
	version Version
	tracker
	state  verifierState
	thread string
	run    string
}

type verifierState uint8

const (
	stateEmpty verifierState = iota
	stateRunning
	stateFinished
	stateFailed
)

// NewVerifier returns a verifier with the rules of one published client.
func NewVerifier(v Version) *Verifier { return &Verifier{version: v} }

// End says whether the stream may end here: after a terminal, or empty.
func (v *Verifier) End() error {
	if v.state == stateRunning {
		return errors.New("agui: the stream ends without a terminal event")
	}
	return nil
}

// Check takes the next event of the stream and says what is wrong with it. After
// an error the stream is lost to the client, and further answers mean nothing.
func (v *Verifier) Check(e Event) error { return v.CheckJSON(Append(nil, e)) }

func (v *Verifier) check(e Event) error {
	err := v.checkPlace(e.Type())
	if err == nil {
		err = v.step(e)
	}
	if err != nil {
		return fmt.Errorf("agui: %s: %w", e.Type(), err)
	}
	return nil
}

// CheckJSON is Check for an encoded event. It sees what decoding forgives and
// clients do not: nulls, missing or unknown fields, fractions.
func (v *Verifier) CheckJSON(data []byte) error {
	if err := checkFields(data, v.version); err != nil {
		return fmt.Errorf("agui: %w", err)
	}
	e, err := Decode(data)
	if err != nil {
		return err
	}
	return v.check(e)
}

// checkPlace says whether an event of the type may stand here at all.
func (v *Verifier) checkPlace(t Type) error {
	switch v.state {
	case stateEmpty:
		if t != TypeRunStarted && t != TypeRunError {
			return errors.New("the first event must be RUN_STARTED")
		}
	case stateRunning:
		if t == TypeRunStarted {
			return errors.New("the run before is still open")
		}
	case stateFinished:
		if t != TypeRunStarted && t != TypeRunError {
			return errors.New("the run has finished")
		}
	case stateFailed:
		if t != TypeRunStarted {
			return errors.New("the run has failed")
		}
	}
	return nil
}

// step checks e against what is open and takes it into account.
func (v *Verifier) step(e Event) error {
	switch e := e.(type) {
	case *RunStarted:
		return v.runStarted(e)
	case *RunFinished:
		return v.runFinished(e)
	case *RunError:
		v.state = stateFailed
		return nil
	}
	return v.apply(e, v.version)
}

func (v *Verifier) runStarted(e *RunStarted) error {
	if v.thread != "" && v.thread != e.ThreadID {
		return fmt.Errorf("thread %q in a stream of thread %q", e.ThreadID, v.thread)
	}
	v.reset()
	v.state, v.thread, v.run = stateRunning, e.ThreadID, e.RunID
	if e.Input != nil {
		v.history(e.Input.Messages, false)
	}
	return nil
}

func (v *Verifier) runFinished(e *RunFinished) error {
	if e.ThreadID != v.thread || e.RunID != v.run {
		return fmt.Errorf("its run %q of thread %q is not the open one, %q of %q", e.RunID, e.ThreadID, v.run, v.thread)
	}
	names := [entities]string{entText: "text message", entReasoning: "reasoning message", entSpan: "reasoning span", entToolCall: "tool call", entSubagent: "sub-agent"}
	for k, open := range v.open {
		if v.version == V0 && (entity(k) == entReasoning || entity(k) == entSpan) {
			continue
		}
		for id := range open {
			return fmt.Errorf("%s %q is still open", names[k], id)
		}
	}
	for key := range v.steps {
		return fmt.Errorf("step %q is still open", key.name)
	}
	v.state = stateFinished
	return nil
}
