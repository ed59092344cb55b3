package agentstream

// Output is a piece of what a running tool prints. The pieces joined are the
// output so far; it is no result.
type Output struct {
	ID   string `json:"id,omitzero"` // the tool call
	Data string `json:"data,omitzero"`
}

// OutputHandler is implemented by a StreamHandler that takes Output events.
type OutputHandler interface{ OnOutput(e Output) }

func (e Output) deliver(h StreamHandler) bool {
	x, ok := h.(OutputHandler)
	if ok {
		x.OnOutput(e)
	}
	return ok
}

func (Output) name() string { return "output" }
