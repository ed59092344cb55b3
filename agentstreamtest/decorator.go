package agentstreamtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
)

// TestDecorator checks that a wrapper passes on every kind of event, in order
// and unchanged, to targets that take rich events by Forward, by methods of their
// own or not at all, and that it reports what its target reports (H5). Wrap
// returns the wrapper around a target.
func TestDecorator(t *testing.T, wrap func(agentstream.StreamHandler) agentstream.StreamHandler) {
	t.Run("to a forwarder", func(t *testing.T) { toForwarder(t, wrap) })
	t.Run("to methods", func(t *testing.T) { toMethods(t, wrap) })
	t.Run("to a forwarder that refuses", func(t *testing.T) { toRefusing(t, wrap) })
}

// reporter is what the checks need of a test.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

type wrapper = func(agentstream.StreamHandler) agentstream.StreamHandler

func toForwarder(t reporter, wrap wrapper) {
	target := &Recorder{}
	if lost := Samples().Play(wrap(target)); lost != nil {
		t.Errorf("nobody took %s", Script(lost))
	}
	compare(t, Samples(), target.Events())
}

func toMethods(t reporter, wrap wrapper) {
	target := &planned{}
	lost := Samples().Play(wrap(target))
	var want, wantLost Script
	for _, e := range Samples() {
		if _, ok := e.(agentstream.Plan); ok || isCore(e) {
			want = append(want, e)
		} else {
			wantLost = append(wantLost, e)
		}
	}
	compare(t, want, target.record.Events())
	compare(t, wantLost, lost)
}

func toRefusing(t reporter, wrap wrapper) {
	target := &refusing{}
	lost := Samples().Play(wrap(target))
	compare(t, Samples(), target.record.Events())
	var want Script
	for _, e := range Samples() {
		if !isCore(e) {
			want = append(want, e)
		}
	}
	compare(t, want, lost)
}

func compare(t reporter, want, got Script) {
	t.Helper()
	if diff := cmp.Diff([]agentstream.Event(want), []agentstream.Event(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// six has the six methods and hides the Forward of its recorder.
type six struct{ record Recorder }

func (s *six) OnMessageChunk(text string)  { s.record.OnMessageChunk(text) }
func (s *six) OnThoughtChunk(text string)  { s.record.OnThoughtChunk(text) }
func (s *six) OnToolCall(id, title string) { s.record.OnToolCall(id, title) }
func (s *six) OnTokenUsage(total int)      { s.record.OnTokenUsage(total) }
func (s *six) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	s.record.OnToolCallUpdate(id, content, status)
}
func (s *six) OnToolCallArgsSnapshot(id, args string) { s.record.OnToolCallArgsSnapshot(id, args) }

type planned struct{ six }

func (p *planned) OnPlan(e agentstream.Plan) { p.record.add(e) }

type refusing struct{ six }

func (r *refusing) Forward(e agentstream.Event) bool {
	r.record.add(e)
	return false
}

func isCore(e agentstream.Event) bool { return agentstream.Send(&six{}, e) }
