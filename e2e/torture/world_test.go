package torture_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// patience is how long something that must happen is waited for.
const patience = 3 * time.Minute

// world is what clients know of the server: where it is, while it is there.
type world struct {
	heard atomic.Int64 // events that have reached anybody
	begun atomic.Int64 // runs that were asked for

	folder  string // below it each thread has one
	several bool   // engines are there: one that does not know yet that it lost a thread may refuse it

	plain, tight *http.Client // tight has small buffers, so that who stalls holds the server up

	mu      sync.Mutex
	there   chan struct{} // closed while a server listens
	url     string
	token   string
	samples []sampled
}

func newWorld(folder string) *world {
	small := &net.Dialer{}
	return &world{
		folder: folder,
		there:  make(chan struct{}),
		plain:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}},
		tight: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, ReadBufferSize: 1024,
			DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := small.DialContext(ctx, network, address)
				if tcp, ok := c.(*net.TCPConn); ok {
					_ = tcp.SetReadBuffer(4096)
				}
				return c, err
			}}},
	}
}

// open says where the server is.
func (w *world) open(url, token string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.url, w.token = url, token
	close(w.there)
}

// shut says that it is going to be gone.
func (w *world) shut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.there = make(chan struct{})
}

func (w *world) close() {
	w.plain.CloseIdleConnections()
	w.tight.CloseIdleConnections()
}

// where waits for a server.
func (w *world) where(ctx context.Context) (url, token string, err error) {
	for {
		w.mu.Lock()
		url, token, there := w.url, w.token, w.there
		w.mu.Unlock()
		select {
		case <-there:
			return url, token, nil
		case <-ctx.Done():
			return "", "", context.Cause(ctx)
		}
	}
}

// pause lets a moment pass before something is tried again.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// send makes one request. Its answer's body is the caller's to close.
func (w *world) send(ctx context.Context, client *http.Client, method, path string, body any, headers ...string) (*http.Response, error) {
	url, token, err := w.where(ctx)
	if err != nil {
		return nil, err
	}
	var data io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		data = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, url+path, data)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	return client.Do(req)
}

// answer is one that is not a stream.
type answer struct {
	status int
	code   string // of a problem
	body   []byte
}

// ask makes a request until a server that is not about to stop answers it.
func (w *world) ask(ctx context.Context, method, path string, body any) (a answer, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%s %s is not answered", method, path))
	defer cancel()
	for {
		a, err = w.try(ctx, method, path, body)
		if err == nil && a.status != http.StatusServiceUnavailable && a.status != http.StatusTooManyRequests && !(w.several && (a.code == "run_active" || a.code == "interrupted")) {
			return a, nil
		}
		if end := pause(ctx, 20*time.Millisecond); end != nil {
			return a, fmt.Errorf("%w: %d %s %w", end, a.status, a.body, errors.Join(err))
		}
	}
}

func (w *world) try(ctx context.Context, method, path string, body any) (a answer, err error) {
	resp, err := w.send(ctx, w.plain, method, path, body)
	if err != nil {
		return a, err
	}
	defer func() { _ = resp.Body.Close() }()
	a.status = resp.StatusCode
	if a.body, err = io.ReadAll(resp.Body); err == nil && a.status >= 400 {
		var p struct{ Code string }
		_ = json.Unmarshal(a.body, &p)
		a.code = p.Code
	}
	return a, err
}

// get reads JSON into out.
func (w *world) get(ctx context.Context, path string, out any) error {
	a, err := w.ask(ctx, "GET", path, nil)
	if err == nil && a.status != http.StatusOK {
		err = a.bad("GET " + path)
	}
	if err == nil {
		err = json.Unmarshal(a.body, out)
	}
	return err
}

func (a answer) bad(what string) error {
	return fmt.Errorf("%s: %d %.500s", what, a.status, a.body)
}
