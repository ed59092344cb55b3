package acp

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentstream-go/agentstream/agentstreamtest"
	"github.com/agentstream-go/agentstream/source"
)

func TestCancel(t *testing.T) {
	cause := errors.New("the user")
	for name, answer := range map[string]string{
		"cancelled": `{"stopReason":"cancelled"}`, "end_turn": `{"stopReason":"end_turn"}`, "an error": `!{"code":-32603,"message":"aborted"}`,
	} {
		bubble(t, "answered with "+name, func(t *testing.T) {
			p := newPeer(t)
			s := p.opened(Command{}, "")
			ctx, cancel := context.WithCancelCause(t.Context())
			rec := &agentstreamtest.Recorder{}
			done := start(ctx, s, source.Turn{Handler: rec})
			m := p.expect("session/prompt")
			cancel(cause)
			wantJSON(t, p.expect("session/cancel").Params, `{"sessionId":"s1"}`)
			p.update(chunk("stopped"))
			<-time.After(9 * time.Second) // within the grace
			p.wg.Go(func() {
				if answer[0] == '!' {
					p.say(`{"id":%s,"error":%s}`, m.ID, answer[1:])
				} else {
					p.say(`{"id":%s,"result":%s}`, m.ID, answer)
				}
			})
			if got := <-done; got.err != cause || got.reason != source.Cancelled || rec.Text() != "stopped" {
				t.Errorf("ended with %+v, text %q", got, rec.Text())
			}
			done = start(t.Context(), s, source.Turn{})
			m = p.expect("session/prompt")
			p.update(chunk("next"))
			p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
			if got := <-done; got.err != nil {
				t.Errorf("the next turn: %v", got.err)
			}
		})
	}
	bubble(t, "no answer", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		ctx, cancel := context.WithCancelCause(t.Context())
		done := start(ctx, s, source.Turn{})
		p.expect("session/prompt")
		cancel(cause)
		p.expect("session/cancel")
		began := time.Now()
		if got := <-done; got.err != cause || time.Since(began) != defaultCancelGrace || p.exit != "killed" {
			t.Errorf("ended with %+v after %s, agent %s", got, time.Since(began), p.exit)
		}
		if got := <-start(t.Context(), s, source.Turn{}); got.err != source.ErrSpoilt {
			t.Errorf("the next turn: %v", got.err)
		}
	})
}

func TestCancelWhileSomethingIsSlow(t *testing.T) {
	cause := errors.New("the user")
	bubble(t, "the prompt was not yet sent", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		s.conn.Notify(t.Context(), "blocks", nil) // is being written, and nobody reads
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		done := start(ctx, s, source.Turn{})
		synctest.Wait()
		cancel(cause)
		if got := <-done; got.err != cause {
			t.Errorf("ended with %+v", got)
		}
		p.expect("blocks")
		done = start(t.Context(), s, source.Turn{})
		m := p.expect("session/prompt")
		p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
		if got := <-done; got.err != nil {
			t.Errorf("the next turn: %+v", got)
		}
	})
	bubble(t, "while the handler is slow", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		ctx, cancel := context.WithCancelCause(t.Context())
		slow := &slowHandler{in: make(chan struct{}), out: make(chan struct{})}
		done := start(ctx, s, source.Turn{Handler: slow})
		m := p.expect("session/prompt")
		p.update(chunk("x"))
		<-slow.in
		cancel(cause)
		p.expect("session/cancel")
		close(slow.out)
		p.say(`{"id":%s,"result":{"stopReason":"cancelled"}}`, m.ID)
		if got := <-done; got.err != cause {
			t.Errorf("ended with %+v", got)
		}
	})
}

type slowHandler struct {
	agentstreamtest.Recorder
	in, out chan struct{}
}

func (h *slowHandler) OnMessageChunk(string) {
	close(h.in)
	<-h.out
}

// Some agents answer the prompt after a cancel at once and with nothing. The
// session is of no more use, and the caller may say the prompt to another.
func TestSwallowedPromptSpoils(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		ctx, cancel := context.WithCancel(t.Context())
		done := start(ctx, s, source.Turn{})
		m := p.expect("session/prompt")
		cancel()
		p.expect("session/cancel")
		p.say(`{"id":%s,"result":{"stopReason":"cancelled"}}`, m.ID)
		<-done
		rec := &agentstreamtest.Recorder{}
		done = start(t.Context(), s, source.Turn{Handler: rec})
		p.answer("session/prompt", `{"stopReason":"end_turn"}`)
		if got := <-done; got.err != source.ErrSpoilt || len(rec.Events()) != 0 {
			t.Errorf("ended with %+v, said %v", got, rec.Events())
		}
		if got := <-start(t.Context(), s, source.Turn{}); got.err != source.ErrSpoilt {
			t.Errorf("the turn after it: %+v", got)
		}
	})
}

// The same befalls the prompt that follows an error; one with a word in its answer is whole.
func TestPromptSwallowedAfterAnError(t *testing.T) {
	for _, said := range []bool{false, true} {
		bubble(t, map[bool]string{false: "swallowed", true: "answered"}[said], func(t *testing.T) {
			p := newPeer(t)
			s := p.opened(Command{}, "")
			done := start(t.Context(), s, source.Turn{})
			m := p.expect("session/prompt")
			p.say(`{"id":%s,"error":{"code":-32603,"message":"the model is away"}}`, m.ID)
			var failed *source.Error
			if got := <-done; !errors.As(got.err, &failed) || failed.Code != source.CodeAgentError {
				t.Fatalf("ended with %+v", got)
			}
			done = start(t.Context(), s, source.Turn{})
			m = p.expect("session/prompt")
			want := error(source.ErrSpoilt)
			if said {
				p.update(chunk("x"))
				want = nil
			}
			p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
			if got := <-done; got.err != want {
				t.Errorf("the turn after it: %+v", got)
			}
		})
	}
}

type panicky struct{ agentstreamtest.Recorder }

func (*panicky) OnMessageChunk(string) { panic(io.ErrUnexpectedEOF) }

// A handler's panic comes out of Run, where the caller can recover from it.
func TestPanicComesOutOfRun(t *testing.T) {
	for _, cancelled := range []bool{false, true} {
		bubble(t, map[bool]string{false: "running", true: "cancelled"}[cancelled], func(t *testing.T) {
			p := newPeer(t)
			s := p.opened(Command{}, "")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			caught := make(chan any)
			go func() {
				defer func() { caught <- recover() }()
				s.Run(ctx, source.Turn{Handler: &panicky{}, Ask: func(source.Request, func(source.Answer)) {}})
			}()
			p.expect("session/prompt")
			p.say("%s", askLine("1", "c", fourOptions))
			if cancelled {
				cancel()
				p.expect("session/cancel")
				p.hear()
			}
			p.update(chunk("x"))
			err, _ := (<-caught).(error)
			if !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(err.Error(), "OnMessageChunk") || p.exit != "killed" {
				t.Errorf("caught %v, agent %s", err, p.exit)
			}
			if got := <-start(t.Context(), s, source.Turn{}); got.err != source.ErrSpoilt {
				t.Errorf("the next turn: %+v", got)
			}
		})
	}
}
