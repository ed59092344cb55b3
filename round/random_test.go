package round

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cloudwego/eino/schema"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// TestRandomThreads drives turns of every kind of nonsense and holds them to
// everything that is promised, with and without the events that may be lost.
func TestRandomThreads(t *testing.T) {
	first := seed(t)
	n := uint64(400)
	if testing.Short() {
		n = 200
	}
	for i := range n {
		script := randomScript(first*1_000_000+i, 10+int(i%90))
		checkScript(t, script, []string{"", "cancelled", "failed"}[i%3])
		checkScript(t, withoutRich(script), "")
		if t.Failed() {
			t.Fatalf("thread %d:\n%s", i, show(script))
		}
	}
}

func checkScript(t testing.TB, script []step, reason string) *stage {
	s := newStage(t)
	s.play(script)
	s.close(reason)
	s.do(step{event: agentstream.MessageChunk{Text: "after the end"}})
	s.same()
	checkRounds(t, s.rounds)
	checkOracle(t, script, s)
	checkList(t, s.driven)
	checkArguments(t, s)
	return s
}

// checkArguments: a client and a round have the same arguments, but that a round
// has an object of them.
func checkArguments(t testing.TB, s *stage) {
	t.Helper()
	listed := map[string]string{}
	for _, m := range s.folded.Messages() {
		for _, c := range m.ToolCalls {
			listed[c.ID] = c.Arguments
		}
	}
	for _, r := range latest(s.rounds) {
		for _, c := range r.Messages[0].ToolCalls {
			if made, _ := object([]byte(listed[c.ID])); !equalJSON(made, []byte(c.Function.Arguments)) {
				t.Errorf("the arguments of %s are %s in the round, %s in the list", c.ID, c.Function.Arguments, listed[c.ID])
			}
		}
	}
}

var (
	goodName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)
	goodID   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,40}$`)
)

// checkRounds holds what was handed out to R1, R2, R4, R7 and R8.
func checkRounds(t testing.TB, rounds []Round) {
	t.Helper()
	revisions := map[int]int{}
	for _, r := range rounds {
		if r.Revision != revisions[r.Number]+1 {
			t.Errorf("round %d: revision %d after %d", r.Number, r.Revision, revisions[r.Number])
		}
		revisions[r.Number] = r.Revision
		if err := Validate(Eino, r.Messages); err != nil {
			t.Errorf("round %d.%d: %v", r.Number, r.Revision, err)
		}
		checkRound(t, r)
	}
	for n := range revisions {
		if n < 1 || n > len(revisions) {
			t.Errorf("rounds are not numbered one by one: %v", revisions)
		}
	}
	all := history(rounds)
	for _, p := range []string{Eino, OpenAI, Anthropic, Gemini} {
		if err := Validate(p, all); err != nil {
			t.Error(err)
		}
		if p == Gemini {
			continue
		}
		if data, err := Format(p, all); err != nil || !json.Valid(data) {
			t.Errorf("format for %s: %v: %s", p, err, data)
		}
	}
}

func checkRound(t testing.TB, r Round) {
	t.Helper()
	complete := true
	for i, m := range r.Messages {
		info, ok := InfoOf(m)
		if !ok || info.Round != r.Number || info.Revision != r.Revision || info.Run != r.Run {
			t.Errorf("round %d.%d: message %d says it is of %+v", r.Number, r.Revision, i, info)
		}
		if (i == 0) != (m.Role == schema.Assistant) {
			t.Errorf("round %d.%d: message %d is of %s", r.Number, r.Revision, i, m.Role)
		}
		if m.Name != "" || m.MultiContent != nil {
			t.Errorf("round %d.%d: message %d has fields that stay unset", r.Number, r.Revision, i)
		}
		for _, c := range m.ToolCalls {
			if !goodName.MatchString(c.Function.Name) || !goodID.MatchString(c.ID) || c.Index != nil {
				t.Errorf("round %d.%d: the call %+v", r.Number, r.Revision, c)
			}
		}
		if m.Role == schema.Tool {
			complete = complete && info.Placeholder == ""
			if strings.HasPrefix(m.Content, "[no result: ") != (info.Placeholder != "") {
				t.Errorf("round %d.%d: placeholder %q, text %q", r.Number, r.Revision, info.Placeholder, m.Content)
			}
			if info.Status == "failed" && m.Content == "" {
				t.Errorf("round %d.%d: a failure without a word", r.Number, r.Revision)
			}
		}
	}
	if complete != r.Complete {
		t.Errorf("round %d.%d: complete is %v", r.Number, r.Revision, r.Complete)
	}
}

// checkOracle compares with what a reader finds that only joins texts and takes
// each call's first terminal: nothing said is lost, nothing is invented.
func checkOracle(t testing.TB, script []step, s *stage) {
	t.Helper()
	var said, thought strings.Builder
	first := map[string]agentstream.ToolCallUpdate{}
	declared := map[string]bool{}
	for _, x := range script {
		switch e := x.event.(type) {
		case agentstream.MessageChunk:
			said.WriteString(valid(e.Text))
		case agentstream.ThoughtChunk:
			thought.WriteString(valid(e.Text))
		case agentstream.ToolCall:
			declared[e.ID] = true
		case agentstream.ToolCallUpdate:
			if _, answered := first[e.ID]; declared[e.ID] && !answered && e.Status.IsTerminal() {
				first[e.ID] = e
			}
		}
	}
	var gotSaid, gotThought strings.Builder
	found := map[string]bool{}
	for _, r := range latest(s.rounds) {
		info, _ := InfoOf(r.Messages[0])
		texts := map[string]string{"text": r.Messages[0].Content, "reasoning": r.Messages[0].ReasoningContent}
		for _, seg := range info.Segments {
			rest := texts[seg.Kind]
			piece := rest[:seg.Length]
			texts[seg.Kind] = strings.TrimPrefix(rest[seg.Length:], "\n\n")
			if seg.Kind == "text" {
				gotSaid.WriteString(piece)
			} else {
				gotThought.WriteString(piece)
			}
		}
		for i, c := range info.Calls {
			m := r.Messages[i+1]
			e, answered := first[c.AgentID]
			want := valid(e.Content)
			if answered && want == "" && e.Status == agentstream.ToolCallStatusFailed {
				want = "Tool call failed."
			}
			about, _ := InfoOf(m)
			if found[c.AgentID] || !declared[c.AgentID] || answered != (about.Placeholder == "") || answered && m.Content != want {
				t.Errorf("the call %q has the result %q (placeholder %q), want %q", c.AgentID, m.Content, about.Placeholder, want)
			}
			found[c.AgentID] = true
		}
	}
	if len(found) != len(declared) {
		t.Errorf("%d calls were declared, %d are in rounds", len(declared), len(found))
	}
	if gotSaid.String() != said.String() || gotThought.String() != thought.String() {
		t.Errorf("said %q, stored %q; thought %q, stored %q", said.String(), gotSaid.String(), thought.String(), gotThought.String())
	}
}

// checkList holds the list to U1, U4 and U5.
func checkList(t testing.TB, l *agui.List) {
	t.Helper()
	seen := map[string]bool{}
	open := map[string]bool{}
	for _, m := range l.Messages() {
		if m.ID != "u1" && (!goodID.MatchString(m.ID) || !strings.HasPrefix(m.ID, testPrefix+"-")) {
			t.Errorf("the id %q", m.ID)
		}
		if seen[m.ID] {
			t.Errorf("the id %q stands there twice", m.ID)
		}
		seen[m.ID] = true
		for _, c := range m.ToolCalls {
			if seen[c.ID] || !goodID.MatchString(c.ID) {
				t.Errorf("the call id %q", c.ID)
			}
			seen[c.ID], open[c.ID] = true, true
		}
		if m.Role == agui.RoleTool {
			if !open[m.ToolCallID] {
				t.Errorf("a result of %q that is none of a call without one", m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		}
	}
	if len(open) > 0 {
		t.Error(fmt.Sprint("calls without a result: ", open))
	}
}
