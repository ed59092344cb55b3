package round

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	jsonx "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// encode writes metadata and custom values. U+2028 and U+2029 are escaped here
// already, so that an encoder of events finds nothing to change and what is
// streamed and what is stored are the same bytes.
func encode(v any) json.RawMessage {
	data, err := jsonx.Marshal(v, jsontext.AllowInvalidUTF8(true), jsontext.EscapeForJS(true))
	if err != nil {
		return json.RawMessage("{}") // only strings, numbers and valid raw JSON are passed
	}
	return data
}

var tolerant = jsonx.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func decode(data []byte, v any) error { return jsonx.Unmarshal(data, v, tolerant) }

// announces says whether arguments only announce that there will be some.
func announces(args string) bool {
	switch trimmed := bytes.TrimSpace([]byte(args)); string(trimmed) {
	case "", "null", `""`, "{}", "[]":
		return true
	default:
		if c := trimmed[0]; (c == '{' || c == '[') && len(trimmed) > 2 {
			inner := bytes.TrimSpace(trimmed[1 : len(trimmed)-1])
			return len(inner) == 0 && trimmed[len(trimmed)-1] == c+2
		}
		return false
	}
}

// object makes arguments a JSON object: nothing is {}, another value stands
// under "input", and what is no JSON is {}. as says whether they were one.
func object(args []byte) (made []byte, as bool) {
	trimmed := bytes.TrimSpace(args)
	switch {
	case len(trimmed) == 0 || string(trimmed) == "null" || !validJSON(trimmed):
		return []byte("{}"), false
	case trimmed[0] == '{':
		return args, true
	}
	out := make([]byte, 0, len(trimmed)+12)
	out = append(out, `{"input":`...)
	out = append(out, trimmed...)
	return append(out, '}'), false
}

func validJSON(data []byte) bool {
	return jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// equalJSON compares two texts as JSON: the order of names does not count,
// numbers count as written, so that none loses digits. Texts that are no JSON
// are equal if their bytes are.
func equalJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, ok := tree(a)
	if !ok {
		return false
	}
	y, ok := tree(b)
	return ok && equalTrees(x, y)
}

// tree decodes numbers as json.Number, which keeps their text.
func tree(data []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, errors.Is(err, io.EOF)
}

func equalTrees(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, value := range x {
			other, ok := y[name]
			if !ok || !equalTrees(value, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equalTrees(x[i], y[i]) {
				return false
			}
		}
		return true
	}
	return a == b
}
