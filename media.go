package agentstream

// Media is a picture, sound or resource that the agent sends, in its message
// or as part of a tool call's result.
type Media struct {
	ID       string `json:"id,omitzero"` // the tool call; empty: the message
	MIMEType string `json:"mimeType,omitzero"`
	URI      string `json:"uri,omitzero"`  // where it is, if not inline
	Data     string `json:"data,omitzero"` // base64, if inline
	Name     string `json:"name,omitzero"`
}

// MediaHandler is implemented by a StreamHandler that takes Media events.
type MediaHandler interface{ OnMedia(e Media) }

func (e Media) deliver(h StreamHandler) bool {
	x, ok := h.(MediaHandler)
	if ok {
		x.OnMedia(e)
	}
	return ok
}

func (Media) name() string { return "media" }
