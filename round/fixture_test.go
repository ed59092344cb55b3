package round

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/internal/fixture"
)

// TestScenarios takes the events of each scenario and compares the rounds and
// the AG-UI events. Beside events, a line may be "hold CALL", "release CALL",
// "suspend", "resume" or, as the last one, "close REASON".
func TestScenarios(t *testing.T) {
	fixture.Each(t, "testdata", "events", func(t *testing.T, f *fixture.File) {
		s := newReadableStage(t)
		reason := ""
		for _, line := range f.Lines("events") {
			do, id, _ := strings.Cut(line, " ")
			switch {
			case do == "close":
				reason = id
			case strings.HasPrefix(line, "{"):
				e, err := agentstream.ParseEvent([]byte(line))
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				s.do(step{event: e})
			default:
				s.do(step{do: do, id: id})
			}
		}
		s.close(reason)
		checkRounds(t, s.rounds)
		checkList(t, s.driven)
		f.Check(t, "rounds", readable(t, s.rounds))
		f.Check(t, "agui", strings.Join(s.frames, "\n"))
	})
}

// readable is one line a round and one a message of it, what stands in Extra
// taken out of its string.
func readable(t *testing.T, rounds []Round) string {
	t.Helper()
	var b strings.Builder
	line := func(v any) {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	for _, r := range rounds {
		line(struct {
			Run      string `json:"run"`
			Round    int    `json:"round"`
			Revision int    `json:"revision"`
			Complete bool   `json:"complete"`
		}{r.Run, r.Number, r.Revision, r.Complete})
		for _, m := range r.Messages {
			info, _ := InfoOf(m)
			bare := *m
			bare.Extra = nil
			line(struct {
				*schema.Message
				Info Info `json:"info"`
			}{&bare, info})
		}
	}
	return b.String()
}
