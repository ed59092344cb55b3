package agui

type encoder struct{ buf []byte }

func (b *Base) append(*encoder) {}

// Append appends e's JSON to dst and returns the extended slice: one line, nulls
// left out, U+2028 and U+2029 escaped, invalid UTF-8 replaced by U+FFFD. Raw
// JSON in e that is not valid is written as a JSON string.
func Append(dst []byte, e Event) []byte {
	enc := encoder{buf: dst}
	e.append(&enc)
	return enc.buf
}
