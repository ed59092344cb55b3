package agentstream

// Diff is a change to a file that a tool call makes or proposes. Agents send
// the replaced fragment or the whole file.
type Diff struct {
	ID   string  `json:"id,omitzero"`   // the tool call
	Path string  `json:"path,omitzero"` // as the agent gives it
	Old  *string `json:"old,omitzero"`  // nil: the file is new
	New  string  `json:"new,omitzero"`
}

// DiffHandler is implemented by a StreamHandler that takes Diff events.
type DiffHandler interface{ OnDiff(e Diff) }

func (e Diff) deliver(h StreamHandler) bool {
	x, ok := h.(DiffHandler)
	if ok {
		x.OnDiff(e)
	}
	return ok
}

func (Diff) name() string { return "diff" }
