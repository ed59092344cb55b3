package demoagent

import (
	"context"
	"io"
)

func run(ctx context.Context, getenv func(string) string, stdin io.Reader, stdout, stderr io.Writer) int {
	<-ctx.Done()
	return 0
}
