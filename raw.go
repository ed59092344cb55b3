package agentstream

// Raw is something that the source does not know, as the wire had it.
type Raw struct {
	Source string // the wire, for example "acp"
	Data   []byte // one JSON value; in the JSON form, what is none becomes a string
}

// RawHandler is implemented by a StreamHandler that takes Raw events.
type RawHandler interface{ OnRaw(e Raw) }

func (e Raw) deliver(h StreamHandler) bool {
	x, ok := h.(RawHandler)
	if ok {
		x.OnRaw(e)
	}
	return ok
}

func (Raw) name() string { return "raw" }
