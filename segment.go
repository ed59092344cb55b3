package agentstream

// Segment says that the next chunk begins a new message: a boundary that the
// wire shows and text never carries (a retry, another model call).
type Segment struct{}

// SegmentHandler is implemented by a StreamHandler that takes Segment events.
type SegmentHandler interface{ OnSegment(e Segment) }

func (e Segment) deliver(h StreamHandler) bool {
	x, ok := h.(SegmentHandler)
	if ok {
		x.OnSegment(e)
	}
	return ok
}

func (Segment) name() string { return "segment" }
