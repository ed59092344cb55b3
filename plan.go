package agentstream

// Plan is the agent's whole plan; each one replaces the plan before.
type Plan struct {
	Entries []PlanEntry `json:"entries,omitzero"`
}

// PlanEntry is one step of a Plan.
type PlanEntry struct {
	Content  string `json:"content,omitzero"`
	Priority string `json:"priority,omitzero"` // high, medium or low
	Status   string `json:"status,omitzero"`   // pending, in_progress or completed
}

// PlanHandler is implemented by a StreamHandler that takes Plan events.
type PlanHandler interface{ OnPlan(e Plan) }

func (e Plan) deliver(h StreamHandler) bool {
	x, ok := h.(PlanHandler)
	if ok {
		x.OnPlan(e)
	}
	return ok
}

func (Plan) name() string { return "plan" }
