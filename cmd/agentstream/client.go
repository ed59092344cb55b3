package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/server"
)

// client speaks to a server: a running one, or one in this process on a data
// folder that nobody else uses. Every command that reads or acts goes through
// it, so that there is one way for both.
type client struct {
	base  string
	token string
	as    string // who acts, for the record of approvals
	local bool   // the server is in this process and ends with it
	http  *http.Client
	close func() error
}

// target is how a command finds its server.
type target struct {
	setup
	server, token string
	policy        engine.Policy // of a local engine
}

func (t *target) flags(c *cobra.Command) {
	t.setup.flags(c)
	c.Flags().StringVar(&t.server, "server", "", "address of a running server (default: the data folder's, if it answers)")
	c.Flags().StringVar(&t.token, "token", "", "the server's token (default: the data folder's)")
}

// connect finds the server that was asked for, or the folder's, or opens the
// folder here if local allows it.
func (t *target) connect(c *cobra.Command, local bool) (*client, error) {
	ctx := c.Context()
	if at := first(t.server, os.Getenv("AGENTSTREAM_SERVER")); at != "" {
		token := first(t.token, os.Getenv("AGENTSTREAM_TOKEN"))
		if token == "" {
			data, _ := os.ReadFile(folder(t.data).path("token"))
			token = strings.TrimSpace(string(data))
		}
		r := remote(at, token)
		if err := r.ping(ctx); err != nil {
			return nil, &exitError{code: exitFailed, err: fmt.Errorf("no server answers at %s: %w; start one with 'agentstream serve'", at, err)}
		}
		return r, nil
	}
	f, err := openFolder(t.data)
	if err != nil {
		return nil, &exitError{code: exitFailed, err: err}
	}
	if r := t.running(ctx, f); r != nil {
		return r, nil
	}
	if !local {
		return nil, &exitError{code: exitFailed, err: fmt.Errorf("no server runs on the data folder %s; start one with 'agentstream serve', or name one with --server", f)}
	}
	if err := t.load(c); err != nil {
		return nil, err
	}
	lock, r, err := t.lockOrJoin(ctx, c, f)
	if err != nil {
		return nil, &exitError{code: exitFailed, err: err}
	}
	if r != nil {
		return r, nil
	}
	m, err := t.open(ctx, f, lock, t.policy, c.ErrOrStderr())
	if err != nil {
		_ = lock.Close()
		return nil, &exitError{code: exitFailed, err: err}
	}
	return inProcess(m), nil
}

func (t *target) running(ctx context.Context, f folder) *client {
	info, ok := f.announced()
	if !ok {
		return nil
	}
	token := first(t.token, os.Getenv("AGENTSTREAM_TOKEN"))
	if token == "" {
		token, _ = f.token()
	}
	if r := remote(info.URL, token); r.ping(ctx) == nil {
		return r
	}
	return nil
}

// lockOrJoin waits for the folder, or for the server that holds it to answer.
func (t *target) lockOrJoin(ctx context.Context, c *cobra.Command, f folder) (*os.File, *client, error) {
	told := false
	for {
		lock, err := f.lock()
		if !errors.Is(err, errLocked) {
			return lock, nil, err
		}
		if r := t.running(ctx, f); r != nil {
			return nil, r, nil
		}
		if !told {
			fmt.Fprintf(c.ErrOrStderr(), "agentstream: waiting for another agentstream that uses %s\n", f)
			told = true
		}
		select {
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func remote(base, token string) *client {
	return &client{base: strings.TrimRight(base, "/"), token: token, as: "cli", http: &http.Client{}, close: func() error { return nil }}
}

// inProcess serves a folder to this process alone, over pipes in memory.
func inProcess(m *machinery) *client {
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	srv := &http.Server{Handler: server.New(m.engine, &server.Options{NoAuth: true, Version: version})}
	go func() { _ = srv.Serve(l) }()
	tr := &http.Transport{DialContext: l.dial}
	return &client{
		base: "http://localhost", as: "cli", local: true, http: &http.Client{Transport: tr},
		close: func() error {
			err := m.close(context.Background())
			_ = srv.Close()
			tr.CloseIdleConnections()
			return err
		},
	}
}

// pipes is a listener without a network.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	select {
	case <-p.done:
	default:
		close(p.done)
	}
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "unix"} }

// apiError is a problem document.
type apiError struct {
	Status int
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Run    string `json:"run"`
}

func (e *apiError) Error() string { return first(e.Detail, e.Code, http.StatusText(e.Status)) }

func (c *client) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return c.call(ctx, "GET", "/healthz", nil, nil)
}

// do sends a request. The caller closes the body.
func (c *client) do(ctx context.Context, method, path, accept string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.token)
	}
	req.Header.Set("X-Agentstream-User", c.as)
	req.Header.Set("Accept", accept)
	resp, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return nil, err
	}
	if resp.StatusCode >= 300 {
		defer func() { _ = resp.Body.Close() }()
		e := &apiError{Status: resp.StatusCode}
		data, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		_ = json.Unmarshal(data, e)
		if e.Status == http.StatusUnauthorized {
			e.Detail = "the server does not take this token; give the one that it was started with by --token or AGENTSTREAM_TOKEN"
		}
		return nil, e
	}
	return resp, nil
}

func (c *client) call(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.do(ctx, method, path, "application/json", in)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if out == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

func threadPath(thread string) string { return "/v1/threads/" + url.PathEscape(thread) }
