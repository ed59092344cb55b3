package sourcetest

import (
	"sync/atomic"
	"testing"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agentstreamtest"
)

// witness is the handler of one Run: it records, and notes calls that overlap
// or come outside of Run.
type witness struct {
	agentstreamtest.Recorder
	open, inside atomic.Int32
	outside      atomic.Int32
	overlap      atomic.Int32
}

func (w *witness) watch(call func()) {
	if w.open.Load() == 0 {
		w.outside.Add(1)
	}
	if w.inside.Add(1) > 1 {
		w.overlap.Add(1)
	}
	call()
	w.inside.Add(-1)
}

func (w *witness) OnMessageChunk(text string) { w.watch(func() { w.Recorder.OnMessageChunk(text) }) }
func (w *witness) OnThoughtChunk(text string) { w.watch(func() { w.Recorder.OnThoughtChunk(text) }) }
func (w *witness) OnToolCall(id, title string) {
	w.watch(func() { w.Recorder.OnToolCall(id, title) })
}
func (w *witness) OnToolCallUpdate(id, content string, status agentstream.ToolCallStatus) {
	w.watch(func() { w.Recorder.OnToolCallUpdate(id, content, status) })
}
func (w *witness) OnToolCallArgsSnapshot(id, args string) {
	w.watch(func() { w.Recorder.OnToolCallArgsSnapshot(id, args) })
}
func (w *witness) OnTokenUsage(total int) { w.watch(func() { w.Recorder.OnTokenUsage(total) }) }

// Forward keeps every event that is not one of the six.
func (w *witness) Forward(e agentstream.Event) (taken bool) {
	w.watch(func() { taken = w.Recorder.Forward(e) })
	return taken
}

// verdict reports what broke G1 to G5.
func (w *witness) verdict(t *testing.T) {
	t.Helper()
	if n := w.outside.Load(); n > 0 {
		t.Errorf("G1, G2: %d calls outside of Run", n)
	}
	if n := w.overlap.Load(); n > 0 {
		t.Errorf("G1: %d calls while another was under way", n)
	}
	for _, b := range Check(w.Events()) {
		t.Error(b)
	}
}
