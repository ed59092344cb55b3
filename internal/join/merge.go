package join

import "github.com/agentstream-go/agentstream/agui"

// Merge joins adjacent deltas of one thing, because a stock client's work for an
// event grows with its history. Events with metadata stay as they are.
func Merge(events []agui.Event) []agui.Event {
	out := make([]agui.Event, 0, min(len(events), 64))
	var text []byte // of the last event of out, while it grows
	flush := func() {
		if text == nil {
			return
		}
		switch e := out[len(out)-1].(type) {
		case *agui.TextMessageContent:
			merged := *e
			merged.Delta = string(text)
			out[len(out)-1] = &merged
		case *agui.ReasoningMessageContent:
			merged := *e
			merged.Delta = string(text)
			out[len(out)-1] = &merged
		case *agui.ToolCallArgs:
			merged := *e
			merged.Delta = string(text)
			out[len(out)-1] = &merged
		}
		text = nil
	}
	for _, e := range events {
		if len(out) > 0 {
			if first, next, ok := joins(out[len(out)-1], e); ok {
				if text == nil {
					text = append(text, first...)
				}
				text = append(text, next...)
				continue
			}
		}
		flush()
		out = append(out, e)
	}
	flush()
	return out
}

// joins reports whether b goes on with what a said, and gives both texts.
func joins(a, b agui.Event) (first, next string, ok bool) {
	switch x := a.(type) {
	case *agui.TextMessageContent:
		if y, is := b.(*agui.TextMessageContent); is && x.MessageID == y.MessageID && plain(x.Base, y.Base) {
			return x.Delta, y.Delta, true
		}
	case *agui.ReasoningMessageContent:
		if y, is := b.(*agui.ReasoningMessageContent); is && x.MessageID == y.MessageID && plain(x.Base, y.Base) {
			return x.Delta, y.Delta, true
		}
	case *agui.ToolCallArgs:
		if y, is := b.(*agui.ToolCallArgs); is && x.ToolCallID == y.ToolCallID && plain(x.Base, y.Base) {
			return x.Delta, y.Delta, true
		}
	}
	return "", "", false
}

func plain(a, b agui.Base) bool {
	return a.Metadata == nil && b.Metadata == nil && a.SubagentRunID == b.SubagentRunID
}
