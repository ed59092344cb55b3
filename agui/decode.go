package agui

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// decoding is how everything from outside is read: null is absent, also for raw
// JSON, and a number that should be an integer is cut to one.
var decoding = json.JoinOptions(tolerant, duplicates, json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *stdjson.RawMessage) error {
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		if raw.Kind() == 'n' {
			*v = nil
			return nil
		}
		*v = append(make(stdjson.RawMessage, 0, len(raw)), raw...)
		return nil
	}),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *int64) error {
		if k := d.PeekKind(); k != '0' {
			return errors.ErrUnsupported // the usual rules, and the usual error
		}
		t, err := d.ReadToken()
		if err != nil {
			return err
		}
		if n, err := t.Int(); err == nil {
			*v = n
			return nil
		}
		f, _ := t.Float() // the nearest one, if it has none of its own
		*v = int64(max(min(f, 1<<53), -1<<53))
		return nil
	}),
)))

func unmarshal(data []byte, v any) error { return json.Unmarshal(data, v, decoding) }

// Decode decodes one event. It is tolerant: unknown fields are ignored, null
// means absent, and an event of an unknown type is an *Unknown, not an error.
// An error says which field is wrong. The event shares nothing with data.
func Decode(data []byte) (Event, error) {
	t, err := typeOf(data)
	if err != nil {
		return nil, err
	}
	e := newEvent(t)
	if e == nil {
		return &Unknown{Name: t, Data: bytes.Clone(data)}, nil
	}
	if err := unmarshal(data, e); err != nil {
		return nil, fmt.Errorf("agui: %s: %w", t, fieldError(err))
	}
	if a, ok := e.(*ActivitySnapshot); ok {
		var w struct {
			Replace *bool `json:"replace"`
		}
		if err := unmarshal(data, &w); err != nil {
			return nil, fmt.Errorf("agui: %s: %w", t, fieldError(err))
		}
		a.Keep = w.Replace != nil && !*w.Replace
	}
	return e, nil
}

// typeOf finds the type of an event. This package writes it first, so that the
// usual case looks at a few bytes only.
func typeOf(data []byte) (Type, error) {
	const prefix = `{"type":"`
	if rest, ok := bytes.CutPrefix(data, []byte(prefix)); ok {
		if i := bytes.IndexByte(rest, '"'); i >= 0 && bytes.IndexByte(rest[:i], '\\') < 0 {
			return intern(rest[:i]), nil
		}
	}
	if kindOf(data) != '{' {
		return "", errors.New("agui: an event is a JSON object")
	}
	var w struct {
		Type string `json:"type"`
	}
	if err := unmarshal(data, &w); err != nil {
		return "", fmt.Errorf("agui: event: %w", fieldError(err))
	}
	return intern([]byte(w.Type)), nil
}

func intern(name []byte) Type {
	if t, ok := catalogue[string(name)]; ok {
		return t.name
	}
	return Type(name)
}

type catalogueEntry struct {
	name Type
	new  func() Event
}

var catalogue = func() map[string]catalogueEntry {
	m := map[string]catalogueEntry{}
	for _, f := range []func() Event{
		func() Event { return new(RunStarted) }, func() Event { return new(RunFinished) }, func() Event { return new(RunError) },
		func() Event { return new(StepStarted) }, func() Event { return new(StepFinished) },
		func() Event { return new(TextMessageStart) }, func() Event { return new(TextMessageContent) },
		func() Event { return new(TextMessageEnd) }, func() Event { return new(TextMessageChunk) },
		func() Event { return new(ToolCallStart) }, func() Event { return new(ToolCallArgs) },
		func() Event { return new(ToolCallEnd) }, func() Event { return new(ToolCallChunk) }, func() Event { return new(ToolCallResult) },
		func() Event { return new(ReasoningStart) }, func() Event { return new(ReasoningEnd) },
		func() Event { return new(ReasoningMessageStart) }, func() Event { return new(ReasoningMessageContent) },
		func() Event { return new(ReasoningMessageEnd) }, func() Event { return new(ReasoningMessageChunk) },
		func() Event { return new(ReasoningEncryptedValue) },
		func() Event { return new(StateSnapshot) }, func() Event { return new(StateDelta) }, func() Event { return new(MessagesSnapshot) },
		func() Event { return new(ActivitySnapshot) }, func() Event { return new(ActivityDelta) },
		func() Event { return new(SubagentStarted) }, func() Event { return new(SubagentFinished) }, func() Event { return new(SubagentError) },
		func() Event { return new(Raw) }, func() Event { return new(Custom) },
	} {
		t := f().Type()
		m[string(t)] = catalogueEntry{t, f}
	}
	return m
}()

func newEvent(t Type) Event {
	if c, ok := catalogue[string(t)]; ok {
		return c.new()
	}
	return nil
}

// fieldError says which field is wrong and what stands there, in the words of
// whoever wrote the JSON.
func fieldError(err error) error {
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		field := fieldName(semantic.JSONPointer)
		if inner := errors.Unwrap(semantic); inner != nil && semantic.JSONKind == 0 {
			return fmt.Errorf("%s: %w", field, fieldError(inner))
		}
		return fmt.Errorf("%s: unexpected %s", field, kindName(semantic.JSONKind))
	}
	var syntactic *jsontext.SyntacticError
	if errors.As(err, &syntactic) {
		return fmt.Errorf("not JSON at byte %d", syntactic.ByteOffset)
	}
	return err
}

func fieldName(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if token != "" && strings.Trim(token, "0123456789") == "" {
			b.WriteString("[" + token + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(token)
	}
	if b.Len() == 0 {
		return "body"
	}
	return b.String()
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 't', 'f':
		return "boolean"
	case '0':
		return "number"
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 'n':
		return "null"
	}
	return "value"
}
