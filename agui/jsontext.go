package agui

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Clients and agents write what ECMAScript accepts; so does this package.
var tolerant = jsontext.AllowInvalidUTF8(true)
var duplicates = jsontext.AllowDuplicateNames(true)

const hex = "0123456789abcdef"

// appendString appends s as a JSON string.
func appendString(dst []byte, s string) []byte {
	return append(appendEscaped(append(dst, '"'), s), '"')
}

// appendEscaped appends s as the inside of a JSON string.
func appendEscaped[S string | []byte](dst []byte, s S) []byte {
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' {
				i++
				continue
			}
			dst = appendControl(append(dst, s[start:i]...), c)
			i++
			start = i
			continue
		}
		r, size := decodeRune(s, i)
		if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
			dst = appendOddRune(append(dst, s[start:i]...), r)
			start = i + size
		}
		i += size
	}
	return append(dst, s[start:]...)
}

func decodeRune[S string | []byte](s S, i int) (rune, int) {
	end := min(i+utf8.UTFMax, len(s))
	return utf8.DecodeRuneInString(string(s[i:end]))
}

func appendControl(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// appendOddRune writes the line separators, which some readers of lines split
// at, as escapes, and anything else as U+FFFD.
func appendOddRune(dst []byte, r rune) []byte {
	switch r {
	case '\u2028':
		return append(dst, `\u2028`...)
	case '\u2029':
		return append(dst, `\u2029`...)
	}
	return append(dst, "\uFFFD"...)
}

// appendRaw appends raw JSON on one line and as valid UTF-8; what is no JSON
// becomes a string, so that it cannot break the frame.
func appendRaw(dst []byte, raw json.RawMessage) []byte {
	if !validJSON(raw) {
		return append(appendEscaped(append(dst, '"'), []byte(raw)), '"')
	}
	if plain(raw) {
		return append(dst, raw...)
	}
	inString := false
	for i := 0; i < len(raw); {
		c := raw[i]
		switch {
		case c == '\\': // in a string; what follows is ASCII
			dst = append(dst, c, raw[i+1])
			i += 2
			continue
		case c == '"':
			inString = !inString
		case !inString && (c == '\n' || c == '\r' || c == '\t' || c == ' '):
			i++
			continue
		case c >= utf8.RuneSelf:
			r, size := decodeRune([]byte(raw), i)
			if r == utf8.RuneError && size == 1 || r == '\u2028' || r == '\u2029' {
				dst = appendOddRune(dst, r)
			} else {
				dst = append(dst, raw[i:i+size]...)
			}
			i += size
			continue
		}
		dst = append(dst, c)
		i++
	}
	return dst
}

func plain(raw []byte) bool {
	for _, c := range raw {
		if c < ' ' || c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

func validJSON(raw []byte) bool { return jsontext.Value(raw).IsValid(tolerant, duplicates) }

// kindOf is the first byte of a JSON value, 0 if there is none: '{', '[', '"',
// 't', 'f', 'n', '-' or a digit.
func kindOf(raw []byte) byte {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return 0
	}
	return raw[0]
}

func isObject(raw []byte) bool { return kindOf(raw) == '{' && validJSON(raw) }

// StringContent is text as the Content of a message or a result.
func StringContent(text string) json.RawMessage {
	return appendString(make([]byte, 0, len(text)+2), text)
}

// unquote is the text of a JSON string, or false.
func unquote(raw []byte) (string, bool) {
	if kindOf(raw) != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, bytes.TrimSpace(raw))
	// What cannot be represented (a lone surrogate) is replaced and reported;
	// the replaced text is what the clients show too.
	if err != nil && len(b) == 0 {
		return "", false
	}
	return string(b), true
}
