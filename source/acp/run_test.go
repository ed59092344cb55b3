package acp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/agentstreamtest"
	"github.com/agentstream-go/agentstream/source"
)

// ended is how a Run went.
type ended struct {
	reason source.StopReason
	err    error
}

// start runs a turn and returns what will be its end.
func start(ctx context.Context, s *session, t source.Turn) <-chan ended {
	if t.Handler == nil {
		t.Handler = &agentstreamtest.Recorder{}
	}
	done := make(chan ended, 1)
	go func() {
		reason, err := s.Run(ctx, t)
		done <- ended{reason, err}
	}()
	return done
}

func chunk(text string) string {
	b, _ := json.Marshal(text)
	return `{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":` + string(b) + `}}`
}

func TestRunErrors(t *testing.T) {
	tests := map[string]struct {
		cmd                        Command
		act                        func(p *peer)
		code, message, detail, fix string
	}{
		"an HTTP status as code": {
			act: func(p *peer) {
				p.answer("session/prompt", `!{"code":429,"message":"slow down","data":{"details":"quota"}}`)
			},
			code: source.CodeAgentError, message: "slow down", detail: "quota",
		},
		"login expired": {
			cmd: Command{Login: "tester login"},
			act: func(p *peer) { p.answer("session/prompt", `!{"code":-32000,"message":"token expired"}`) }, code: source.CodeAuthRequired,
			message: "token expired", fix: "log in: tester login",
		},
		"the agent ends": {
			act: func(p *peer) {
				p.expect("session/prompt")
				p.update(chunk("half"))
				p.words = strings.Repeat("old\n", 30) + "out of memory"
				p.end("signal: killed")
			},
			code: source.CodeAgentExited, message: "tester ended unexpectedly: signal: killed", detail: strings.Repeat("old\n", 19) + "out of memory",
		},
		"the agent closes its output and lives on": {
			act: func(p *peer) {
				p.expect("session/prompt")
				p.out.Close()
			},
			code: source.CodeAgentExited, message: "tester ended unexpectedly: it closed its output",
		},
	}
	for name, tt := range tests {
		bubble(t, name, func(t *testing.T) {
			p := newPeer(t)
			if name == "the agent closes its output and lives on" {
				p.exit = ""
			}
			s := p.opened(tt.cmd, "")
			done := start(t.Context(), s, source.Turn{})
			tt.act(p)
			var e *source.Error
			got := <-done
			if !errors.As(got.err, &e) {
				t.Fatalf("ended with %+v", got)
			}
			want := source.Error{Code: tt.code, Message: tt.message, Detail: tt.detail, Fix: tt.fix}
			have := source.Error{Code: e.Code, Message: e.Message, Detail: e.Detail, Fix: e.Fix}
			if d := cmp.Diff(want, have); d != "" {
				t.Error(d)
			}
			if tt.code == source.CodeAgentExited {
				if again := <-start(t.Context(), s, source.Turn{}); !errors.As(again.err, &e) || e.Code != tt.code {
					t.Errorf("the next turn: %v", again.err)
				}
			}
		})
	}
}

// An agent may end right after it answered: the answer counts.
func TestAnswerThenEnd(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		rec := &agentstreamtest.Recorder{}
		done := start(t.Context(), s, source.Turn{Handler: rec})
		m := p.expect("session/prompt")
		p.update(chunk("bye"))
		io.WriteString(p.out, `{"id":`+string(m.ID)+`,"result":{"stopReason":"end_turn"}}`)
		p.end("exit status 0")
		if got := <-done; got.err != nil || got.reason != source.EndTurn || rec.Text() != "bye" {
			t.Errorf("ended with %+v, text %q", got, rec.Text())
		}
	})
}

func TestOneTurnAtATime(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		first := start(t.Context(), s, source.Turn{})
		m := p.expect("session/prompt")
		if got := <-start(t.Context(), s, source.Turn{}); got.err != source.ErrBusy {
			t.Errorf("a second turn: %+v", got)
		}
		p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
		<-first
		if got := <-start(canceled(t), s, source.Turn{}); !errors.Is(got.err, context.Canceled) {
			t.Errorf("a turn that was over before it began: %+v", got)
		}
		second := start(t.Context(), s, source.Turn{})
		p.expect("session/prompt")
		s.Close()
		if got := <-second; got.err != source.ErrClosed {
			t.Errorf("closed while running: %+v", got)
		}
	})
}

func TestSilentEndIsNoticed(t *testing.T) {
	for _, words := range []string{"", "provider says 401"} {
		bubble(t, words, func(t *testing.T) {
			p := newPeer(t)
			p.words = words
			s := p.opened(Command{}, "")
			rec := &agentstreamtest.Recorder{}
			done := start(t.Context(), s, source.Turn{Handler: rec})
			p.answer("session/prompt", `{"stopReason":"end_turn"}`)
			<-done
			text := "tester ended its turn without a word."
			if words != "" {
				text += " The end of its stderr:\n" + words
			}
			if d := cmp.Diff([]agentstream.Event{agentstream.Notice{Severity: "warning", Text: text}}, rec.Events()); d != "" {
				t.Error(d)
			}
		})
	}
}

// A turn of calls alone is not silent, one of empty chunks is.
func TestWhatCountsAsAWord(t *testing.T) {
	for said, silent := range map[string]bool{
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"ls","status":"completed"}`: false,
		chunk(""): true,
	} {
		bubble(t, said, func(t *testing.T) {
			p := newPeer(t)
			s := p.opened(Command{}, "")
			rec := &agentstreamtest.Recorder{}
			done := start(t.Context(), s, source.Turn{Handler: rec})
			m := p.expect("session/prompt")
			p.update(said)
			p.say(`{"id":%s,"result":{"stopReason":"end_turn"}}`, m.ID)
			<-done
			noticed := slices.ContainsFunc(rec.Events(), func(e agentstream.Event) bool { _, ok := e.(agentstream.Notice); return ok })
			if noticed != silent {
				t.Errorf("noticed %t: %v", noticed, rec.Events())
			}
		})
	}
}

func TestPromptByCapabilities(t *testing.T) {
	parts := []source.Part{
		{Type: source.PartText, Text: "look"},
		{Type: source.PartImage, Data: "aW1n", MIMEType: "image/png", URI: "file:///a.png"},
		{Type: source.PartImage, Data: "aW1n", MIMEType: "image/png"},
		{Type: source.PartAudio, Data: "c25k", MIMEType: "audio/wav"},
		{Type: source.PartResourceLink, URI: "file:///b.txt", MIMEType: "text/plain"},
		{Type: source.PartResource, URI: "file:///c.txt", Text: "inside"},
		{Type: source.PartResource, URI: "file:///d.bin", Data: "Ymlu", MIMEType: "application/octet-stream"},
		{Type: source.PartResource, Text: "no address"},
	}
	for name, tt := range map[string]struct{ capabilities, want string }{
		"all": {`"promptCapabilities":{"image":true,"audio":true,"embeddedContext":true}`, `[
			{"type":"text","text":"look"},
			{"type":"image","data":"aW1n","mimeType":"image/png","uri":"file:///a.png"},
			{"type":"image","data":"aW1n","mimeType":"image/png"},
			{"type":"audio","data":"c25k","mimeType":"audio/wav"},
			{"type":"resource_link","uri":"file:///b.txt","name":"file:///b.txt","mimeType":"text/plain"},
			{"type":"resource","resource":{"uri":"file:///c.txt","text":"inside"}},
			{"type":"resource","resource":{"uri":"file:///d.bin","blob":"Ymlu","mimeType":"application/octet-stream"}},
			{"type":"text","text":"no address"}]`},
		"none": {"", `[
			{"type":"text","text":"look"},
			{"type":"resource_link","uri":"file:///a.png","name":"file:///a.png","mimeType":"image/png"},
			{"type":"text","text":"[image image/png, which this agent does not take]"},
			{"type":"text","text":"[audio audio/wav, which this agent does not take]"},
			{"type":"resource_link","uri":"file:///b.txt","name":"file:///b.txt","mimeType":"text/plain"},
			{"type":"text","text":"<resource uri=\"file:///c.txt\">\ninside\n</resource>"},
			{"type":"resource_link","uri":"file:///d.bin","name":"file:///d.bin","mimeType":"application/octet-stream"},
			{"type":"text","text":"no address"}]`},
	} {
		bubble(t, name, func(t *testing.T) {
			p := newPeer(t)
			s := p.opened(Command{}, tt.capabilities)
			done := start(t.Context(), s, source.Turn{Prompt: parts})
			m := p.answer("session/prompt", `{"stopReason":"end_turn"}`)
			<-done
			wantJSON(t, m.Params, `{"sessionId":"s1","prompt":`+tt.want+`}`)
		})
	}
}

func TestBetweenTurns(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		p.opened(Command{}, "")
		p.update(chunk("banner"))
		p.say(`{"method":"session/update","params":{"sessionId":"child","update":%s}}`, chunk("not ours"))
		p.say(`{"method":"session/update","params":{"sessionId":"child","update":%s}}`, chunk("not ours"))
		p.say(`{"method":"session/update","params":{"update":%s}}`, chunk("nameless"))
		p.say(`{"id":"u","method":"fs/read_text_file","params":{}}`)
		wantJSON(t, p.hear().Error, `{"code":-32601,"message":"method not found: fs/read_text_file"}`)
		p.say(`{"id":"p","method":"session/request_permission","params":{"toolCall":{"toolCallId":"x","title":"late"},"options":[{"optionId":"a","kind":"allow_once"}]}}`)
		wantJSON(t, p.hear().Result, `{"outcome":{"outcome":"cancelled"}}`)
		want := []source.Fact{
			{Late: agentstream.MessageChunk{Text: "banner"}},
			{Diagnostic: "updates of a session that was not opened here: child"},
			{Late: agentstream.MessageChunk{Text: "nameless"}},
			{Diagnostic: "the agent asked while no turn was open, and was refused: late"},
		}
		synctest.Wait()
		if d := cmp.Diff(want, p.facts); d != "" {
			t.Error(d)
		}
	})
}

func TestSetModeAndModel(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		var _ source.Setter = s
		set := func(f func(context.Context, string) error, method, answer string) error {
			p.wg.Go(func() { p.answer(method, answer) })
			defer p.wg.Wait()
			return f(t.Context(), "x")
		}
		if err := errors.Join(set(s.SetMode, "session/set_mode", "{}"), set(s.SetModel, "session/set_model", "{}")); err != nil {
			t.Error(err)
		}
		var e *source.Error
		if err := set(s.SetMode, "session/set_mode", noMethod); !errors.As(err, &e) || e.Code != source.CodeAgentProtocol {
			t.Errorf("error %v", err)
		}
		if len(p.facts) != 2 || p.facts[0].Modes.Current != "x" || p.facts[1].Models.Current != "x" {
			t.Errorf("facts %+v", p.facts)
		}
		s.Close()
		if err := s.SetMode(t.Context(), "x"); err != source.ErrClosed {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestRecord(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		s, err := p.open(t.Context(), Command{}, source.Options{Record: true}, func() {
			p.answer("initialize", initialized(""))
			p.answer("session/new", `{"sessionId":"s1"}`)
		})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		synctest.Wait()
		var from []bool
		for _, f := range p.facts {
			if f.Line != nil && json.Valid(f.Line.Text) {
				from = append(from, f.Line.FromAgent)
			}
		}
		if want := []bool{false, true, false, true}; !slices.Equal(from, want) {
			t.Errorf("lines from the agent: %v, want %v", from, want)
		}
	})
}

// A process that the agent left holds its output open: the agent's end is seen
// all the same.
func TestOutputHeldOpen(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		done := start(t.Context(), s, source.Turn{})
		p.expect("session/prompt")
		p.dead() // but its output stays open
		var e *source.Error
		if got := <-done; !errors.As(got.err, &e) || e.Code != source.CodeAgentExited {
			t.Errorf("ended with %+v", got)
		}
	})
}

func TestDiagnosticsReachTheObserver(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		p.opened(Command{MaxLine: 1000}, "")
		p.say("npm warn")
		p.say("%s", strings.Repeat("x", 200_000))
		synctest.Wait()
		want := []string{"no JSON object: npm warn", "dropped a line of 200001 bytes, which is over the limit of 1000"}
		if d := cmp.Diff(want, p.diagnostics()); d != "" {
			t.Error(d)
		}
	})
}

func TestAgentEndsBetweenTurns(t *testing.T) {
	bubble(t, "", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		p.end("exit status 1")
		synctest.Wait()
		var e *source.Error
		if got := <-start(t.Context(), s, source.Turn{}); !errors.As(got.err, &e) || e.Code != source.CodeAgentExited {
			t.Errorf("ended with %+v", got)
		}
	})
	bubble(t, "and takes no more", func(t *testing.T) {
		p := newPeer(t)
		s := p.opened(Command{}, "")
		p.inR.Close()
		s.conn.Notify(t.Context(), "x", nil)
		synctest.Wait()
		var e *source.Error
		if got := <-start(t.Context(), s, source.Turn{}); !errors.As(got.err, &e) || e.Code != source.CodeAgentExited {
			t.Errorf("ended with %+v", got)
		}
	})
}
