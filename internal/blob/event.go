package blob

import "github.com/agentstream-go/agentstream/agui"

// Event gives an AG-UI event with everything in its place again that was taken
// out of it. With an error, which is one of load's, the event is as it was.
func Event(e agui.Event, load func(hash string) ([]byte, error)) (agui.Event, error) {
	var full agui.Event
	var err error
	switch x := e.(type) {
	case *agui.ToolCallStart:
		whole := *x
		full = &whole
		whole.Metadata, err = Fill(x.Metadata, "/metadata", load)
	case *agui.ToolCallEnd:
		whole := *x
		full = &whole
		whole.Metadata, err = Fill(x.Metadata, "/metadata", load)
	case *agui.Custom:
		whole := *x
		full = &whole
		whole.Value, err = Fill(x.Value, "/value", load)
	case *agui.ActivitySnapshot:
		whole := *x
		full = &whole
		whole.Content, err = Fill(x.Content, "/content", load)
	case *agui.ToolCallResult:
		return result(x, load)
	default:
		return e, nil
	}
	if err != nil {
		return e, err
	}
	return full, nil
}

// result gives a result whole. What its text was is noted in the metadata.
func result(e *agui.ToolCallResult, load func(string) ([]byte, error)) (agui.Event, error) {
	whole := *e
	for _, r := range Refs(e.Metadata) {
		if r.Path != "/content" {
			continue
		}
		payload, err := load(r.SHA256)
		if err != nil {
			return e, err
		}
		whole.Content = agui.StringContent(r.Text(payload))
	}
	var err error
	if whole.Metadata, err = Fill(e.Metadata, "/metadata", load); err != nil {
		return e, err
	}
	return &whole, nil
}
