package round

import (
	"encoding/json"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// Restore folds the stored AG-UI events of a turn (of all its runs so far) back
// into a Builder, as after a crash. Nothing is called while it folds; Close then
// closes what the events left open and hands out every round of the turn, those
// that were handed out before too, with revisions not lower than theirs.
// Config.Run is the run that goes on or is to be closed, Config.FirstRound the
// number of the turn's first round. An error means that the events are no turn
// of this Prefix.
//
// A terminal closes a run for the Builder as Suspend does: to close a turn whose
// last stored run has ended, give a new run to Resume first.
func Restore(cfg Config, events iter.Seq[agui.Event]) (*Builder, error) {
	live := cfg
	cfg.Events, cfg.OnRound = nil, nil
	b := NewBuilder(cfg)
	f := &fold{b: b, calls: map[string]*call{}, lanes: map[string]*lane{"": b.main}}
	clock := b.clock
	b.clock = func() int64 { return f.now }
	for e := range events {
		if err := f.apply(e); err != nil {
			return nil, fmt.Errorf("round: restoring the turn %s: %w", cfg.Prefix, err)
		}
	}
	for _, r := range b.main.rounds {
		r.again = true
	}
	b.restored = true
	b.minted = f.minted
	b.clock = clock
	b.cfg = live
	if live.Events != nil {
		b.events = live.Events
	}
	return b, nil
}

// fold is a Builder that is driven by what it once said: the same steps, but
// with the ids and times that the events have.
type fold struct {
	b      *Builder
	now    int64
	minted int
	runs   int
	calls  map[string]*call // by public id
	lanes  map[string]*lane // by public id of the sub-agent
}

func (f *fold) apply(e agui.Event) error {
	switch e := e.(type) {
	case *agui.RunStarted:
		f.run(e.RunID)
	case *agui.TextMessageStart:
		f.at(e.Timestamp)
		return f.open(agui.KindText, e.MessageID, e.SubagentRunID)
	case *agui.TextMessageContent:
		f.chunk(agui.KindText, e.MessageID, e.Delta)
	case *agui.TextMessageEnd:
		f.at(e.Timestamp)
		f.close(e.MessageID)
	case *agui.ReasoningMessageStart:
		f.at(e.Timestamp)
		return f.open(agui.KindReasoning, e.MessageID, e.SubagentRunID)
	case *agui.ReasoningMessageContent:
		f.chunk(agui.KindReasoning, e.MessageID, e.Delta)
	case *agui.ReasoningMessageEnd:
		f.at(e.Timestamp)
		f.close(e.MessageID)
	case *agui.ToolCallStart:
		f.at(e.Timestamp)
		return f.callStart(e)
	case *agui.ToolCallArgs:
		if c := f.calls[e.ToolCallID]; c != nil {
			c.sent.add(e.Delta)
		}
	case *agui.ToolCallEnd:
		if c := f.calls[e.ToolCallID]; c != nil {
			c.ended = true
			f.callMeta(c, e.Metadata)
		}
	case *agui.ToolCallResult:
		f.at(e.Timestamp)
		return f.result(e)
	case *agui.ActivitySnapshot:
		return f.activity(e)
	case *agui.SubagentStarted:
		return f.subagent(e)
	case *agui.SubagentFinished:
		if e.Outcome == nil || e.Outcome.Type != agui.OutcomeSuspended {
			f.subagentEnd(e.SubagentRunID)
		} else if l := f.lanes[e.SubagentRunID]; l != nil {
			l.shown = false
		}
	case *agui.SubagentError:
		f.subagentEnd(e.SubagentRunID)
	case *agui.Custom:
		f.custom(e)
	}
	return nil
}

// at sets the time; an event without one has that of the event before it.
func (f *fold) at(timestamp int64) {
	if timestamp != 0 {
		f.now = timestamp
	}
}

func (f *fold) run(id string) {
	f.b.cfg.Run = id
	f.runs++
	if f.runs > 1 {
		f.b.runNo++
	}
}

// lane is where an event belongs; one of a sub-agent that was never announced
// is the turn's own.
func (f *fold) lane(subagent string) *lane {
	if l := f.lanes[subagent]; l != nil {
		return l
	}
	return f.b.main
}

// seen checks that an id is the turn's own, and moves the counter behind it.
func (f *fold) seen(id string) error {
	rest, ok := strings.CutPrefix(id, f.b.cfg.Prefix+"-")
	if !ok || len(rest) < 2 {
		return fmt.Errorf("the id %q is of another turn", id)
	}
	n, err := strconv.Atoi(rest[1:])
	if err != nil {
		return fmt.Errorf("the id %q is none of a turn: %w", id, err)
	}
	f.minted = max(f.minted, n)
	return nil
}

func (f *fold) open(kind agui.Kind, id, subagent string) error {
	if err := f.seen(id); err != nil {
		return err
	}
	f.lane(subagent).openSegment(kind, id)
	return nil
}

func (f *fold) each(id string, do func(*lane)) {
	for _, l := range f.lanes {
		if l.open != nil && l.open.id == id {
			do(l)
			return
		}
	}
}

func (f *fold) chunk(kind agui.Kind, id, text string) {
	f.each(id, func(l *lane) {
		if l.open.kind == kind {
			l.grow(l.open, text)
		}
	})
}

func (f *fold) close(id string) { f.each(id, func(l *lane) { l.closeSegment() }) }

func (f *fold) callStart(e *agui.ToolCallStart) error {
	if c := f.calls[e.ToolCallID]; c != nil {
		c.ended = false
		f.callMeta(c, e.Metadata)
		return nil
	}
	if err := f.seen(e.ToolCallID); err != nil {
		return err
	}
	if err := f.seen(e.ParentMessageID); err != nil {
		return err
	}
	meta := metaOf[callMeta](e.Metadata)
	l := f.lane(e.SubagentRunID)
	c := &call{agentID: meta.ID, id: e.ToolCallID, name: e.ToolCallName}
	f.calls[c.id] = c
	l.closeSegment()
	l.addCall(c, e.ParentMessageID)
	f.callMeta(c, e.Metadata)
	return nil
}

// callMeta takes over what the metadata of a START or END says.
func (f *fold) callMeta(c *call, metadata json.RawMessage) {
	if len(metadata) == 0 {
		return
	}
	m := metaOf[callMeta](metadata)
	c.know(info(m.Title, m.Kind, m.Locations))
	c.shown, c.shownTitle, c.stale = metadata, m.Title, false
}

func info(title, kind string, at []Location) agentstream.ToolCallInfo {
	i := agentstream.ToolCallInfo{Title: title, Kind: kind}
	for _, l := range at {
		i.Locations = append(i.Locations, agentstream.Location(l))
	}
	return i
}

func (f *fold) result(e *agui.ToolCallResult) error {
	c := f.calls[e.ToolCallID]
	if c == nil || c.result != nil {
		return nil
	}
	if err := f.seen(e.MessageID); err != nil {
		return err
	}
	meta := metaOf[resultMeta](e.Metadata)
	message := agui.Message{Content: e.Content}
	c.finish(&outcome{
		id: e.MessageID, content: message.Text(),
		failed: meta.Status == "failed", placeholder: meta.Placeholder,
	})
	c.lane.offer(c.round)
	return nil
}

func (f *fold) activity(e *agui.ActivitySnapshot) error {
	if f.seen(e.MessageID) == nil && e.ActivityType == "plan" {
		f.lane(e.SubagentRunID).plan = e.MessageID
	}
	return nil
}

func (f *fold) subagent(e *agui.SubagentStarted) error {
	if l := f.lanes[e.SubagentRunID]; l != nil {
		l.shown = true
		return nil
	}
	if err := f.seen(e.SubagentRunID); err != nil {
		return err
	}
	l := newLane(f.b, f.lane(e.ParentSubagentRunID), metaOf[subagentMeta](e.Metadata).ID, e.SubagentRunID)
	l.name, l.owner, l.shown = e.Name, e.ParentToolCallID, true
	if c := f.calls[e.ParentToolCallID]; c != nil {
		c.sub = l.id
	}
	f.lanes[l.id] = l
	f.b.subs = append(f.b.subs, l)
	return nil
}

func (f *fold) subagentEnd(id string) {
	if l := f.lanes[id]; l != nil && l.parent != nil {
		l.leave()
		delete(f.lanes, id)
	}
}

// custom takes back what no message holds yet.
func (f *fold) custom(e *agui.Custom) {
	var about struct {
		ToolCallID string `json:"toolCallId"`
	}
	if decode(e.Value, &about) != nil {
		return
	}
	if e.Name == "agentstream.context" {
		var note contextNote
		if decode(e.Value, &note) == nil {
			l := f.lane(e.SubagentRunID)
			l.used, l.size = note.Used, note.Size
		}
		return
	}
	c := f.calls[about.ToolCallID]
	if c == nil || c.result != nil {
		return
	}
	switch e.Name {
	case "agentstream.arguments":
		var note argumentsNote
		if decode(e.Value, &note) == nil && note.From >= 0 && note.From <= c.length() {
			c.rewrite(note.From, note.Text)
		}
	case "agentstream.tool":
		var note toolNote
		if decode(e.Value, &note) == nil {
			i := info(note.Title, note.Kind, note.Locations)
			i.ExitCode, i.Partial = note.ExitCode, note.Partial
			c.know(i)
		}
	case "agentstream.diff":
		var note diffNote
		if decode(e.Value, &note) == nil {
			c.diffs = append(c.diffs, note.diff)
		}
	case "agentstream.media":
		var note mediaNote
		if decode(e.Value, &note) == nil {
			c.media = append(c.media, note.media)
		}
	case "agentstream.output":
		var note outputNote
		if decode(e.Value, &note) == nil {
			c.print(note.Data)
		}
	}
}

// metaOf reads what stands under "agentstream"; what is not there is zero.
func metaOf[T any](metadata json.RawMessage) T {
	var m struct {
		Agentstream T `json:"agentstream"`
	}
	if len(metadata) > 0 && decode(metadata, &m) != nil {
		m.Agentstream = *new(T)
	}
	return m.Agentstream
}
