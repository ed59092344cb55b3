package agentstream

// Usage tells what a turn or a session costs, beyond the gauge of
// OnTokenUsage. Either part may be absent.
type Usage struct {
	Context *ContextUse  `json:"context,omitzero"` // the context window now
	Turn    []ModelUsage `json:"turn,omitzero"`    // tokens of the turn, one entry a model; given once, at its end
}

// ContextUse is the occupancy of the context window now, and the session's
// cost so far in Currency, if the agent says it.
type ContextUse struct {
	Used     int     `json:"used,omitzero"`
	Size     int     `json:"size,omitzero"`
	Cost     float64 `json:"cost,omitzero"`
	Currency string  `json:"currency,omitzero"`
}

// ModelUsage counts a turn's tokens with one model. Input includes the cached
// ones, output the reasoning ones.
type ModelUsage struct {
	Provider   string `json:"provider,omitzero"`
	Model      string `json:"model,omitzero"`
	Input      int    `json:"input,omitzero"`
	Output     int    `json:"output,omitzero"`
	Total      int    `json:"total,omitzero"`
	Reasoning  int    `json:"reasoning,omitzero"`
	CachedRead int    `json:"cachedRead,omitzero"`
	CacheWrite int    `json:"cacheWrite,omitzero"`
}

// UsageHandler is implemented by a StreamHandler that takes Usage events.
type UsageHandler interface{ OnUsage(e Usage) }

func (e Usage) deliver(h StreamHandler) bool {
	x, ok := h.(UsageHandler)
	if ok {
		x.OnUsage(e)
	}
	return ok
}

func (Usage) name() string { return "usage" }
