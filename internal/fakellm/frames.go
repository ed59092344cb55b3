package fakellm

import (
	"encoding/json"
	"net/http"
)

// framing is how a stream's values are told apart.
type framing int

const (
	dataLines  framing = iota // server-sent events with data alone
	namedLines                // with the value's type as the event's name
	jsonArray                 // one JSON array, Gemini without alt=sse
)

// created is the time that answers bear: the same in every run.
const created = 1_750_000_000

// Tokens that every answer claims.
const (
	inputTokens  = 1200
	cachedTokens = 400
	outputTokens = 80
)

// frames writes a stream, each value flushed at once.
type frames struct {
	w       http.ResponseWriter
	control *http.ResponseController
	framing framing
	count   int
}

func newFrames(w http.ResponseWriter, framing framing) *frames {
	kind := "text/event-stream"
	if framing == jsonArray {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return &frames{w: w, control: http.NewResponseController(w), framing: framing}
}

func (f *frames) send(v object) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // the values are made here
	}
	switch f.framing {
	case namedLines:
		name, _ := v["type"].(string)
		f.raw("event: " + name + "\ndata: " + string(data) + "\n\n")
	case jsonArray:
		opening := ","
		if f.count == 0 {
			opening = "["
		}
		f.raw(opening + string(data))
	default:
		f.raw("data: " + string(data) + "\n\n")
	}
	f.count++
}

func (f *frames) raw(s string) {
	_, _ = f.w.Write([]byte(s)) // the client may have gone: the context says so
	_ = f.control.Flush()
}

func (f *frames) close() {
	if f.framing != jsonArray {
		return
	}
	if f.count == 0 {
		f.raw("[")
	}
	f.raw("]")
}

// pieces cuts arguments in up to three, as models stream them.
func pieces(s string) []string {
	var out []string
	runes := []rune(s)
	size := len(runes)/3 + 1
	for len(runes) > size {
		out = append(out, string(runes[:size]))
		runes = runes[size:]
	}
	return append(out, string(runes))
}
