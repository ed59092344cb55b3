package blob

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/agui"
)

func TestEvent(t *testing.T) {
	long := strings.Repeat("x", Large+1)
	object := []byte(`{"agentstream":{"text":"` + long + `"}}`)
	s := shelf{}
	content, ref := Text("/content", long, s.keep)
	metadata := Cut(object, "/metadata", s.keep)
	at := agui.Base{Timestamp: 7, Metadata: metadata}
	plain := agui.Base{Timestamp: 7, Metadata: object}
	for _, c := range []struct{ short, want agui.Event }{
		{&agui.ToolCallStart{Base: at, ToolCallID: "c"}, &agui.ToolCallStart{Base: plain, ToolCallID: "c"}},
		{&agui.ToolCallEnd{Base: at, ToolCallID: "c"}, &agui.ToolCallEnd{Base: plain, ToolCallID: "c"}},
		{&agui.Custom{Name: "n", Value: Cut(object, "/value", s.keep)}, &agui.Custom{Name: "n", Value: object}},
		{&agui.ActivitySnapshot{MessageID: "a", Content: Cut(object, "/content", s.keep)}, &agui.ActivitySnapshot{MessageID: "a", Content: object}},
		{
			&agui.ToolCallResult{Base: agui.Base{Metadata: Note(metadata, ref)}, Content: agui.StringContent(content)},
			&agui.ToolCallResult{Base: agui.Base{Metadata: object}, Content: agui.StringContent(long)},
		},
	} {
		got, err := Event(c.short, s.load)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(agui.Append(nil, c.want), agui.Append(nil, got)); diff != "" {
			t.Errorf("%s: %.1000s", c.want.Type(), diff)
		}
		lost := errors.New("lost")
		if got, err := Event(c.short, func(string) ([]byte, error) { return nil, lost }); got != c.short || !errors.Is(err, lost) {
			t.Errorf("%s: what was lost: %v", c.want.Type(), err)
		}
	}
	var other agui.Event = &agui.RunError{Message: "x"}
	if got, err := Event(other, nil); got != other || err != nil {
		t.Errorf("%v, %v", got, err)
	}
}
