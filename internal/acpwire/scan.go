package acpwire

import (
	"bytes"
	"errors"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// message is one frame. Its slices point into the line and are valid only
// until the function that was given it returns. What is inside Params and
// Result has not been checked to be JSON; whoever decodes them must expect
// anything.
type message struct {
	ID     []byte // raw JSON; nil without an id
	Method string // empty: an answer
	Params []byte
	Result []byte
	Err    *Error
}

// decode reads JSON as the wire needs it: duplicate names, invalid UTF-8 and
// names in another case are no errors.
func decode(data []byte, v any) error { return json.Unmarshal(data, v, lenient) }

var lenient = json.JoinOptions(
	jsontext.AllowDuplicateNames(true),
	jsontext.AllowInvalidUTF8(true),
	json.MatchCaseInsensitiveNames(true),
)

var (
	errNotObject = errors.New("no JSON object")
	errCut       = errors.New("JSON that is cut off or broken")
	errNoFrame   = errors.New("a JSON object that is no JSON-RPC")
)

// parse finds the members of one frame without decoding them: an update's
// parameters are read only by whoever wants them.
func parse(line []byte) (message, error) {
	var m message
	answer := false
	i := space(line, 0)
	if i >= len(line) || line[i] != '{' {
		return m, errNotObject
	}
	i = space(line, i+1)
	for i < len(line) && line[i] != '}' {
		name, value, next, err := member(line, i)
		if err != nil {
			return m, err
		}
		switch string(name) {
		case "id":
			m.ID = value
		case "method":
			if m.Method, err = method(value); err != nil {
				return m, err
			}
		case "params":
			m.Params = value
		case "result":
			m.Result, answer = value, true
		case "error":
			if m.Err = decodeError(value); m.Err != nil {
				answer = true
			}
		}
		i = next
	}
	if i >= len(line) || space(line, i+1) != len(line) {
		return m, errCut
	}
	if m.Method == "" && !answer && m.ID == nil {
		return m, errNoFrame
	}
	return m, nil
}

// member reads `"name": value` and a following comma at i.
func member(line []byte, i int) (name, value []byte, next int, err error) {
	if line[i] != '"' {
		return nil, nil, 0, errCut
	}
	end := skipString(line, i)
	if end < 0 {
		return nil, nil, 0, errCut
	}
	name = line[i+1 : end-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = unquote(line[i:end])
	}
	i = space(line, end)
	if i >= len(line) || line[i] != ':' {
		return nil, nil, 0, errCut
	}
	i = space(line, i+1)
	end = skipValue(line, i)
	if end < 0 {
		return nil, nil, 0, errCut
	}
	value = line[i:end]
	i = space(line, end)
	if i < len(line) && line[i] == ',' {
		return name, value, space(line, i+1), nil
	}
	if i < len(line) && line[i] == '}' {
		return name, value, i, nil
	}
	return nil, nil, 0, errCut
}

// method gives common names without allocating.
func method(value []byte) (string, error) {
	if string(value) == `"session/update"` {
		return "session/update", nil
	}
	if len(value) < 3 || value[0] != '"' {
		return "", errNoFrame
	}
	return string(unquote(value)), nil
}

func unquote(quoted []byte) []byte {
	var text string
	if decode(quoted, &text) != nil {
		return quoted[1 : len(quoted)-1]
	}
	return []byte(text)
}

func space(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

// skipString gives the index behind the string that begins at i, or -1.
func skipString(b []byte, i int) int {
	for i++; ; i++ {
		n := bytes.IndexByte(b[i:], '"')
		if n < 0 {
			return -1
		}
		i += n
		back := i
		for b[back-1] == '\\' {
			back--
		}
		if (i-back)%2 == 0 {
			return i + 1
		}
	}
}

// skipValue gives the index behind the value that begins at i, or -1. It
// counts brackets and knows strings, no more.
func skipValue(b []byte, i int) int {
	start, depth := i, 0
	for i < len(b) {
		switch b[i] {
		case '"':
			if i = skipString(b, i); i < 0 {
				return -1
			}
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return scalarEnd(start, i)
			}
		case ',', ' ', '\t', '\r', '\n':
			if depth == 0 {
				return scalarEnd(start, i)
			}
		}
		i++
	}
	return -1
}

func scalarEnd(start, end int) int {
	if end == start {
		return -1
	}
	return end
}

// decodeError reads an error member whatever its shape; null is none.
func decodeError(value []byte) *Error {
	if string(value) == "null" {
		return nil
	}
	var raw struct {
		Code    jsontext.Value `json:"code"`
		Message jsontext.Value `json:"message"`
		Data    jsontext.Value `json:"data"`
	}
	if decode(value, &raw) != nil {
		return &Error{Code: CodeInternal, Message: plain(value)}
	}
	e := &Error{Code: CodeInternal, Message: plain(raw.Message), Data: bytes.Clone(raw.Data)}
	if f, err := strconv.ParseFloat(plain(raw.Code), 64); err == nil && f > -1e9 && f < 1e9 {
		e.Code = int(f)
	}
	return e
}

// plain gives a JSON string's text, and any other value as it stands.
func plain(value []byte) string {
	var text string
	if len(value) > 0 && value[0] == '"' && decode(value, &text) == nil {
		return text
	}
	return string(value)
}

// number reads the id of an answer. Some agents send ours back as a string.
func number(id []byte) (int64, bool) {
	f, err := strconv.ParseFloat(plain(id), 64)
	return int64(f), err == nil && f == float64(int64(f))
}
