package round

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/internal/aguitest"
)

// TestRealClients gives random turns to both published clients: what they hold
// at the end is what the Builder's calls describe, and they print no warning.
func TestRealClients(t *testing.T) {
	clients := aguitest.Clients(t)
	first := seed(t)
	for i := range uint64(300) {
		script := randomScript(first*9_000_000+i, 10+int(i%60))
		s := newStage(t)
		s.play(script)
		s.close([]string{"", "cancelled"}[i%2])
		var events [][]byte
		for _, f := range s.frames {
			events = append(events, []byte(f))
		}
		for _, v := range []agui.Version{agui.V0, agui.V1} {
			r := clients.Replay(v, events...)
			if !r.OK() {
				t.Errorf("client %s: %s %v", v, r.Error, r.Warnings)
			}
			if diff := cmp.Diff(parsed(t, s.driven.AppendJSON(nil)), parsed(t, r.Messages)); diff != "" {
				t.Errorf("client %s holds something else (-described +held):\n%s", v, diff)
			}
		}
		if t.Failed() {
			t.Fatalf("thread %d:\n%s", i, show(script))
		}
	}
}

func parsed(t testing.TB, data []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}
