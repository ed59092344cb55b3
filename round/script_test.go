package round

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/agentstream-go/agentstream"
)

// step is one thing that happens to a Builder: an event, or what the engine
// does to it.
type step struct {
	event agentstream.Event
	do    string // hold, release, suspend, resume
	id    string // of the call
}

func (s step) String() string {
	if s.event == nil {
		return s.do + " " + s.id
	}
	return string(agentstream.AppendEvent(nil, s.event))
}

// chooser is where a script's choices come from: a seed, or a fuzzer's bytes.
type chooser interface{ pick(n int) int }

type seeded struct{ *rand.Rand }

func (s seeded) pick(n int) int { return s.IntN(n) }

type fromBytes struct{ data []byte }

func (b *fromBytes) pick(n int) int {
	if len(b.data) == 0 {
		return 0
	}
	c := b.data[0]
	b.data = b.data[1:]
	return int(c) % n
}

func (b *fromBytes) empty() bool { return len(b.data) == 0 }

var (
	chunks = []string{"Hello", " wörld", "", "a\u2028b", "…", "\n\n", "日本", "x", " ", "🙂 ok", "\x00\"\\", "bad \xff utf8"}
	deltas = []string{`{"a"`, `:1`, `}`, `,"b":"x y"}`, `{"path":"/tmp/ü"}`, ` `, `"text"`, "[1,", "2]"}
	shots  = []string{
		"", "{}", "null", "[]", `""`, `{"a":1}`, `{ "a" : 1 }`, `{"a":1,"b":"x y"}`, `{"b":"x y","a":1}`, `{"a":2}`,
		`{"path":"/tmp/ü"}`, `{"path":"/tmp/ünder"}`, `{"path":"/tmp/ö"}`, `[1,2]`, `"ls -la"`, `{"n":12345678901234567890}`, `{"a":`, "plain words",
	}
	titles  = []string{"Read file", "ls", "", "read_file", "Größe", "a" + strings.Repeat("b", 70)}
	kinds   = []string{"", "read", "edit", "execute", "other"}
	results = []string{"", "done", "zwei\nZeilen", "\u2029", "bad \xfe"}
	outputs = []string{"$ ls\n", "", "füße", "done"}
	ids     = []string{"c0", "c1", "c2", "c3", "c4", "call/5 ü", ""}
)

func one[T any](c chooser, from []T) T { return from[c.pick(len(from))] }

// core makes one of the six methods' events.
func core(c chooser) agentstream.Event {
	switch c.pick(11) {
	case 0, 1:
		return agentstream.MessageChunk{Text: one(c, chunks)}
	case 2:
		return agentstream.ThoughtChunk{Text: one(c, chunks)}
	case 3, 4:
		return agentstream.ToolCall{ID: one(c, ids), Title: one(c, titles)}
	case 5:
		return agentstream.ToolCallUpdate{ID: one(c, ids), Content: one(c, deltas), Status: agentstream.ToolCallStatusPending}
	case 6:
		return agentstream.ToolCallUpdate{ID: one(c, ids), Status: agentstream.ToolCallStatusInProgress}
	case 7:
		return agentstream.ToolCallArgsSnapshot{ID: one(c, ids), Args: one(c, shots)}
	case 8:
		return agentstream.TokenUsage{TotalTokens: c.pick(5) - 1}
	case 9:
		return agentstream.ToolCallUpdate{ID: one(c, ids), Content: one(c, results), Status: agentstream.ToolCallStatusFailed}
	}
	return agentstream.ToolCallUpdate{ID: one(c, ids), Content: one(c, results), Status: agentstream.ToolCallStatusCompleted}
}

// rich makes one of the events that may be lost.
func rich(c chooser, depth int) agentstream.Event {
	switch c.pick(11) {
	case 0, 1:
		i := agentstream.ToolCallInfo{ID: one(c, ids), Title: one(c, titles), Kind: one(c, kinds)}
		switch c.pick(4) {
		case 0:
			i.Name = one(c, []string{"Bash", "mcp__x y", "9lives", "読む"})
		case 1:
			i.Locations = []agentstream.Location{{Path: "/tmp/a", Line: c.pick(3)}}
		case 2:
			code := c.pick(3)
			i.ExitCode, i.Partial = &code, c.pick(2) == 0
		}
		return i
	case 2:
		return agentstream.Segment{}
	case 3:
		return agentstream.Notice{Severity: "warning", Text: one(c, chunks)}
	case 4:
		return agentstream.Plan{Entries: []agentstream.PlanEntry{{Content: one(c, chunks), Status: "pending"}}}
	case 5:
		d := agentstream.Diff{ID: one(c, ids), Path: "/tmp/f", New: one(c, chunks)}
		if c.pick(2) == 0 {
			old := one(c, chunks)
			d.Old = &old
		}
		return d
	case 6:
		return agentstream.Output{ID: one(c, ids), Data: one(c, outputs)}
	case 7:
		return agentstream.Media{ID: one(c, ids), MIMEType: one(c, []string{"image/png", "audio/wav", "text/plain", ""}), Data: "AAAA"}
	case 8:
		return agentstream.Usage{Context: &agentstream.ContextUse{Used: c.pick(9), Size: 10, Cost: 0.5, Currency: "USD"}}
	case 9:
		return agentstream.Raw{Source: "acp", Data: []byte(one(c, []string{`{"x":1}`, `not json`, "\u2028"}))}
	}
	s := agentstream.Subagent{ID: one(c, []string{"s0", "s1", "s 2"}), Name: "helper", ToolCallID: one(c, ids)}
	switch n := c.pick(8); {
	case n == 0:
		s.Done = true
	case n == 1:
		s.Done, s.Err = true, "it broke"
	case n == 2 && depth == 0:
		s.Event = rich(c, depth+1)
	case n > 2:
		s.Event = core(c)
	}
	return s
}

// steps makes the next step of a script, sometimes two that belong together.
func steps(c chooser, suspended *bool) []step {
	if *suspended {
		switch c.pick(4) {
		case 0:
			return []step{{do: "release", id: one(c, ids)}}
		default:
			*suspended = false
			return []step{{do: "resume"}}
		}
	}
	switch n := c.pick(40); {
	case n == 0:
		*suspended = true
		id := one(c, ids)
		return []step{{do: "hold", id: id}, {do: "suspend"}}
	case n == 1:
		return []step{{do: "hold", id: one(c, ids)}}
	case n == 2:
		return []step{{do: "release", id: one(c, ids)}}
	case n < 14:
		return []step{{event: rich(c, 0)}}
	}
	return []step{{event: core(c)}}
}

// randomScript is a whole turn of n steps or a few more.
func randomScript(seed uint64, n int) []step {
	c := seeded{rand.New(rand.NewPCG(seed, 1))}
	var script []step
	suspended := false
	for len(script) < n {
		script = append(script, steps(c, &suspended)...)
	}
	return script
}

func withoutRich(script []step) []step {
	var out []step
	for _, s := range script {
		switch s.event.(type) {
		case nil, agentstream.MessageChunk, agentstream.ThoughtChunk, agentstream.ToolCall,
			agentstream.ToolCallUpdate, agentstream.ToolCallArgsSnapshot, agentstream.TokenUsage:
			out = append(out, s)
		}
	}
	return out
}

func show(script []step) string {
	var b strings.Builder
	for i, s := range script {
		fmt.Fprintf(&b, "%3d %s\n", i, s)
	}
	return b.String()
}
