package agentstream

// Notice is a status line that is no part of the answer.
type Notice struct {
	Severity string `json:"severity,omitzero"` // info, warning or error
	Text     string `json:"text,omitzero"`
}

// NoticeHandler is implemented by a StreamHandler that takes Notice events.
type NoticeHandler interface{ OnNotice(e Notice) }

func (e Notice) deliver(h StreamHandler) bool {
	x, ok := h.(NoticeHandler)
	if ok {
		x.OnNotice(e)
	}
	return ok
}

func (Notice) name() string { return "notice" }
