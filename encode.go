package agentstream

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// AppendEvent appends the JSON form of e to dst, one object on one line with
// no line end: {"event":"message_chunk","text":"hello"}. Names of events and
// fields are fixed; the rich events leave out what is zero. The form is valid
// JSON whatever e holds: invalid UTF-8 becomes U+FFFD, and an event that JSON
// has no form for (a cost that is not a number) keeps its name alone. Nil
// appends nothing. The core events cost no allocation beyond dst. Safe for
// concurrent calls with different dst.
func AppendEvent(dst []byte, e Event) []byte {
	switch e := e.(type) {
	case nil:
		return dst
	case MessageChunk:
		dst = appendField(dst, `{"event":"message_chunk","text":`, e.Text)
	case ThoughtChunk:
		dst = appendField(dst, `{"event":"thought_chunk","text":`, e.Text)
	case ToolCall:
		dst = appendField(dst, `{"event":"tool_call","id":`, e.ID)
		dst = appendField(dst, `,"title":`, e.Title)
	case ToolCallUpdate:
		dst = appendField(dst, `{"event":"tool_call_update","id":`, e.ID)
		dst = appendField(dst, `,"content":`, e.Content)
		dst = appendField(dst, `,"status":`, e.Status.String())
	case ToolCallArgsSnapshot:
		dst = appendField(dst, `{"event":"tool_call_args_snapshot","id":`, e.ID)
		dst = appendField(dst, `,"args":`, e.Args)
	case TokenUsage:
		dst = strconv.AppendInt(append(dst, `{"event":"token_usage","totalTokens":`...), int64(e.TotalTokens), 10)
	default:
		return appendRich(dst, e)
	}
	return append(dst, '}')
}

func appendRich(dst []byte, e Event) []byte {
	dst = append(append(append(dst, `{"event":"`...), e.name()...), '"')
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil || body.Len() <= len("{}\n") {
		return append(dst, '}')
	}
	dst = append(dst, ',')
	return append(dst, body.Bytes()[1:body.Len()-1]...)
}

func appendField(dst []byte, key, value string) []byte {
	return appendString(append(dst, key...), value)
}

// appendString appends s as a JSON string. U+2028 and U+2029 are escaped: they
// are legal, but readers that split lines by Unicode's idea of one break on them.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	plain := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				dst = append(append(dst, s[plain:i]...), "\ufffd"...)
				plain = i + size
			case r == '\u2028' || r == '\u2029':
				dst = append(append(dst, s[plain:i]...), `\u202`...)
				dst = append(dst, hex[r&0xF])
				plain = i + size
			}
			i += size
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			dst = append(append(dst, s[plain:i]...), '\\')
			switch c {
			case '"', '\\':
				dst = append(dst, c)
			case '\n':
				dst = append(dst, 'n')
			case '\r':
				dst = append(dst, 'r')
			case '\t':
				dst = append(dst, 't')
			default:
				dst = append(dst, 'u', '0', '0', hex[c>>4], hex[c&0xF])
			}
			plain = i + 1
		}
		i++
	}
	return append(append(dst, s[plain:]...), '"')
}

// lineSeparators escapes what a JSON string may hold raw and a reader of lines
// may break on.
var lineSeparators = strings.NewReplacer("\u2028", `\u2028`, "\u2029", `\u2029`)

// MarshalJSON gives {"source", "data"}; Data as it is if it is JSON, else as a
// string.
func (e Raw) MarshalJSON() ([]byte, error) {
	w := rawWire{Source: e.Source}
	if len(e.Data) > 0 {
		w.Data = json.RawMessage(lineSeparators.Replace(strings.ToValidUTF8(string(e.Data), "\ufffd")))
		if !json.Valid(w.Data) {
			w.Data = appendString(nil, string(e.Data))
		}
	}
	return marshal(w)
}

// UnmarshalJSON takes Data without the white space between its tokens.
func (e *Raw) UnmarshalJSON(data []byte) error {
	var w rawWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	var compact bytes.Buffer
	if w.Data != nil {
		_ = json.Compact(&compact, w.Data) // it was part of valid JSON
	}
	*e = Raw{Source: w.Source, Data: compact.Bytes()}
	return nil
}

type rawWire struct {
	Source string          `json:"source,omitzero"`
	Data   json.RawMessage `json:"data,omitzero"`
}

// subagentFields is Subagent without its methods, so that they can use
// encoding/json for the rest.
type subagentFields Subagent

type subagentWire struct {
	subagentFields
	Child json.RawMessage `json:"child,omitzero"`
}

// MarshalJSON gives the fields, the sub-agent's event as "child".
func (e Subagent) MarshalJSON() ([]byte, error) {
	w := subagentWire{subagentFields: subagentFields(e)}
	if e.Event != nil {
		w.Child = AppendEvent(nil, e.Event)
	}
	return marshal(w)
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
