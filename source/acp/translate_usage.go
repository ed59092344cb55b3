package acp

import (
	"math"

	"github.com/agentstream-go/agentstream"
)

// usage handles usage_update: how full the context window is, and what the
// session has cost. It is never the turn's spending.
func (w *turn) usage(u *update) {
	w.settleOthers()
	used, ok := number(field(u.raw, "used"))
	if !ok || used < 0 || used > math.MaxInt32 {
		return
	}
	c := &agentstream.ContextUse{Used: int(math.Round(used)), Size: count(field(u.raw, "size"))}
	if cost, ok := number(field(u.raw, "cost", "amount")); ok && cost >= 0 {
		c.Cost, c.Currency = cost, text(field(u.raw, "cost", "currency"))
	}
	s := w.stream(u.meta)
	agentstream.Send(s.h, agentstream.Usage{Context: c})
	s.h.OnTokenUsage(c.Used)
}

// spending gives the turn's tokens by model from the answer to the prompt. An
// agent that tells something else than the turn's gives none.
func (t *translator) spending(w *turn, result []byte) []agentstream.ModelUsage {
	var out []agentstream.ModelUsage
	list := array(field(result, "_meta", "quota", "model_usage"))
	for e, ok := list.element(); ok; e, ok = list.element() {
		if m := tokens(field(e, "token_count")); m.Total > 0 {
			m.Model = text(field(e, "model"))
			out = append(out, m)
		}
	}
	if len(out) > 0 {
		return out
	}
	m := tokens(field(result, "usage"))
	if m.Total == 0 {
		m = tokens(field(result, "_meta", "quota", "token_count"))
	}
	switch t.profile.spending {
	case perCall:
		if w.pieces > 0 {
			return nil
		}
	case perSession:
		if m.Total > 0 { // a turn that failed tells nothing
			m = t.since(m)
		}
	}
	if m.Total <= 0 {
		return nil
	}
	return []agentstream.ModelUsage{m}
}

// since gives what was spent since the turn before.
func (t *translator) since(m agentstream.ModelUsage) agentstream.ModelUsage {
	before := t.spent
	t.spent = m
	if m.Total < before.Total {
		return m
	}
	m.Input -= before.Input
	m.Output -= before.Output
	m.Total -= before.Total
	m.Reasoning -= before.Reasoning
	m.CachedRead -= before.CachedRead
	m.CacheWrite -= before.CacheWrite
	return m
}

// tokens reads a count of tokens. Agents differ in whether cached tokens are
// part of the input and reasoning part of the output; the total tells.
func tokens(v []byte) agentstream.ModelUsage {
	get := func(names ...string) int {
		for _, name := range names {
			if n := count(field(v, name)); n > 0 {
				return n
			}
		}
		return 0
	}
	m := agentstream.ModelUsage{
		Input:      get("inputTokens", "input_tokens"),
		Output:     get("outputTokens", "output_tokens"),
		Total:      get("totalTokens", "total_tokens"),
		Reasoning:  get("thoughtTokens", "reasoningOutputTokens", "reasoning_output_tokens"),
		CachedRead: get("cachedReadTokens", "cachedInputTokens", "cached_input_tokens"),
		CacheWrite: get("cachedWriteTokens", "cacheWriteInputTokens", "cached_write_tokens"),
	}
	cached := m.CachedRead + m.CacheWrite
	switch m.Total - m.Input - m.Output {
	case 0:
	case m.Reasoning:
		m.Output += m.Reasoning
	case cached:
		m.Input += cached
	case cached + m.Reasoning:
		m.Input += cached
		m.Output += m.Reasoning
	}
	m.Total = max(m.Total, m.Input+m.Output)
	return m
}
