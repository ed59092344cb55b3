package e2e_test

import (
	"context"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// A second tab that loaded the list follows by GET from the list's cursor: it
// sees the question and the answer of the turn that the first tab starts.
func TestSecondTabFollows(t *testing.T) {
	s := harness.Start(t, harness.Flags("--verify"))
	for _, v := range aguitest.Versions {
		t.Run(string(v), func(t *testing.T) {
			first := s.Client(v, "demo", harness.ID(t, "thread"))
			if r := first.Say("think, list"); !r.OK() {
				t.Fatalf("%+v", r)
			}
			loaded := s.Messages(first.Thread)
			second := s.Client(v, "demo", first.Thread)
			follow := second.AttachCall(loaded.Cursor, "&follow=1")
			follow.Messages = loaded.Messages
			done := make(chan aguitest.Report, 1)
			go func() { done <- second.Run(follow) }()

			r := first.Say("parallel, then late and emoji")
			checkClient(t, s, first, r)
			ctx, cancel := context.WithTimeout(t.Context(), harness.Patience)
			defer cancel()
			if err := second.Driver().Wait(ctx, second.Key(), agui.TypeRunFinished, 1); err != nil {
				t.Fatal(err)
			}
			if err := second.Driver().Detach(ctx, second.Key()); err != nil {
				t.Fatal(err)
			}
			checkClient(t, s, second, <-done)
		})
	}
}

// Whoever comes without a cursor gets a prelude, and holds the same in the end.
func TestThirdTabJoinsWithoutACursor(t *testing.T) {
	s := harness.Start(t, harness.Flags("--verify"), harness.Env("AGENTSTREAM_DEMO_PACE=200"))
	for _, v := range aguitest.Versions {
		for _, prelude := range []string{"replay", "snapshot"} {
			t.Run(string(v)+"/"+prelude, func(t *testing.T) {
				first := s.Client(v, "demo", harness.ID(t, "thread"))
				if r := first.Say("think, list"); !r.OK() {
					t.Fatalf("%+v", r)
				}
				before := s.LastEvent(first.Thread).ID
				done := make(chan aguitest.Report, 1)
				go func() { done <- first.Say("parallel, long 60, late") }()
				s.Events(first.Thread, before).Until(harness.Is(agui.TypeTextMessageContent))
				third := s.Client(v, "demo", first.Thread)
				r := third.Attach("", "&prelude="+prelude)
				checkClient(t, s, first, <-done)
				checkClient(t, s, third, r)
			})
		}
	}
}
