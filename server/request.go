package server

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"time"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog"
)

// maxID is the longest thread or run id in bytes.
const maxID = 256

func bad(detail string) error { return &engine.Error{Code: "bad_request", Message: detail} }

// body reads a JSON body whole.
func body(r *http.Request) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return nil, &engine.Error{Code: "not_json", Message: "send the body as Content-Type: application/json"}
	}
	data, err := io.ReadAll(r.Body)
	var big *http.MaxBytesError
	if errors.As(err, &big) {
		return nil, &engine.Error{Code: "too_large", Message: "the body is over " + strconv.FormatInt(big.Limit, 10) + " bytes; limits.body_bytes raises that"}
	}
	if err != nil {
		return nil, bad("the body broke off: " + err.Error())
	}
	return data, nil
}

// decode reads a JSON body into v; an empty one is allowed where the route has
// nothing that must be said.
func decode(r *http.Request, v any, required bool) error {
	if !required && r.ContentLength == 0 {
		return nil
	}
	data, err := body(r)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return bad("the body is not the JSON that this route takes: " + err.Error())
	}
	return nil
}

// pathID gives an id from the path.
func pathID(r *http.Request, name string) (string, error) { return checkID(name, r.PathValue(name)) }

func checkID(name, id string) (string, error) {
	if id == "" {
		return "", bad(name + " is missing")
	}
	if id == "." || id == ".." {
		return "", bad(name + " cannot be part of an address")
	}
	if len(id) > maxID {
		return "", bad(name + " is longer than 256 bytes")
	}
	for _, c := range id {
		if c < 0x20 || c == 0x7f {
			return "", bad(name + " has a control character")
		}
	}
	return id, nil
}

// cursor gives the reader's place: Last-Event-ID beats after=. The zero cursor
// is none; "0" asks for all there is.
func cursor(r *http.Request) (c eventlog.Cursor, given bool, err error) {
	text := r.Header.Get("Last-Event-ID")
	if text == "" {
		text = r.URL.Query().Get("after")
	}
	if text == "" || text == "0" {
		return c, text == "0", nil
	}
	c, err = eventlog.ParseCursor(text)
	if err != nil {
		return c, false, bad("the cursor is not one that this server gave; leave it out to begin anew")
	}
	return c, true, nil
}

// number reads a count from the query; absent is otherwise.
func number(r *http.Request, name string, otherwise int) (int, error) {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return 0, bad(name + " is not a count")
	}
	return n, nil
}

// waitTime reads wait= as a duration ("25s") or as seconds, a minute at most.
func waitTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		var n int
		if n, err = strconv.Atoi(text); err == nil {
			d = time.Duration(n) * time.Second
		}
	}
	if err != nil || d < 0 {
		return 0, bad("wait is not a duration such as 25s")
	}
	return min(d, time.Minute), nil
}

func flag(r *http.Request, name string) bool {
	v := r.URL.Query().Get(name)
	return v != "" && v != "0" && v != "false"
}
