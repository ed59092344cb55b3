package engine

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/source"
)

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, newMemlog(), map[string]script{"hello": say("Hi ", "there.")})
		defer w.close()
		s := w.start("t1", "r1", "hello")
		want := []string{"started", "text_message_start", "text Hi there.", "text_message_end", `finished {"stopReason":"end_turn"}`}
		if diff := cmp.Diff(want, w.stream(s)); diff != "" {
			t.Error(diff)
		}
		run := w.settled("t1", "r1")
		if run.State != RunFinished || run.StopReason != source.EndTurn || run.From == "" || run.To <= run.From {
			t.Errorf("run: %+v", run)
		}
		m, err := w.Messages(context.Background(), "t1", 0, "")
		if err != nil || len(m.Messages) != 2 || m.Messages[1].Text() != "Hi there." || m.OpenRun != nil || m.Cursor != run.To {
			t.Errorf("messages: %+v, %v", m, err)
		}
		rounds, at, err := w.Rounds(context.Background(), "t1")
		if err != nil || len(rounds) != 1 || at.String() != run.To || rounds[0].Input[0].Text() != "hello" || rounds[0].Messages[0].Content != "Hi there." {
			t.Errorf("rounds: %+v, %v", rounds, err)
		}
		th, err := w.Thread(context.Background(), "t1")
		if err != nil || th.Title != "hello" || th.State != "idle" || th.LastRun.ID != "r1" || th.Agent != "fake" {
			t.Errorf("thread: %+v, %v", th, err)
		}
	})
}
