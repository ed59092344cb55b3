package recordings_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/recordings/player"
	"github.com/agentstream-go/agentstream/e2e/recordings/recorded"
)

// session is a recorded one, as it is or changed.
type session struct {
	recorded.Session
	number int // of a damaged one
}

// recordings gives the recordings' files, or skips the test.
func recordings(t testing.TB) []string {
	t.Helper()
	dir := os.Getenv("AGENTSTREAM_TRACES")
	if dir == "" {
		t.Skip("AGENTSTREAM_TRACES names no folder of recordings")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	return files
}

// rename makes the agent one that nobody has heard of.
func (s *session) rename() *session {
	out := *s
	out.Steps = slices.Clone(s.Steps)
	for i, st := range out.Steps {
		var m map[string]any
		if st.Do != player.Answer || json.Unmarshal([]byte(st.Line), &m) != nil {
			continue
		}
		result, _ := m["result"].(map[string]any)
		if info, ok := result["agentInfo"].(map[string]any); ok {
			info["name"], info["title"] = "nobody-knows", "Nobody Knows"
			line, err := json.Marshal(m)
			if err != nil {
				panic(err) // it was JSON a moment ago
			}
			out.Steps[i].Line = string(line)
		}
	}
	return &out
}

// write leaves the script where the player looks for it.
func (s *session) write(t testing.TB, dir string) {
	t.Helper()
	if err := player.Write(dir, s.Steps); err != nil {
		t.Fatal(err)
	}
}
