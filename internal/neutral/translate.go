// Package neutral reads an AG-UI stream as what it means by the contract, for
// whoever has events of a log and wants to render them.
package neutral

import (
	"encoding/json"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agui"
)

// Translator turns the AG-UI events of one turn into calls of a handler. It does
// no I/O and is for one goroutine. The zero value is ready.
//
// A call's arguments come as deltas, complete with TOOL_CALL_END. What AG-UI adds
// for itself (runs, steps, state, snapshots) says nothing by the contract and is
// passed over.
type Translator struct {
	lastText, lastThought string // ids of the last closed messages
	open                  bool   // calls or messages since the last chunk
}

// Event passes on what e means.
func (t *Translator) Event(e agui.Event, h agentstream.StreamHandler) {
	switch e := e.(type) {
	case *agui.TextMessageStart:
		t.segment(&t.lastText, e.MessageID, h)
	case *agui.TextMessageContent:
		t.open = false
		h.OnMessageChunk(e.Delta)
	case *agui.ReasoningMessageStart:
		t.segment(&t.lastThought, e.MessageID, h)
	case *agui.ReasoningMessageContent:
		t.open = false
		h.OnThoughtChunk(e.Delta)
	case *agui.ToolCallStart:
		t.call(e, h)
	case *agui.ToolCallArgs:
		h.OnToolCallUpdate(e.ToolCallID, e.Delta, agentstream.ToolCallStatusPending)
	case *agui.ToolCallEnd:
		h.OnToolCallUpdate(e.ToolCallID, "", agentstream.ToolCallStatusInProgress)
	case *agui.ToolCallResult:
		t.result(e, h)
	case *agui.ActivitySnapshot:
		activity(e, h)
	case *agui.Custom:
		custom(e, h)
	}
}

// segment tells of a boundary that no call and no other kind of chunk shows.
func (t *Translator) segment(last *string, id string, h agentstream.StreamHandler) {
	if *last != "" && *last != id && !t.open {
		agentstream.Send(h, agentstream.Segment{})
	}
	*last = id
}

type callMeta struct {
	Agentstream struct {
		Title     string                 `json:"title"`
		Kind      string                 `json:"kind"`
		Status    string                 `json:"status"`
		ExitCode  *int                   `json:"exitCode"`
		Partial   bool                   `json:"partial"`
		Locations []agentstream.Location `json:"locations"`
		Diffs     []struct {
			Path    string  `json:"path"`
			OldText *string `json:"old"`
			NewText string  `json:"new"`
		} `json:"diffs"`
	} `json:"agentstream"`
}

func (t *Translator) call(e *agui.ToolCallStart, h agentstream.StreamHandler) {
	var m callMeta
	_ = json.Unmarshal(e.Metadata, &m)
	a := m.Agentstream
	agentstream.Send(h, agentstream.ToolCallInfo{ID: e.ToolCallID, Name: e.ToolCallName, Kind: a.Kind, Title: a.Title, Locations: a.Locations})
	title := a.Title
	if title == "" {
		title = e.ToolCallName
	}
	t.open, t.lastText, t.lastThought = true, "", ""
	h.OnToolCall(e.ToolCallID, title)
}

func (t *Translator) result(e *agui.ToolCallResult, h agentstream.StreamHandler) {
	var m callMeta
	_ = json.Unmarshal(e.Metadata, &m)
	a := m.Agentstream
	if a.ExitCode != nil || a.Partial {
		agentstream.Send(h, agentstream.ToolCallInfo{ID: e.ToolCallID, ExitCode: a.ExitCode, Partial: a.Partial})
	}
	status := agentstream.ToolCallStatusCompleted
	if a.Status == "failed" {
		status = agentstream.ToolCallStatusFailed
	}
	var content string
	if json.Unmarshal(e.Content, &content) != nil {
		content = string(e.Content)
	}
	h.OnToolCallUpdate(e.ToolCallID, content, status)
}

func activity(e *agui.ActivitySnapshot, h agentstream.StreamHandler) {
	switch e.ActivityType {
	case "plan":
		var p struct{ Entries []agentstream.PlanEntry }
		if json.Unmarshal(e.Content, &p) == nil {
			agentstream.Send(h, agentstream.Plan{Entries: p.Entries})
		}
	case "notice":
		var n agentstream.Notice
		if json.Unmarshal(e.Content, &n) == nil {
			agentstream.Send(h, n)
		}
	}
}

func custom(e *agui.Custom, h agentstream.StreamHandler) {
	var v struct {
		ToolCallID   string  `json:"toolCallId"`
		Data         string  `json:"data"`
		Path         string  `json:"path"`
		OldText      *string `json:"old"`
		NewText      string  `json:"new"`
		Title, Kind  string
		Used, Size   int
		MIMEType     string `json:"mimeType"`
		URI          string `json:"uri"`
		Name, Source string
		Cost         *struct {
			Amount   float64
			Currency string
		}
	}
	if json.Unmarshal(e.Value, &v) != nil {
		return
	}
	switch e.Name {
	case "agentstream.output":
		agentstream.Send(h, agentstream.Output{ID: v.ToolCallID, Data: v.Data})
	case "agentstream.diff":
		agentstream.Send(h, agentstream.Diff{ID: v.ToolCallID, Path: v.Path, Old: v.OldText, New: v.NewText})
	case "agentstream.tool":
		agentstream.Send(h, agentstream.ToolCallInfo{ID: v.ToolCallID, Title: v.Title, Kind: v.Kind})
	case "agentstream.media":
		agentstream.Send(h, agentstream.Media{ID: v.ToolCallID, MIMEType: v.MIMEType, URI: v.URI, Data: v.Data, Name: v.Name})
	case "agentstream.context":
		if v.Size > 0 {
			use := agentstream.ContextUse{Used: v.Used, Size: v.Size}
			if v.Cost != nil {
				use.Cost, use.Currency = v.Cost.Amount, v.Cost.Currency
			}
			agentstream.Send(h, agentstream.Usage{Context: &use})
		}
		h.OnTokenUsage(v.Used)
	}
}
