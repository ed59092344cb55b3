package acp

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agentstreamtest"
	"github.com/agentstream-go/agentstream/source"
)

const (
	fourOptions = `[{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"Y","name":"Always","kind":"allow_always"},` +
		`{"optionId":"n","name":"No","kind":"reject_once"},{"optionId":"N","name":"Never","kind":"reject_always"}]`
	cancelledOutcome = `{"outcome":{"outcome":"cancelled"}}`
)

func askLine(id, call, options string) string {
	return `{"id":` + id + `,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":"` + call +
		`","title":"run it","kind":"execute"},"options":` + options + `}}`
}

func chosen(id string) string { return `{"outcome":{"outcome":"selected","optionId":"` + id + `"}}` }

func TestAnswers(t *testing.T) {
	form := `{"id":5,"method":"elicitation/create","params":{"sessionId":"s1","mode":"form","message":"which?","requestedSchema":{"type":"object"}}}`
	tests := map[string]struct {
		line   string
		answer *source.Answer // nil: nobody can be asked
		want   string
	}{
		"allowed":                {askLine("5", "c", fourOptions), &source.Answer{OptionID: "y"}, chosen("y")},
		"refused":                {askLine("5", "c", fourOptions), &source.Answer{OptionID: "N"}, chosen("N")},
		"cancelled":              {askLine("5", "c", fourOptions), &source.Answer{}, cancelledOutcome},
		"declined":               {askLine("5", "c", fourOptions), &source.Answer{Declined: true}, chosen("n")},
		"an option nobody gave":  {askLine("5", "c", fourOptions), &source.Answer{OptionID: "yes"}, chosen("n")},
		"nobody to ask":          {askLine("5", "c", fourOptions), nil, chosen("n")},
		"only reject_always":     {askLine("5", "c", `[{"optionId":"N","kind":"reject_always"}]`), nil, chosen("N")},
		"no way to refuse":       {askLine("5", "c", `[{"optionId":"y","kind":"allow_once"}]`), nil, cancelledOutcome},
		"id is a text":           {askLine(`"uuid-1"`, "c", fourOptions), &source.Answer{OptionID: "y"}, chosen("y")},
		"form filled":            {form, &source.Answer{Content: json.RawMessage(`{"a":1}`)}, `{"action":"accept","content":{"a":1}}`},
		"form filled with trash": {form, &source.Answer{Content: json.RawMessage(`{`)}, `{"action":"cancel"}`},
		"form declined":          {form, &source.Answer{Declined: true}, `{"action":"decline"}`},
		"form cancelled":         {form, &source.Answer{}, `{"action":"cancel"}`},
		"page visited":           {form, &source.Answer{OptionID: "done"}, `{"action":"accept"}`},
		"form, nobody to ask":    {form, nil, `{"action":"decline"}`},
	}
	for name, tt := range tests {
		bubble(t, name, func(t *testing.T) {
			p := newPeer(t)
			s := p.opened(Command{}, "")
			turn := source.Turn{}
			var asked source.Request
			if tt.answer != nil {
				turn.Ask = func(q source.Request, reply func(source.Answer)) {
					asked = q
					reply(*tt.answer)
					reply(source.Answer{OptionID: "y"}) // counts for nothing
				}
			}
			done := start(t.Context(), s, turn)
			m := p.expect("session/prompt")
			p.say("%s", tt.line)
			got := p.hear()
			wantJSON(t, got.Result, tt.want)
			if tt.answer != nil {
				<-asked.Done
			}
			p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
			if e := <-done; e.err != nil {
				t.Error(e.err)
			}
		})
	}
}

// Two questions about one call are two questions; they are answered in any
// order, and the wire's order is the order of Ask.
func TestParallelQuestions(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		rec := &agentstreamtest.Recorder{}
		type open struct {
			q     source.Request
			reply func(source.Answer)
		}
		asked := make(chan open, 2)
		done := start(t.Context(), s, source.Turn{Handler: rec, Ask: func(q source.Request, reply func(source.Answer)) {
			rec.OnMessageChunk("<" + q.ToolCallID + ">")
			asked <- open{q, reply}
		}})
		m := p.expect("session/prompt")
		p.update(chunk("one"))
		p.say("%s", askLine("0", "c1", fourOptions))
		p.update(chunk("two"))
		p.say("%s", askLine("1", "c1", fourOptions))
		a, b := <-asked, <-asked
		go b.reply(source.Answer{OptionID: "y"})
		if got := p.hear(); string(got.ID) != "1" {
			t.Errorf("answered %s", got.ID)
		}
		<-b.q.Done
		select {
		case <-a.q.Done:
			t.Error("the other question is over too")
		default:
		}
		go a.reply(source.Answer{OptionID: "n"})
		if got := p.hear(); string(got.ID) != "0" {
			t.Errorf("answered %s", got.ID)
		}
		p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
		<-done
		if got := rec.Text(); got != "one<c1>two<c1>" {
			t.Errorf("order: %s", got)
		}
		want := source.Request{ToolCallID: "c1", Title: "run it", Kind: "execute", Done: a.q.Done, Options: []source.Option{
			{ID: "y", Name: "Yes", Kind: "allow_once"}, {ID: "Y", Name: "Always", Kind: "allow_always"},
			{ID: "n", Name: "No", Kind: "reject_once"}, {ID: "N", Name: "Never", Kind: "reject_always"},
		}}
		if d := cmp.Diff(want, a.q, cmp.Comparer(func(a, b <-chan struct{}) bool { return a == b })); d != "" {
			t.Error(d)
		}
	})
}

func TestQuestionsEnd(t *testing.T) {
	// pending opens a turn with one question that nobody answers.
	pending := func(t *testing.T, ctx context.Context) (*peer, *session, <-chan ended, source.Request, clientLine) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		asked := make(chan source.Request, 1)
		done := start(ctx, s, source.Turn{Ask: func(q source.Request, _ func(source.Answer)) { asked <- q }})
		m := p.expect("session/prompt")
		p.say("%s", askLine("7", "c1", fourOptions))
		return p, s, done, <-asked, m
	}
	bubble(t, "withdrawn by the agent", func(t *testing.T) {
		p, _, done, q, m := pending(t, t.Context())
		p.say(`{"method":"$/cancel_request","params":{"requestId":8}}`)
		p.say(`{"method":"$/cancel_request","params":{"requestId":7}}`)
		wantJSON(t, p.hear().Result, cancelledOutcome)
		<-q.Done
		p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
		<-done
	})
	bubble(t, "cancelled with the turn", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p, _, done, q, m := pending(t, ctx)
		cancel()
		seen := map[string]bool{}
		for range 2 {
			got := p.hear()
			seen[got.Method+string(got.Result)] = true
		}
		if !seen["session/cancel"] || !seen[cancelledOutcome] {
			t.Errorf("the client said %v", seen)
		}
		<-q.Done
		p.say("%s", askLine("9", "c2", fourOptions)) // asked after the cancel: nobody is bothered
		wantJSON(t, p.hear().Result, cancelledOutcome)
		p.say(`{"id":%s,"result":{"stopReason":"cancelled"}}`, m.ID)
		<-done
	})
	bubble(t, "with the agent's answer", func(t *testing.T) {
		p, _, done, q, m := pending(t, t.Context())
		p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
		wantJSON(t, p.hear().Result, cancelledOutcome)
		<-q.Done
		<-done
	})
	bubble(t, "with the agent", func(t *testing.T) {
		p, _, done, q, _ := pending(t, t.Context())
		p.end("exit status 1")
		<-q.Done
		<-done
	})
	bubble(t, "with the session", func(t *testing.T) {
		_, s, done, q, _ := pending(t, t.Context())
		s.Close()
		<-q.Done
		<-done
	})
}

func TestQuestionThatIsNone(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		p.opened(Command{}, "")
		for _, method := range []string{"session/request_permission", "elicitation/create"} {
			p.say(`{"id":1,"method":%q,"params":[]}`, method)
			wantJSON(t, p.hear().Error, `{"code":-32602,"message":"the request's params are no JSON object"}`)
		}
	})
}

// A refused call has its failed terminal before the next word.
func TestRefusedCallEnds(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		rec := &agentstreamtest.Recorder{}
		done := start(t.Context(), s, source.Turn{Handler: rec})
		m := p.expect("session/prompt")
		p.say("%s", askLine("0", "c1", fourOptions))
		p.hear()
		p.update(chunk("well then"))
		p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
		<-done
		events := rec.Events()
		tail := events[max(0, len(events)-2):]
		want := []agentstream.Event{
			agentstream.ToolCallUpdate{ID: "c1", Content: "Permission denied.", Status: agentstream.ToolCallStatusFailed},
			agentstream.MessageChunk{Text: "well then"},
		}
		if d := cmp.Diff(want, tail); d != "" {
			t.Error(d)
		}
		synctest.Wait()
	})
}
