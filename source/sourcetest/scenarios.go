package sourcetest

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
)

var finish = Step{Do: End, Text: "end_turn"}

var scenarios = []scenario{
	{
		name: "G1 G2 everything said before the answer belongs to the turn",
		script: Script{{
			{Do: Think, Text: "hm"}, {Do: Say, Text: "one "}, {Do: Say, Text: "two "}, {Do: Say, Text: "three"}, finish,
		}, {{Do: Say, Text: "again"}, {Do: End, Text: "max_tokens"}}},
		check: func(t *testing.T, turns []turn, _ *stage) {
			wantEnd(t, turns[0], source.EndTurn)
			wantText(t, turns[0], "one two three")
			wantEnd(t, turns[1], source.MaxTokens)
			wantText(t, turns[1], "again")
		},
	},
	{
		name:   "G1 G2 a long answer loses nothing",
		script: Script{append(slices.Repeat([]Step{{Do: Say, Text: "x"}}, 5000), finish)},
		check: func(t *testing.T, turns []turn, _ *stage) {
			wantText(t, turns[0], strings.Repeat("x", 5000))
		},
	},
	{
		name:   "G2 what comes after the answer is the observer's",
		script: Script{{{Do: Say, Text: "in time"}, finish, {Do: Say, Text: "too late"}}},
		check: func(t *testing.T, turns []turn, s *stage) {
			wantText(t, turns[0], "in time")
			s.await(t, func(e agentstream.Event) bool { return e == agentstream.MessageChunk{Text: "too late"} })
		},
	},
	{
		name: "G3 a call that is never announced is declared on first sight",
		script: Script{{
			{Do: Args, ID: "a", Text: `{"k":1}`}, {Do: Done, ID: "a", Text: "ok"}, {Do: Ask, ID: "b"}, {Do: Done, ID: "b", Text: "ok"}, finish,
		}},
		ask: allow,
		check: func(t *testing.T, turns []turn, _ *stage) {
			wantCalls(t, turns[0], "a", "b")
		},
	},
	{
		name: "G3 a call that is announced twice is one call",
		script: Script{{
			{Do: Call, ID: "a", Text: "read"}, {Do: Call, ID: "a", Text: "read it"}, {Do: Args, ID: "a", Text: `{"k":1}`}, {Do: Done, ID: "a", Text: "ok"}, finish,
		}},
		check: func(t *testing.T, turns []turn, _ *stage) { wantCalls(t, turns[0], "a") },
	},
	{
		name: "G3 news of an earlier turn's call declares nothing",
		script: Script{
			{{Do: Call, ID: "a", Text: "sleep"}, {Do: Say, Text: "going on"}, finish},
			{{Do: Done, ID: "a", Text: "at last"}, {Do: Say, Text: "hello"}, finish},
		},
		check: func(t *testing.T, turns []turn, _ *stage) {
			wantCalls(t, turns[1])
			wantText(t, turns[1], "hello")
		},
	},
	{
		name: "G4 the first terminal counts",
		script: Script{{
			{Do: Call, ID: "a", Text: "run"}, {Do: Done, ID: "a", Text: "first"}, {Do: Fail, ID: "a", Text: "second"}, {Do: Args, ID: "a", Text: `{"late":1}`}, finish,
		}},
		check: func(t *testing.T, turns []turn, _ *stage) {
			wantResult(t, turns[0], "a", "first", agentstream.ToolCallStatusCompleted)
		},
	},
	{
		name:   "G4 a refused call has failed before anything else is said",
		script: Script{{{Do: Call, ID: "a", Text: "rm"}, {Do: Ask, ID: "a"}, {Do: Say, Text: "then not"}, finish}},
		check: func(t *testing.T, turns []turn, _ *stage) {
			end := slices.IndexFunc(turns[0].events, func(e agentstream.Event) bool {
				u, ok := e.(agentstream.ToolCallUpdate)
				return ok && u.ID == "a" && u.Status == agentstream.ToolCallStatusFailed
			})
			said := slices.Index(turns[0].events, agentstream.Event(agentstream.MessageChunk{Text: "then not"}))
			if end < 0 || said < end {
				t.Errorf("the failed terminal is event %d, the text event %d", end, said)
			}
		},
	},
	{
		name:   "G5 a rune that the wire cuts stays whole",
		script: Script{{{Do: Halves, Text: "bravo 🎉"}, {Do: Say, Text: "!"}, finish}},
		check:  func(t *testing.T, turns []turn, _ *stage) { wantText(t, turns[0], "bravo 🎉!") },
	},
	{
		name:   "G6 token usage is a gauge",
		script: Script{{{Do: Usage, Text: "100"}, {Do: Say, Text: "x"}, {Do: Usage, Text: "80"}, finish}, {{Do: Usage, Text: "90"}, {Do: Say, Text: "y"}, finish}},
		check: func(t *testing.T, turns []turn, _ *stage) {
			var got []int
			for _, turn := range turns {
				for _, e := range turn.events {
					if u, ok := e.(agentstream.TokenUsage); ok {
						got = append(got, u.TotalTokens)
					}
				}
			}
			if want := []int{100, 80, 90}; !slices.Equal(got, want) {
				t.Errorf("usage %v, want %v", got, want)
			}
		},
	},
	{
		name:   "G7 a cancelled turn ends with the cause, and the session goes on",
		script: Script{{{Do: Say, Text: "working"}, {Do: Hang}, {Do: Say, Text: " stopped"}, {Do: End, Text: "cancelled"}}, {{Do: Say, Text: "next"}, finish}},
		cancel: true,
		check: func(t *testing.T, turns []turn, _ *stage) {
			wantCause(t, turns[0])
			wantText(t, turns[0], "working stopped")
			wantEnd(t, turns[1], source.EndTurn)
			wantText(t, turns[1], "next")
		},
	},
	{
		name:   "G7 an agent that ignores the cancel spoils its session",
		script: Script{{{Do: Say, Text: "working"}, {Do: Deaf}}, {finish}},
		cancel: true,
		check: func(t *testing.T, turns []turn, _ *stage) {
			wantCause(t, turns[0])
			if !errors.Is(turns[1].err, source.ErrSpoilt) {
				t.Errorf("the next turn: %v", turns[1].err)
			}
		},
	},
	{
		name:   "G7 an open question ends with the turn",
		script: Script{{{Do: Say, Text: "may I"}, {Do: Ask, ID: "a"}, {Do: End, Text: "cancelled"}}},
		ask:    func(source.Request, func(source.Answer)) {},
		cancel: true,
		check:  func(t *testing.T, turns []turn, _ *stage) { wantCause(t, turns[0]) },
	},
	{
		name:   "G8 a process that left the group does not outlive Close",
		script: Script{{{Do: Spawn}, {Do: Say, Text: "done"}, finish}},
		check:  func(t *testing.T, turns []turn, _ *stage) { wantText(t, turns[0], "done") },
	},
	{
		name:   "G8 an agent that dies is an error with its last words",
		script: Script{{{Do: Spawn}, {Do: Say, Text: "half"}, {Do: Die, Text: "out of cheese"}}},
		check: func(t *testing.T, turns []turn, _ *stage) {
			wantText(t, turns[0], "half")
			var e *source.Error
			if !errors.As(turns[0].err, &e) || e.Code != source.CodeAgentExited || !strings.Contains(e.Detail, "out of cheese") {
				t.Errorf("error %#v", turns[0].err)
			}
		},
	},
	{
		name:   "G9 what nobody knows loses no turn",
		script: Script{{{Do: Odd}, {Do: Say, Text: "a"}, {Do: Odd}, {Do: Say, Text: "b"}, finish}},
		check: func(t *testing.T, turns []turn, _ *stage) {
			wantEnd(t, turns[0], source.EndTurn)
			wantText(t, turns[0], "ab")
		},
	},
}

// allow grants at once, from another goroutine.
func allow(q source.Request, reply func(source.Answer)) {
	for _, o := range q.Options {
		if o.Allows() {
			go reply(source.Answer{OptionID: o.ID})
			return
		}
	}
	reply(source.Answer{})
}

func wantEnd(t *testing.T, got turn, want source.StopReason) {
	t.Helper()
	if got.err != nil || got.reason != want {
		t.Errorf("ended with %q, %v; want %q", got.reason, got.err, want)
	}
}

func wantCause(t *testing.T, got turn) {
	t.Helper()
	if !errors.Is(got.err, errStop) {
		t.Errorf("G7: ended with %q, %v; want the cause of the cancel", got.reason, got.err)
	}
}

func wantText(t *testing.T, got turn, want string) {
	t.Helper()
	var b strings.Builder
	for _, e := range got.events {
		if c, ok := e.(agentstream.MessageChunk); ok {
			b.WriteString(c.Text)
		}
	}
	if s := b.String(); s != want {
		t.Errorf("text %.100q (%d bytes), want %.100q (%d); error %v", s, len(s), want, len(want), got.err)
	}
}

func wantCalls(t *testing.T, got turn, want ...string) {
	t.Helper()
	var ids []string
	for _, e := range got.events {
		if c, ok := e.(agentstream.ToolCall); ok {
			ids = append(ids, c.ID)
		}
	}
	if !slices.Equal(ids, want) {
		t.Errorf("declared %v, want %v", ids, want)
	}
}

func wantResult(t *testing.T, got turn, id, text string, status agentstream.ToolCallStatus) {
	t.Helper()
	want := agentstream.Event(agentstream.ToolCallUpdate{ID: id, Content: text, Status: status})
	if !slices.Contains(got.events, want) {
		t.Errorf("no %#v", want)
	}
}
