package agui

// Entities that a stream opens and closes, and those that only have an owner.
type entity uint8

const (
	entText entity = iota
	entReasoning
	entSpan
	entToolCall
	entSubagent
	entActivity
	entities
)

type stepKey struct{ owner, name string }

// tracker knows what a stream has open, and which sub-agent owns what. Owners
// outlive what they own until the run ends: a closed id may be opened again, by
// the same owner only. It is what the Verifier checks with and what the Emitter
// keeps its promises with.
type tracker struct {
	seq      uint64 // orders openings
	open     [entities]map[string]uint64
	owners   [entities]map[string]string // spans share those of reasoning messages
	steps    map[stepKey]uint64
	subagent map[string]bool // announced in this run
}

func (t *tracker) reset() { *t = tracker{seq: t.seq} }

func ownerKind(k entity) entity {
	if k == entSpan {
		return entReasoning
	}
	return k
}

func (t *tracker) isOpen(k entity, id string) bool { _, ok := t.open[k][id]; return ok }

func (t *tracker) owner(k entity, id string) (string, bool) {
	o, ok := t.owners[ownerKind(k)][id]
	return o, ok
}

func (t *tracker) own(k entity, id, owner string) {
	k = ownerKind(k)
	if t.owners[k] == nil {
		t.owners[k] = map[string]string{}
	}
	t.owners[k][id] = owner
}

// start opens an id; the first opener in the run is its owner.
func (t *tracker) start(k entity, id, owner string) {
	if t.open[k] == nil {
		t.open[k] = map[string]uint64{}
	}
	t.seq++
	t.open[k][id] = t.seq
	if _, ok := t.owner(k, id); !ok {
		t.own(k, id, owner)
	}
}

func (t *tracker) stop(k entity, id string) { delete(t.open[k], id) }

func (t *tracker) startStep(key stepKey) {
	if t.steps == nil {
		t.steps = map[stepKey]uint64{}
	}
	t.seq++
	t.steps[key] = t.seq
}

func (t *tracker) announce(subagent string) {
	if t.subagent == nil {
		t.subagent = map[string]bool{}
	}
	t.subagent[subagent] = true
	t.start(entSubagent, subagent, "")
}

// history records who owns messages that came whole. A snapshot replaces what
// was known; the echo of an input only adds to it.
func (t *tracker) history(messages []Message, replace bool) {
	set := func(k entity, id, owner string) {
		if _, known := t.owner(k, id); replace || !known {
			t.own(k, id, owner)
		}
	}
	for i := range messages {
		m := &messages[i]
		switch m.Role {
		case RoleReasoning:
			set(entReasoning, m.ID, m.SubagentRunID)
		case RoleActivity:
			set(entActivity, m.ID, m.SubagentRunID)
		default:
			set(entText, m.ID, m.SubagentRunID)
		}
		for _, c := range m.ToolCalls {
			set(entToolCall, c.ID, m.SubagentRunID)
		}
	}
}
