// Package blob takes what is large out of JSON documents and puts it back. What
// is taken out is named by its hash, so that it stands once wherever it is
// repeated; text leaves a preview behind. All of it is pure: where payloads are
// kept is the caller's.
package blob

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// Large is the size in bytes, as JSON, above which a text does not stay in its
	// place.
	Large = 64 << 10

	// Crowded is the size above which a document whose texts are all smaller
	// than Large gives away the largest of them, down to small.
	Crowded = 256 << 10

	small = 2 << 10
	head  = 4 << 10 // of a preview
)

// Ref says what was taken out of a document, and from where. Path is the JSON
// pointer of the string that had it. Encoding says how the string was made of
// the payload: "" is its text, Base64 and DataURL are what they say, and JSON is
// no string but a value whose text the payload is.
type Ref struct {
	Path     string `json:"path"`
	SHA256   string `json:"sha256"` // of the payload, 64 hex digits
	Bytes    int    `json:"bytes"`  // of the payload
	MIMEType string `json:"mimeType"`
	Encoding string `json:"encoding,omitzero"`
}

// The encodings of a Ref.
const (
	Base64  = "base64"
	DataURL = "data-url"
	JSON    = "json"
)

// Keep takes a payload that was taken out. It may be called again with the same.
type Keep func(r Ref, payload []byte)

// Text takes a large text out. What it returns stands in its place: a preview,
// or nothing if the text is a data URL.
func Text(path, text string, keep Keep) (string, Ref) {
	return take(path, text, "", head, keep)
}

// IsHash reports whether s can be the SHA256 of a Ref.
func IsHash(s string) bool {
	return len(s) == 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// take takes a text out; mime is what stands beside base64 data, else empty.
func take(path, text, mime string, size int, keep Keep) (string, Ref) {
	r := Ref{Path: path, MIMEType: "text/plain"}
	if mime != "" {
		if data, ok := decodeBase64(text); ok {
			r.MIMEType, r.Encoding = mime, Base64
			r.keep(data, keep)
			return "", r
		}
	}
	if rest, ok := strings.CutPrefix(text, "data:"); ok {
		mime, encoded, _ := strings.Cut(rest, ";base64,")
		if data, ok := decodeBase64(encoded); ok && len(mime) <= 128 {
			r.MIMEType, r.Encoding = mime, DataURL
			r.keep(data, keep)
			return "", r
		}
	}
	r.keep([]byte(text), keep)
	if size == 0 {
		return "", r
	}
	return preview(text, size, r.SHA256), r
}

func (r *Ref) keep(payload []byte, keep Keep) {
	sum := sha256.Sum256(payload)
	r.SHA256, r.Bytes = hex.EncodeToString(sum[:]), len(payload)
	keep(*r, payload)
}

// decodeBase64 decodes what encoding again gives back unchanged.
func decodeBase64(text string) ([]byte, bool) {
	if len(text) == 0 || len(text)%4 != 0 {
		return nil, false
	}
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	return data, err == nil && base64.StdEncoding.EncodedLen(len(data)) == len(text)
}

// Text gives back the string that the payload was made of.
func (r Ref) Text(payload []byte) string {
	switch r.Encoding {
	case Base64:
		return base64.StdEncoding.EncodeToString(payload)
	case DataURL:
		return "data:" + r.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(payload)
	}
	return string(payload)
}

// preview is the beginning and the end of a text, around a line that says what
// is missing and where it is.
func preview(text string, size int, hash string) string {
	size = min(size, len(text)/4)
	from, to := size, len(text)-size/4
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	return fmt.Sprintf("%s\n[… %d of %d bytes are left out; /v1/blobs/%s has all …]\n%s", text[:from], to-from, len(text), hash, text[to:])
}
