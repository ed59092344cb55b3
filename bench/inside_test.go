package bench

import (
	"context"
	"strconv"

	"github.com/agentstream-go/agentstream/source"
)

// inside is an agent without a process: it answers "N" with N chunks.
type inside struct{}

func (inside) Open(context.Context, source.Options) (source.Session, error) {
	return &insideSession{}, nil
}

type insideSession struct{}

func (*insideSession) ID() string { return "" }

func (*insideSession) Run(ctx context.Context, t source.Turn) (source.StopReason, error) {
	n, _ := strconv.Atoi(t.Prompt[0].Text)
	for range n {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		t.Handler.OnMessageChunk(chunkText)
	}
	return source.EndTurn, nil
}

func (*insideSession) Close() error { return nil }
