package demoagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"
)

// message is any JSON-RPC message: a request has method and id, a notification
// no id, an answer no method.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *rpcError       `json:"error"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

// The error codes of JSON-RPC and ACP that the agent uses.
const (
	codeParse     = -32700
	codeInvalid   = -32600
	codeNoMethod  = -32601
	codeParams    = -32602
	codeInternal  = -32603
	codeAuth      = -32000
	codeNotFound  = -32002
	codeCancelled = -32800
)

// conn writes messages and matches answers with the agent's own requests. It
// is safe for concurrent calls.
type conn struct {
	lost func(error) // called once when stdout cannot be written

	mu      sync.Mutex
	out     io.Writer
	closed  bool
	last    int
	waiting map[int]chan message
}

func newConn(out io.Writer, lost func(error)) *conn {
	return &conn{out: out, lost: lost, waiting: map[int]chan message{}}
}

// close lets nothing more out.
func (c *conn) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

func (c *conn) write(v any) {
	var line bytes.Buffer
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("demoagent: " + err.Error()) // values are made here, from strings and maps
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	if _, err := c.out.Write(line.Bytes()); err != nil {
		c.closed = true
		c.lost(err)
	}
}

func (c *conn) notify(method string, params any) {
	c.write(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

func (c *conn) answer(id json.RawMessage, result any, err error) {
	m := map[string]any{"jsonrpc": "2.0", "id": id}
	if err != nil {
		var e *rpcError
		if !errors.As(err, &e) {
			e = &rpcError{Code: codeInternal, Message: err.Error()}
		}
		m["error"] = e
	} else {
		m["result"] = result
	}
	c.write(m)
}

// ask sends a request to the client at once; wait gives its answer, or the
// end of ctx, and is to be called once.
func (c *conn) ask(method string, params any) (wait func(ctx context.Context) (json.RawMessage, error)) {
	answers := make(chan message, 1)
	c.mu.Lock()
	c.last++
	id := c.last
	c.waiting[id] = answers
	c.mu.Unlock()
	c.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return func(ctx context.Context) (json.RawMessage, error) {
		select {
		case m := <-answers:
			if m.Error != nil {
				return nil, m.Error
			}
			return m.Result, nil
		case <-ctx.Done():
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.waiting, id)
			return nil, ctx.Err()
		}
	}
}

// answered gives an answer of the client to whoever waits for it.
func (c *conn) answered(m message) {
	var id int
	if json.Unmarshal(m.ID, &id) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if ch := c.waiting[id]; ch != nil {
		delete(c.waiting, id)
		ch <- m
	}
}
