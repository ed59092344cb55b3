// Package sse writes and reads server-sent events as agentstream uses them: an
// optional id and one line of data a frame, LF line ends, comments to keep
// connections alive. Reading follows the standard where it is wider: CRLF,
// several data lines, other fields, a byte order mark.
package sse

import "bytes"

// AppendEvent appends a frame. An id may be empty and is left out if it holds a
// line end. Data is JSON on one line; should it hold line ends nevertheless it
// becomes several data lines, which readers join again, so that nothing in it
// can become a field or a frame of its own.
func AppendEvent(dst []byte, id string, data []byte) []byte {
	if id != "" && !hasLineEnd(id) {
		dst = append(dst, "id: "...)
		dst = append(dst, id...)
		dst = append(dst, '\n')
	}
	for {
		i := bytes.IndexByte(data, '\n')
		if j := bytes.IndexByte(data[:max(i, 0)], '\r'); j >= 0 {
			i = j
		} else if i < 0 {
			i = bytes.IndexByte(data, '\r')
		}
		dst = append(dst, "data: "...)
		if i < 0 {
			dst = append(dst, data...)
			return append(dst, '\n', '\n')
		}
		dst = append(dst, data[:i]...)
		dst = append(dst, '\n')
		if data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n' {
			i++
		}
		data = data[i+1:]
	}
}

// AppendComment appends a comment, which readers pass over. Text that holds a
// line end is left out.
func AppendComment(dst []byte, text string) []byte {
	dst = append(dst, ':')
	if text != "" && !hasLineEnd(text) {
		dst = append(dst, ' ')
		dst = append(dst, text...)
	}
	return append(dst, '\n', '\n')
}

func hasLineEnd(s string) bool {
	for i := range len(s) {
		if s[i] == '\n' || s[i] == '\r' {
			return true
		}
	}
	return false
}
