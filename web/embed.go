// Package web is the page, as its build made it: the sources beside this file
// become dist, which is committed and embedded, so that the binary needs no Node.
package web

import (
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
)

// In dist a file that compresses well stands compressed only, as NAME.br and
// NAME.gz: most readers take one of the two as it is, and the binary stays small.
//
//go:embed all:dist
var dist embed.FS

// Serve answers with a file of the page, named by its path below the page's root,
// in the smallest encoding that the client takes. It sets what caches need and no
// other header. It reports false, with nothing written, if there is no such file.
// It may be called concurrently.
func Serve(w http.ResponseWriter, r *http.Request, name string) bool {
	return serve(dist, w, r, path.Join("dist", path.Clean("/"+name)))
}

func serve(files fs.FS, w http.ResponseWriter, r *http.Request, name string) bool {
	data, encoding, err := find(files, name, r.Header.Get("Accept-Encoding"))
	if err != nil {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", contentType(name))
	h.Add("Vary", "Accept-Encoding")
	if encoding != "" {
		h.Set("Content-Encoding", encoding)
	}
	if path.Dir(name) == "dist/assets" { // the name has a hash of what is in it
		h.Set("Cache-Control", "private, max-age=31536000, immutable")
	} else {
		h.Set("Cache-Control", "no-cache")
	}
	sum := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(sum[:12]) + `"`
	h.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return true
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(data)
	}
	return true
}

// find gives a file as it is to be sent.
func find(files fs.FS, name, accept string) (data []byte, encoding string, err error) {
	for _, e := range []struct{ suffix, name string }{{".br", "br"}, {".gz", "gzip"}} {
		if accepts(accept, e.name) {
			if data, err = fs.ReadFile(files, name+e.suffix); err == nil {
				return data, e.name, nil
			}
		}
	}
	if data, err = fs.ReadFile(files, name); err == nil {
		return data, "", nil
	}
	f, err := files.Open(name + ".gz")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, "", err
	}
	data, err = io.ReadAll(z)
	return data, "", err
}

// accepts reads a field of Accept-Encoding; what is not named is not taken.
func accepts(field, encoding string) bool {
	for one := range strings.SplitSeq(field, ",") {
		name, weight, _ := strings.Cut(one, ";")
		if strings.EqualFold(strings.TrimSpace(name), encoding) {
			q, err := strconv.ParseFloat(strings.TrimPrefix(strings.TrimSpace(weight), "q="), 64)
			return err != nil || q > 0
		}
	}
	return false
}

// contentType does not ask the machine for what every browser has to be told.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".webmanifest":
		return "application/manifest+json"
	}
	if t := mime.TypeByExtension(path.Ext(name)); t != "" {
		return t
	}
	return "application/octet-stream"
}
