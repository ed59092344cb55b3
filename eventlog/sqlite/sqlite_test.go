package sqlite_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/eventlog"
	"github.com/agentstream-go/agentstream/eventlog/eventlogtest"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
)

func TestConformance(t *testing.T) {
	eventlogtest.Run(t, eventlogtest.Store{
		Open: func(dir string, now func() time.Time) (eventlog.Log, error) {
			return sqlite.Open(filepath.Join(dir, "test.db"), sqlite.Options{Now: now})
		},
		Shared: true,
	})
}
