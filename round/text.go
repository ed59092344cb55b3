package round

// A buffer grows by blocks, so that a long text is never copied while it grows.
const (
	firstBlock = 64
	lastBlock  = 16 << 10
)

// buffer is a text that comes in pieces. The zero value is empty.
type buffer struct {
	full [][]byte
	last []byte
	size int
}

func (b *buffer) add(text string) {
	b.size += len(text)
	if room := cap(b.last) - len(b.last); room < len(text) {
		b.last = append(b.last, text[:room]...)
		text = text[room:]
		if len(b.last) > 0 {
			b.full = append(b.full, b.last)
		}
		next := min(max(2*cap(b.last), firstBlock), lastBlock)
		b.last = make([]byte, 0, max(next, len(text)))
	}
	b.last = append(b.last, text...)
}

// bytes is the whole text in one piece, which the caller must not change.
func (b *buffer) bytes() []byte {
	if len(b.full) == 0 {
		return b.last
	}
	whole := make([]byte, 0, b.size+firstBlock)
	for _, block := range b.full {
		whole = append(whole, block...)
	}
	b.last, b.full = append(whole, b.last...), nil
	return b.last
}

func (b *buffer) String() string { return string(b.bytes()) }
