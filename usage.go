package agentstream

// Usage tells what a turn or a session costs, beyond the gauge of
// OnTokenUsage. Either part may be absent.
type Usage struct {
	Context *ContextUse  // the context window now
	Turn    []ModelUsage // tokens of the turn, one entry a model; given once, at its end
}

// ContextUse is the occupancy of the context window now, and the session's
// cost so far in Currency, if the agent says it.
type ContextUse struct {
	Used, Size int
	Cost       float64
	Currency   string
}

// ModelUsage counts a turn's tokens with one model. Input includes the cached
// ones, output the reasoning ones.
type ModelUsage struct {
	Provider, Model                   string
	Input, Output, Total              int
	Reasoning, CachedRead, CacheWrite int
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
