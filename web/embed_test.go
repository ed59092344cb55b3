package web

import (
	"bytes"
	"compress/gzip"
	"net/http/httptest"
	"testing"
	"testing/fstest"
)

func zipped(t *testing.T, text string) *fstest.MapFile {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b.Bytes()}
}

func TestServe(t *testing.T) {
	files := fstest.MapFS{
		"dist/index.html":       {Data: []byte("<p>")},
		"dist/assets/a.js.br":   {Data: []byte("brotli")},
		"dist/assets/a.js.gz":   zipped(t, "script"),
		"dist/assets/p.png":     {Data: []byte("png")},
		"dist/assets/bad.js.gz": {Data: []byte("none")},
	}
	for _, x := range []struct{ name, accept, encoding, kind, cache, body string }{
		{"dist/index.html", "gzip, br", "", "text/html; charset=utf-8", "no-cache", "<p>"},
		{"dist/assets/a.js", "gzip, deflate, br, zstd", "br", "text/javascript; charset=utf-8", "private, max-age=31536000, immutable", "brotli"},
		{"dist/assets/a.js", "gzip;q=1, br;q=0", "gzip", "text/javascript; charset=utf-8", "private, max-age=31536000, immutable", string(files["dist/assets/a.js.gz"].Data)},
		{"dist/assets/a.js", "", "", "text/javascript; charset=utf-8", "private, max-age=31536000, immutable", "script"},
		{"dist/assets/a.js", "br;q=0, gzip;q=0.0, identity", "", "text/javascript; charset=utf-8", "private, max-age=31536000, immutable", "script"},
		{"dist/assets/p.png", "br", "", "image/png", "private, max-age=31536000, immutable", "png"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", x.accept)
		w := httptest.NewRecorder()
		if !serve(files, w, r, x.name) {
			t.Fatalf("%s is not there", x.name)
		}
		h := w.Header()
		if w.Body.String() != x.body || h.Get("Content-Encoding") != x.encoding || h.Get("Content-Type") != x.kind || h.Get("Cache-Control") != x.cache || h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s for %q: %q %v", x.name, x.accept, w.Body, h)
		}
		again := httptest.NewRecorder()
		r.Header.Set("If-None-Match", `"x", `+h.Get("ETag"))
		if serve(files, again, r, x.name); again.Code != 304 || again.Body.Len() > 0 {
			t.Errorf("%s again: %d, %d bytes", x.name, again.Code, again.Body.Len())
		}
	}
	for _, name := range []string{"dist/none", "dist/assets", "dist/assets/bad.js"} {
		if w := httptest.NewRecorder(); serve(files, w, httptest.NewRequest("GET", "/", nil), name) || len(w.Header()) > 0 {
			t.Errorf("%s is there", name)
		}
	}
}

// What is asked for stays inside.
func TestServeStaysInside(t *testing.T) {
	for _, name := range []string{"../embed.go", "assets/../../embed.go", "/../../etc/passwd", ""} {
		if Serve(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil), name) {
			t.Errorf("%q is served", name)
		}
	}
}
