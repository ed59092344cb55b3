//go:build linux || darwin

package acp

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/internal/proc"
	"github.com/agentstream-go/agentstream/source"
	"github.com/agentstream-go/agentstream/source/sourcetest"
)

func TestGuarantees(t *testing.T) {
	mark := func(t *testing.T) string { return "acp-test-" + strings.ReplaceAll(t.Name(), "/", "-") }
	sourcetest.Run(t, sourcetest.Kit{
		Source: func(t *testing.T, s sourcetest.Script) source.Source {
			script, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return &Command{
				Argv: []string{os.Args[0]}, Env: map[string]string{scriptVariable: string(script)},
				CancelGrace: 500 * time.Millisecond, StopGrace: 500 * time.Millisecond, Mark: mark(t),
			}
		},
		Left: func(t *testing.T) []int { return proc.Find(mark(t)) },
	})
}
