// Package browser drives a headless Chromium for tests, over the pipe of its
// DevTools protocol: no driver, no port, no module.
package browser

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// patience is how long a condition may take on a loaded machine.
const patience = 2 * time.Minute

// Browser is a running Chromium with a profile of its own. Its methods may be
// called from several goroutines.
type Browser struct {
	t   testing.TB
	cmd *exec.Cmd
	in  io.Writer

	mu      sync.Mutex
	next    int
	waiting map[int]chan reply
	pages   map[string]*Page // by session
	dead    error
}

type reply struct {
	ID        int             `json:"id"`
	SessionID string          `json:"sessionId"`
	Method    string          `json:"method"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct{ Message string }
}

// Start starts the browser, which ends with the test. Without Chromium the test
// is skipped.
func Start(t testing.TB) *Browser {
	t.Helper()
	path := ""
	for _, name := range []string{os.Getenv("AGENTSTREAM_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil && path == "" {
			path = p
		}
	}
	if path == "" {
		t.Skip("chromium is not installed (apt-get install chromium)")
	}
	profile, err := os.MkdirTemp("", "agentstream-browser-")
	if err != nil {
		t.Fatal(err)
	}
	b := &Browser{t: t, waiting: map[int]chan reply{}, pages: map[string]*Page{}}
	b.cmd = exec.Command(path, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--mute-audio", "--force-color-profile=srgb",
		"--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	toR, toW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromR, fromW, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	b.in = toW
	b.cmd.ExtraFiles = []*os.File{toR, fromW} // 3 and 4, where Chromium expects them
	if err := b.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = toR.Close(), fromW.Close()
	read := make(chan struct{})
	go func() {
		b.read(fromR)
		close(read)
	}()
	t.Cleanup(func() {
		_ = b.call("", "Browser.close", nil, nil)
		_ = toW.Close()
		stop := time.AfterFunc(10*time.Second, func() { _ = b.cmd.Process.Kill() })
		_ = b.cmd.Wait()
		stop.Stop()
		_ = fromR.Close()
		<-read
		_ = os.RemoveAll(profile)
	})
	return b
}

func (b *Browser) read(from io.Reader) {
	r := bufio.NewReaderSize(from, 1<<20)
	for {
		data, err := r.ReadBytes(0)
		if err != nil {
			b.fail(fmt.Errorf("browser: %w", err))
			return
		}
		var m reply
		if json.Unmarshal(bytes.TrimSuffix(data, []byte{0}), &m) != nil {
			continue
		}
		b.mu.Lock()
		if p := b.pages[m.SessionID]; p != nil && m.ID == 0 {
			p.happened(m)
		}
		ch := b.waiting[m.ID]
		delete(b.waiting, m.ID)
		b.mu.Unlock()
		if ch != nil {
			ch <- m
		}
	}
}

func (b *Browser) fail(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.dead = err
	for id, ch := range b.waiting {
		delete(b.waiting, id)
		ch <- reply{Error: &struct{ Message string }{err.Error()}}
	}
}

// call makes a call of the protocol.
func (b *Browser) call(session, method string, params map[string]any, result any) error {
	ch := make(chan reply, 1)
	b.mu.Lock()
	if b.dead != nil {
		defer b.mu.Unlock()
		return b.dead
	}
	b.next++
	b.waiting[b.next] = ch
	m := map[string]any{"id": b.next, "method": method}
	if session != "" {
		m["sessionId"] = session
	}
	if params != nil {
		m["params"] = params
	}
	data, err := json.Marshal(m)
	if err == nil {
		_, err = b.in.Write(append(data, 0))
	}
	b.mu.Unlock()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case r := <-ch:
		if r.Error != nil {
			return errors.New(method + ": " + r.Error.Message)
		}
		if result == nil {
			return nil
		}
		return json.Unmarshal(r.Result, result)
	case <-ctx.Done():
		return errors.New(method + ": no answer")
	}
}
