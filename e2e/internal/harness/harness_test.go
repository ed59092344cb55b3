package harness_test

import (
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
)

// A server is killed and stopped, and what it kept is there again.
func TestServer(t *testing.T) {
	s := harness.Start(t, harness.Flags("--verify"))
	thread := harness.ID(t, "thread")
	run := s.Run(thread, "demo", "list")
	if got := s.WaitRun(thread, run.ID); got.State != engine.RunFinished {
		t.Fatalf("%+v", got)
	}
	if events := s.Events(thread, "").Until(harness.Ended); len(events) != len(s.Log(thread)) {
		t.Errorf("the stream has %d events, the log %d", len(events), len(s.Log(thread)))
	}
	if last := s.LastEvent(thread); last.Type() != agui.TypeRunFinished {
		t.Errorf("the last event is %s", last.Type())
	}
	s.Kill()
	s.Restart()
	if m := s.Messages(thread); len(m.Messages) == 0 || m.OpenRun != nil {
		t.Errorf("%+v", m)
	}
	if code := s.Stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	s.Restart()
	if rounds := s.Rounds(thread); len(rounds) == 0 {
		t.Error("no rounds")
	}
}

func TestClient(t *testing.T) {
	s := harness.Start(t)
	for _, v := range []agui.Version{agui.V0, agui.V1} {
		c := s.Client(v, "demo", harness.ID(t, "thread"))
		if r := c.Say("echo hello"); !r.OK() || r.Outcome != "success" {
			t.Errorf("%s: %+v", v, r)
		}
	}
}
