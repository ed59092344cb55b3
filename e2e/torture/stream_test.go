package torture_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"

	"github.com/agentstream-go/agentstream/internal/sse"
)

// call is one request that a stream answers.
type call struct {
	method, path string
	body         any
	after        string // Last-Event-ID
	tight        bool
	bytes        int                           // after which the reader is gone; negative: never
	stall        func(ctx context.Context)     // called once in the middle; nil: reads on
	done         func() bool                   // asked after each event; true: goes away
	until        <-chan struct{}               // looks at done then too; nil: never
	refused      func(status int, body []byte) // told of an answer that is none
}

// errEnough says that a reader went away of its own accord.
var errEnough = errors.New("enough")

// cutter is a body that breaks off.
type cutter struct {
	io.Reader
	left int
}

// Read implements io.Reader.
func (c *cutter) Read(p []byte) (int, error) {
	if c.left == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	if c.left > 0 && len(p) > c.left {
		p = p[:c.left]
	}
	n, err := c.Reader.Read(p)
	if c.left > 0 {
		c.left -= n
	}
	return n, err
}

// read reads one stream into the view. whole says that the server ended it. A
// connection that breaks off, for whatever reason, is no error; an event that
// nobody may see is.
func (v *view) read(ctx context.Context, c call) (whole bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errEnough)
	client := v.w.plain
	if c.tight {
		client = v.w.tight
	}
	headers := []string{"Accept", "text/event-stream"}
	if c.after != "" {
		headers = append(headers, "Last-Event-ID", c.after)
	}
	resp, err := v.w.send(ctx, client, c.method, c.path, c.body, headers...)
	if err != nil {
		return false, nil
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		body, err := io.ReadAll(resp.Body)
		if err == nil && resp.StatusCode != http.StatusServiceUnavailable && resp.StatusCode != http.StatusTooManyRequests {
			if c.refused == nil {
				return false, fmt.Errorf("%s: %s %s: %d %.300s", v.who, c.method, c.path, resp.StatusCode, body)
			}
			c.refused(resp.StatusCode, body)
		}
		return false, nil
	}
	if c.until != nil {
		defer v.goAway(ctx, c, cancel)()
	}
	err = v.frames(ctx, sse.NewReader(&cutter{resp.Body, c.bytes}), c)
	whole = err == io.EOF
	v.mu.Lock()
	v.cut(whole)
	v.mu.Unlock()
	if errors.As(err, new(fault)) {
		return false, err
	}
	return whole, nil
}

// fault is an event that may not be.
type fault struct{ error }

func (v *view) frames(ctx context.Context, r *sse.Reader, c call) error {
	for n := 0; ; n++ {
		if n == 3 && c.stall != nil {
			c.stall(ctx)
		}
		f, err := r.Next()
		if err != nil {
			return err
		}
		v.mu.Lock()
		err = v.take(f.ID, f.Data)
		v.mu.Unlock()
		if err != nil {
			return fault{err}
		}
		if c.done != nil && c.done() {
			return errEnough
		}
	}
}

// goAway ends the stream when it is to be looked whether there is enough, and there is.
func (v *view) goAway(ctx context.Context, c call, cancel context.CancelCauseFunc) (stop func()) {
	over := make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-c.until:
			if c.done() {
				cancel(errEnough)
			}
		case <-ctx.Done():
		}
	}()
	return func() { cancel(errEnough); <-over }
}

// where a reader is cut: nowhere, within the first bytes, or somewhere.
func cutAt(r *rand.Rand) int {
	switch r.IntN(4) {
	case 0:
		return -1
	case 1:
		return r.IntN(400)
	}
	return r.IntN(30_000)
}
