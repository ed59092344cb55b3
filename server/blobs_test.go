package server_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/server"
	"github.com/agentstream-go/agentstream/source"
)

// hoarder calls one tool, whose result has media of these types.
type hoarder struct{ types []string }

func (h hoarder) Open(context.Context, source.Options) (source.Session, error) { return h, nil }
func (hoarder) ID() string                                                     { return "" }
func (hoarder) Close() error                                                   { return nil }
func (h hoarder) Run(_ context.Context, t source.Turn) (source.StopReason, error) {
	t.Handler.OnToolCall("c", "hoard")
	for _, kind := range h.types {
		agentstream.Send(t.Handler, agentstream.Media{ID: "c", MIMEType: kind, Data: base64.StdEncoding.EncodeToString(hoard(kind))})
	}
	t.Handler.OnToolCallUpdate("c", string(hoard("text/plain")), agentstream.ToolCallStatusCompleted)
	return source.EndTurn, nil
}

func hoard(kind string) []byte { return bytes.Repeat([]byte(kind+"\n"), 16<<10) }

func TestBlobs(t *testing.T) {
	types := map[string]string{ // what they are sent as
		"text/plain": "text/plain; charset=utf-8", "image/png": "image/png", "audio/wav": "audio/wav",
		"image/svg+xml": "application/octet-stream", "text/html": "application/octet-stream",
		"text/markdown; charset=x": "text/plain; charset=utf-8", "": "application/octet-stream", "a\r\nb": "application/octet-stream",
	}
	var agent hoarder
	for kind := range types {
		if kind != "text/plain" && kind != "" {
			agent.types = append(agent.types, kind)
		}
	}
	delete(types, "")
	ts := worldOf(t, server.Options{Verify: true}, engine.Agent{Name: "hoarder", Source: agent})
	if status, doc, _ := ask(t, "POST", ts.URL+"/v1/threads/t/runs", "application/json", `{"agent":"hoarder","input":"x","runId":"r"}`); status != 202 {
		t.Fatalf("%d %v", status, doc)
	}
	resp, err := http.Get(ts.URL + "/agui/hoarder?threadId=t&prelude=replay")
	if err != nil {
		t.Fatal(err)
	}
	stream, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || len(stream) > 100<<10 {
		t.Errorf("the stream has %d bytes, %v", len(stream), err)
	}
	for kind, as := range types {
		whole := hoard(kind)
		sum := sha256.Sum256(whole)
		hash := hex.EncodeToString(sum[:])
		if !strings.Contains(string(stream), hash) {
			t.Errorf("%q: the stream does not name %s", kind, hash)
		}
		address := ts.URL + "/v1/blobs/" + hash
		status, h, body := get(t, "GET", address, nil)
		if status != 200 || !bytes.Equal(body, whole) {
			t.Errorf("%q: %d, %d bytes", kind, status, len(body))
		}
		inline := strings.HasPrefix(as, "text/") || strings.HasPrefix(as, "image/")
		if got := h.Get("Content-Disposition"); h.Get("Content-Type") != as || (got == "attachment") == inline {
			t.Errorf("%q is sent as %q, %q", kind, h.Get("Content-Type"), got)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
			"Cache-Control": "private, max-age=31536000, immutable", "ETag": `"` + hash + `"`,
		} {
			if h.Get(name) != want {
				t.Errorf("%q: %s is %q", kind, name, h.Get(name))
			}
		}
		if status, h, body := get(t, "GET", address, http.Header{"Range": {"bytes=5-14"}}); status != 206 || !bytes.Equal(body, whole[5:15]) || h.Get("Content-Range") == "" {
			t.Errorf("%q: a range: %d %q", kind, status, body)
		}
		if status, h, body := get(t, "HEAD", address, nil); status != 200 || len(body) != 0 || h.Get("Content-Length") == "" {
			t.Errorf("%q: HEAD: %d, %d bytes", kind, status, len(body))
		}
		if status, _, _ := get(t, "GET", address, http.Header{"If-None-Match": {h.Get("ETag")}}); status != 304 {
			t.Errorf("%q: known already: %d", kind, status)
		}
	}
	for _, hash := range []string{strings.Repeat("0", 64), "x", "..%2f..%2fetc%2fpasswd", strings.Repeat("A", 64)} {
		if status, doc, h := ask(t, "GET", ts.URL+"/v1/blobs/"+hash, "", ""); status != 404 || doc["code"] != "blob_unknown" || h.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v", hash, status, doc)
		}
	}
}

func get(t *testing.T, method, address string, header http.Header) (int, http.Header, []byte) {
	t.Helper()
	req, err := http.NewRequest(method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, data
}
