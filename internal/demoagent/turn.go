package demoagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// turn is the answer to one prompt. Only its own goroutine uses it, but for
// ctx and cancel.
type turn struct {
	s       *session
	request json.RawMessage
	prompt  []block
	ctx     context.Context
	cancel  context.CancelFunc

	history []obj   // what a load will repeat
	open    []*call // calls without a terminal status
	said    int     // bytes, for the usage
	after   []func()
}

type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	MIMEType string `json:"mimeType"`
	Data     string `json:"data"`
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource struct {
		URI string `json:"uri"`
	} `json:"resource"`
}

// stopError ends a turn with a stop reason.
type stopError string

func (e stopError) Error() string { return string(e) }

var errDead = errors.New("the agent is dead")

func newTurn(s *session, m message) (*turn, error) {
	var p struct {
		Prompt []block `json:"prompt"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil || len(p.Prompt) == 0 {
		return nil, &rpcError{codeParams, "prompt is missing"}
	}
	return &turn{s: s, request: m.ID, prompt: p.Prompt}, nil
}

// words is what the user says now: the last block of text. Blocks before it
// are context, and words in them trigger nothing.
func (t *turn) words() string {
	for i := len(t.prompt) - 1; i >= 0; i-- {
		if t.prompt[i].Type == "text" {
			return strings.TrimSpace(t.prompt[i].Text)
		}
	}
	return ""
}

func (t *turn) run() {
	defer t.cancel()
	text := t.words()
	t.s.mu.Lock()
	t.s.saved.Prompts = append(t.s.saved.Prompts, text)
	t.s.mu.Unlock()
	t.history = append(t.history, obj{"sessionUpdate": "user_message_chunk", "content": textBlock(text)})
	err := t.ctx.Err()
	for _, step := range parse(text) {
		if err == nil {
			err = step.word.do(t, step.arg)
		}
	}
	t.end(err)
}

// end settles what is open, tells title and usage, and answers the prompt.
func (t *turn) end(err error) {
	if errors.Is(err, errDead) {
		return
	}
	reason := stopError("end_turn")
	cancelled := t.ctx.Err() != nil
	if cancelled {
		reason, err = "cancelled", nil
	}
	for _, c := range append([]*call(nil), t.open...) {
		c.fail("Cancelled.")
	}
	if errors.As(err, &reason) {
		err = nil
	}
	usage := t.tell()
	if err != nil {
		t.s.a.conn.answer(t.request, nil, err)
		return
	}
	t.s.a.conn.answer(t.request, obj{"stopReason": string(reason), "usage": usage}, nil)
	for _, f := range t.after {
		f()
	}
}

// tell updates the session's title, usage and stored form at a turn's end.
func (t *turn) tell() obj {
	s := t.s
	input, output := 100+utf8.RuneCountInString(t.words())/4, t.said/4
	s.mu.Lock()
	first := s.saved.Title == ""
	if first {
		s.saved.Title = title(t.words())
	}
	s.saved.Used = min(s.saved.Used+input+output, windows[s.saved.Model])
	s.saved.History = append(s.saved.History, t.history...)
	v := s.saved
	s.mu.Unlock()
	if first {
		s.update(obj{"sessionUpdate": "session_info_update", "title": v.Title})
	}
	s.update(usageUpdate(v))
	if err := s.a.save(v); err != nil {
		fmt.Fprintln(s.a.stderr, "demo: the session was not stored:", err)
	}
	return obj{"inputTokens": input, "outputTokens": output, "totalTokens": input + output}
}

func usageUpdate(v saved) obj {
	return obj{"sessionUpdate": "usage_update", "used": v.Used, "size": windows[v.Model],
		"cost": obj{"amount": float64(v.Used) / 100_000, "currency": "USD"}}
}

func title(prompt string) string {
	line, _, _ := strings.Cut(prompt, "\n")
	r := []rune(strings.Join(strings.Fields(line), " "))
	if len(r) > 60 {
		r = append(r[:59], '…')
	}
	if len(r) == 0 {
		return "Untitled"
	}
	return string(r)
}

// nap waits, whatever the pace is.
func (t *turn) nap(d time.Duration) error {
	if d <= 0 {
		return t.ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-t.ctx.Done():
		return t.ctx.Err()
	}
}

// beat waits as long as n chunks take.
func (t *turn) beat(n int) error { return t.nap(time.Duration(n) * t.s.a.chunk) }

// seconds is a time that the prompt gives, in true seconds, or else five at a
// pace for people and none at full speed.
func (t *turn) seconds(a argument) time.Duration {
	switch {
	case a.given:
		return time.Duration(a.number * float64(time.Second))
	case t.s.a.chunk == 0:
		return 0
	}
	return 5 * time.Second
}

func textBlock(text string) obj { return obj{"type": "text", "text": text} }

// id makes a message id that is unique in the session.
func (t *turn) id() string {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	t.s.saved.Messages++
	return fmt.Sprintf("msg-%d", t.s.saved.Messages)
}

// say streams a whole message.
func (t *turn) say(text string) error { return t.stream("agent_message_chunk", t.id(), text) }

// think streams a thought.
func (t *turn) think(text string) error { return t.stream("agent_thought_chunk", t.id(), text) }

func (t *turn) stream(kind, id, text string) error {
	pieces := chunks(text)
	raw := make([]any, len(pieces))
	for i, p := range pieces {
		raw[i] = p
	}
	return t.pieces(kind, id, raw)
}

// pieces streams a message in the pieces given: strings, or raw JSON strings
// that are to reach the wire as they are.
func (t *turn) pieces(kind, id string, pieces []any) error {
	var err error
	sent := pieces[:0:0]
	for _, p := range pieces {
		if err = t.beat(1); err != nil {
			break
		}
		t.s.update(obj{"sessionUpdate": kind, "messageId": id, "content": obj{"type": "text", "text": p}})
		sent = append(sent, p)
	}
	whole := joined(sent)
	t.said += len(whole)
	if whole != "" {
		t.remember(kind, id, whole)
	}
	return err
}

// remember adds a text to the history, to the message before if it is the same.
func (t *turn) remember(kind, id, text string) {
	if n := len(t.history); n > 0 && t.history[n-1]["sessionUpdate"] == kind && t.history[n-1]["messageId"] == id {
		before := t.history[n-1]["content"].(obj)["text"].(string)
		t.history[n-1]["content"] = textBlock(before + text)
		return
	}
	t.history = append(t.history, obj{"sessionUpdate": kind, "messageId": id, "content": textBlock(text)})
}

// joined is the text of pieces; raw ones are joined before they are decoded,
// so that a rune split over two of them is whole.
func joined(pieces []any) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, p := range pieces {
		raw, err := json.Marshal(p)
		if err != nil {
			continue
		}
		b.Write(raw[1 : len(raw)-1])
	}
	b.WriteByte('"')
	var text string
	if json.Unmarshal([]byte(b.String()), &text) != nil {
		return ""
	}
	return text
}

// chunks cuts a text as a model's tokens come: at spaces, a dozen runes each.
func chunks(text string) []string {
	var list []string
	start, runes := 0, 0
	for i, r := range text {
		if runes >= 12 && !unicode.IsSpace(r) && (i == 0 || text[i-1] == ' ' || text[i-1] == '\n') {
			list = append(list, text[start:i])
			start, runes = i, 0
		}
		runes++
	}
	if start < len(text) {
		list = append(list, text[start:])
	}
	return list
}
