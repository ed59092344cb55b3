package round

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/cloudwego/eino/schema"
	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

const testPrefix = "abcd1234"

// seed is the same on every run unless AGENTSTREAM_SEED says another.
func seed(t testing.TB) uint64 {
	t.Helper()
	n := uint64(1)
	if s := os.Getenv("AGENTSTREAM_SEED"); s != "" {
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("AGENTSTREAM_SEED: %v", err)
		}
		n = v
	}
	t.Logf("AGENTSTREAM_SEED=%d", n)
	return n
}

// stage is a Builder in a thread: what an engine does around it, and everything
// that came out.
type stage struct {
	t       testing.TB
	builder *Builder
	emitter *agui.Emitter
	driven  *agui.List // by the Builder's calls
	folded  *agui.List // by the decoded events
	v0, v1  *agui.Verifier
	frames  []string
	runs    int
	tick    int64
	rounds  []Round
	opened  bool
	epoch   int64
	stamps  func() time.Time // of events
	plain   bool             // other tests check the events, this one only keeps them
}

func newStage(t testing.TB) *stage {
	s := &stage{
		t: t, driven: agui.NewList(), folded: agui.NewList(),
		v0: agui.NewVerifier(agui.V0), v1: agui.NewVerifier(agui.V1),
		epoch: 1_700_000_000_000,
	}
	s.stamps = s.now
	return s.ready()
}

func (s *stage) ready() *stage {
	s.begin()
	s.builder = NewBuilder(s.config())
	return s
}

// newPlainStage is one whose events are not checked, which takes most of the time.
func newPlainStage(t testing.TB) *stage {
	s := newStage(t)
	s.plain = true
	return s
}

// newReadableStage is one whose output people read: no timestamps, and times
// that count the steps.
func newReadableStage(t testing.TB) *stage {
	return (&stage{
		t: t, driven: agui.NewList(), folded: agui.NewList(),
		v0: agui.NewVerifier(agui.V0), v1: agui.NewVerifier(agui.V1),
	}).ready()
}

func (s *stage) config() Config {
	return Config{
		Thread: "t", Run: s.run(), Prefix: testPrefix, FirstRound: 1,
		Events: s.handler(), OnRound: s.onRound, Now: s.now,
	}
}

func (s *stage) now() time.Time             { return time.UnixMilli(s.epoch + s.tick) }
func (s *stage) run() string                { return fmt.Sprintf("run%d", s.runs) }
func (s *stage) handler() agui.EventHandler { return agui.Handlers(s.driven, s.emitter) }
func (s *stage) onRound(r Round)            { s.rounds = append(s.rounds, r) }
func (s *stage) user() agui.Message {
	return agui.Message{ID: "u1", Role: agui.RoleUser, Content: agui.StringContent("Hi")}
}

// begin opens a run.
func (s *stage) begin() {
	s.runs++
	s.opened = true
	s.emitter = agui.NewEmitter(agui.EmitterConfig{Thread: "t", Run: s.run(), Now: s.stamps, Sink: s.sink})
	start := agui.RunStarted{}
	if s.runs == 1 {
		s.driven.Add(s.user())
		start.Input = &agui.Input{ThreadID: "t", RunID: s.run(), Messages: []agui.Message{s.user()}}
	}
	s.emitter.Begin(start)
}

func (s *stage) sink(_ agui.Type, event []byte) {
	s.frames = append(s.frames, string(event))
	if s.plain {
		return
	}
	for version, v := range map[string]*agui.Verifier{"0.0.59": s.v0, "1.0.0": s.v1} {
		if err := v.CheckJSON(event); err != nil {
			s.t.Errorf("client %s: %v\n%s", version, err, event)
		}
	}
	e, err := agui.Decode(event)
	if err != nil {
		s.t.Errorf("%v\n%s", err, event)
		return
	}
	s.folded.Apply(e)
}

// end ends the run; the lists have to be equal then.
func (s *stage) end(outcome *agui.Outcome) {
	s.t.Helper()
	if s.emitter.NeedsSnapshot() {
		s.emitter.Emit(&agui.MessagesSnapshot{Messages: s.driven.Messages()})
	}
	s.emitter.Finish(agui.RunFinished{Outcome: outcome})
	s.opened = false
	if s.plain {
		return
	}
	s.same()
	s.sameBytes()
}

func (s *stage) same() {
	s.t.Helper()
	if got, want := s.folded.AppendJSON(nil), s.driven.AppendJSON(nil); !bytes.Equal(got, want) {
		s.t.Errorf("what a client holds is not what the Builder's calls describe (-described +held):\n%s",
			cmp.Diff(indent(want), indent(got)))
	}
}

// sameBytes holds raw JSON to more: what was streamed and what is stored are the
// same bytes, not only the same values.
func (s *stage) sameBytes() {
	s.t.Helper()
	if diff := cmp.Diff(s.driven.Messages(), s.folded.Messages()); diff != "" {
		s.t.Errorf("(-described +held):\n%s", diff)
	}
}

func indent(data []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", " ") != nil {
		return string(data)
	}
	return b.String()
}

func (s *stage) do(x step) {
	s.t.Helper()
	s.tick++
	switch {
	case x.event != nil:
		agentstream.Send(s.builder, x.event)
	case x.do == "hold":
		s.builder.Hold(x.id)
	case x.do == "release":
		s.builder.Release(x.id)
	case x.do == "suspend":
		s.builder.Suspend()
		s.end(&agui.Outcome{Type: agui.OutcomeInterrupt, Interrupts: []agui.Interrupt{{
			ID: fmt.Sprintf("i%d", s.runs), Reason: "tool_call",
		}}})
	case x.do == "resume":
		s.begin()
		s.builder.Resume(s.run(), s.handler())
	default:
		s.t.Fatalf("no step is called %q", x.do)
	}
}

func (s *stage) play(script []step) {
	s.t.Helper()
	for _, x := range script {
		s.do(x)
	}
}

// close ends the turn and its last run.
func (s *stage) close(reason string) {
	s.t.Helper()
	s.tick++
	if !s.opened {
		s.begin()
		s.builder.Resume(s.run(), s.handler())
	}
	s.builder.Close(reason)
	s.end(nil)
	if s.plain {
		return
	}
	for version, v := range map[string]*agui.Verifier{"0.0.59": s.v0, "1.0.0": s.v1} {
		if err := v.End(); err != nil {
			s.t.Errorf("client %s: %v", version, err)
		}
	}
}

// latest are the rounds as a reader has them that keeps the highest revision.
func latest(rounds []Round) []Round {
	byNumber := map[int]Round{}
	for _, r := range rounds {
		if r.Revision >= byNumber[r.Number].Revision {
			byNumber[r.Number] = r
		}
	}
	var out []Round
	for _, r := range byNumber {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Round) int { return a.Number - b.Number })
	return out
}

// history is the thread as a model gets it.
func history(rounds []Round) []*schema.Message {
	messages := []*schema.Message{schema.UserMessage("Hi")}
	for _, r := range latest(rounds) {
		messages = append(messages, r.Messages...)
	}
	return messages
}
