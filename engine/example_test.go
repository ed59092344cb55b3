package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/source"
)

// parrot is a source whose agent repeats what it is told.
type parrot struct{}

func (parrot) Open(context.Context, source.Options) (source.Session, error) { return parrot{}, nil }
func (parrot) ID() string                                                   { return "parrot" }
func (parrot) Close() error                                                 { return nil }

func (parrot) Run(_ context.Context, t source.Turn) (source.StopReason, error) {
	for _, p := range t.Prompt {
		t.Handler.OnMessageChunk(p.Text)
	}
	return source.EndTurn, nil
}

func ExampleNew() {
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	store, err := sqlite.Open(filepath.Join(dir, "log.db"), sqlite.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	ctx := context.Background()
	e, err := engine.New(ctx, engine.Options{
		Log:    store,
		Agents: []engine.Agent{{Name: "parrot", Source: parrot{}}},
		Cwd:    dir,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer e.Close(ctx)

	started, err := e.Start(ctx, engine.StartRequest{Agent: "parrot", Input: agui.Input{
		ThreadID: "thread", RunID: "run",
		Messages: []agui.Message{{ID: "m1", Role: agui.RoleUser, Content: agui.StringContent("Hello!")}},
	}})
	if err != nil {
		log.Fatal(err)
	}
	for frame, err := range e.Join(ctx, engine.JoinRequest{Thread: "thread", Started: &started}) {
		if err != nil {
			log.Fatal(err)
		}
		event, err := agui.Decode(frame.Data)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Type(), frame.Terminal)
	}
	run, err := e.Run(ctx, "thread", "run")
	fmt.Println(run.State, run.StopReason, err)
	// Output:
	// RUN_STARTED false
	// TEXT_MESSAGE_START false
	// TEXT_MESSAGE_CONTENT false
	// TEXT_MESSAGE_END false
	// RUN_FINISHED true
	// finished end_turn <nil>
}
