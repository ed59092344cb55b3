package doctor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
)

// An agent that says nothing more has its turn ended, if the configuration says
// so.
func TestSilenceEndsATurn(t *testing.T) {
	config := fmt.Sprintf("agents:\n  quiet: {command: [%q, acp-demo], env: {AGENTSTREAM_DEMO_PACE: '0'}, turn_silence_timeout: 3s}\n", harness.Binary(t))
	s := harness.Start(t, harness.Config(config))
	thread := harness.ID(t, "thread")
	run := s.WaitRun(thread, s.Run(thread, "quiet", "wait 600").ID)
	if run.State != engine.RunFailed || run.Error == nil || run.Error.Code != "timeout" || !strings.Contains(run.Error.Message, "said nothing") {
		t.Errorf("%+v %+v", run, run.Error)
	}
}
