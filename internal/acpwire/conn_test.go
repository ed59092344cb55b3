package acpwire

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// peer is the other end of a connection, by hand.
type peer struct {
	t    *testing.T
	conn *Conn
	in   *bufio.Scanner // what the connection wrote
	out  *io.PipeWriter
	inR  *io.PipeReader
	log  []string // what was delivered, in order
}

func dial(t *testing.T, more func(p *peer, cfg *Config)) *peer {
	p := &peer{t: t}
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	cfg := Config{
		Notify:     func(method string, params []byte) { p.log = append(p.log, method+" "+string(params)) },
		Diagnostic: func(text string) { p.log = append(p.log, "! "+text) },
		Lost:       func(err error) { p.log = append(p.log, "lost") },
	}
	if more != nil {
		more(p, &cfg)
	}
	p.inR, p.in, p.out = inR, bufio.NewScanner(inR), outW
	p.conn = New(outR, inW, cfg)
	t.Cleanup(func() {
		p.conn.Close()
		outW.Close()
		inR.Close()
		inW.Close()
		p.conn.Wait()
	})
	return p
}

func (p *peer) say(lines ...string) {
	for _, line := range lines {
		if _, err := io.WriteString(p.out, line+"\n"); err != nil {
			p.t.Error(err)
		}
	}
}

func (p *peer) hear() string {
	if !p.in.Scan() {
		p.t.Fatal("nothing written", p.in.Err())
	}
	return p.in.Text()
}

func (p *peer) want(want ...string) {
	p.t.Helper()
	synctest.Wait()
	if d := cmp.Diff(want, p.log); d != "" {
		p.t.Error(d)
	}
}

func TestWireOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, func(p *peer, cfg *Config) {
			cfg.Request = func(method string, params []byte, reply *Reply) bool {
				p.log = append(p.log, "ask "+string(reply.ID()))
				go reply.Send(map[string]int{"ok": 1})
				return method == "known"
			}
		})
		_, err := p.conn.Go(t.Context(), "do", map[string]string{"a": "b"}, func(result []byte, err error) {
			p.log = append(p.log, fmt.Sprint("answer ", string(result), err))
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.hear(), `{"jsonrpc":"2.0","id":1,"method":"do","params":{"a":"b"}}`; got != want {
			t.Errorf("wrote %s, want %s", got, want)
		}
		p.say(`{"method":"one","params":1}`, `{"id":"q","method":"known"}`, `{"method":"two","params":2}`, `{"id":1,"result":"r"}`, `{"method":"three","params":3}`)
		if got, want := p.hear(), `{"jsonrpc":"2.0","id":"q","result":{"ok":1}}`; got != want {
			t.Errorf("wrote %s, want %s", got, want)
		}
		p.want("one 1", `ask "q"`, "two 2", `answer "r"<nil>`, "three 3")
	})
}

func TestOddLinesAreDiagnosticsAndNothingIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, nil)
		p.say("\xef\xbb\xbf"+`{"method":"bom"}`+"\r", "", "warning: ten packages", `"text"`, `[{"method":"b1"},{"method":"b2"}, 7]`,
			`{"id":9,"result":{}}`, `{"method":"cut`, "\xff\xfe", `{"method":"last"}`)
		p.want("bom ", "! no JSON object: warning: ten packages", `! no JSON object: "text"`, "b1 ", "b2 ", "! no JSON object: 7",
			"! an answer to nothing that was asked: 9", `! JSON that is cut off or broken: {"method":"cut`, "! no JSON object: \uFFFD", "last ")
	})
}

func TestUnknownRequestIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, nil)
		for _, id := range []string{"0", `"550e8400-e29b"`, "null", "1.50", "9007199254740993"} {
			p.say(`{"id":` + id + `,"method":"craft/drain"}`)
			if got, want := p.hear(), `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32601,"message":"method not found: craft/drain"}}`; got != want {
				t.Errorf("wrote %s, want %s", got, want)
			}
		}
	})
}

func TestAnswerBeforeTheEndIsDelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, nil)
		done := func(result []byte, err error) { p.log = append(p.log, fmt.Sprint(string(result), err)) }
		p.conn.Go(t.Context(), "a", nil, done)
		p.conn.Go(t.Context(), "b", nil, done)
		p.hear()
		p.hear()
		go func() {
			p.say(`{"method":"n","params":1}`)
			io.WriteString(p.out, `{"id":1,"result":true}`) // no newline: the agent ended right after
			p.out.Close()
		}()
		p.want("n 1", "true<nil>", "lost", ErrLost.Error())
		if err := p.conn.Call(t.Context(), "late", nil, nil); !errors.Is(err, ErrLost) {
			t.Errorf("a call after the end: %v", err)
		}
		ran := false
		p.conn.Post(func() { ran = true })
		synctest.Wait()
		if !ran {
			t.Error("nothing is delivered to after the end")
		}
	})
}

func TestCallEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, nil)
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() {
			p.hear()
			cancel(cause)
		}()
		if err := p.conn.Call(ctx, "slow", nil, nil); err != cause {
			t.Errorf("error %v", err)
		}
		p.say(`{"id":1,"result":1}`) // late: taken without a word
		p.want()
	})
}

func TestBlockedPeerHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, nil)
		for range maxQueued + 1 { // one is being written
			if err := p.conn.Notify(t.Context(), "fill", nil); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(t.Context())
		got := make(chan error)
		go func() { got <- p.conn.Notify(ctx, "waits", nil) }()
		synctest.Wait()
		cancel()
		if err := <-got; !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		p.conn.Urgent("session/cancel", nil)
		p.say(`{"id":3,"method":"unknown"}`) // is read and answered although nothing can be written
		p.want()
		p.hear() // the one being written
		if got := p.hear(); !strings.Contains(got, "session/cancel") {
			t.Errorf("the urgent one is not first: %s", got)
		}
		if got := p.hear(); !strings.Contains(got, "-32601") {
			t.Errorf("the answer does not precede requests: %s", got)
		}
	})
}

func TestWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, nil)
		none := func([]byte, error) { p.log = append(p.log, "called") }
		first, _ := p.conn.Go(t.Context(), "first", nil, none)
		synctest.Wait() // it is being written
		second, _ := p.conn.Go(t.Context(), "second", nil, none)
		p.conn.Notify(t.Context(), "third", nil)
		if p.conn.Withdraw(first) || !p.conn.Withdraw(second) || p.conn.Withdraw(second) {
			t.Error("only what was not yet written can be withdrawn, once")
		}
		if a, b := p.hear(), p.hear(); !strings.Contains(a, "first") || !strings.Contains(b, "third") {
			t.Errorf("wrote %s and %s", a, b)
		}
		p.conn.Close()
		p.want("called")
	})
}

func TestReplyCountsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		replies := make(chan *Reply, 1)
		p := dial(t, func(p *peer, cfg *Config) {
			cfg.Request = func(_ string, _ []byte, reply *Reply) bool { replies <- reply; return true }
		})
		p.say(`{"id":0,"method":"session/request_permission"}`)
		reply := <-replies
		var wg sync.WaitGroup
		var mu sync.Mutex
		first := 0
		for range 8 {
			wg.Go(func() {
				if reply.Send(json.RawMessage("{\n\"a\":\r\n1}")) {
					mu.Lock()
					first++
					mu.Unlock()
				}
			})
		}
		got := p.hear()
		wg.Wait()
		if first != 1 || !json.Valid([]byte(got)) || reply.Fail(&Error{}) {
			t.Errorf("%d first answers, wrote %s", first, got)
		}
	})
}

func TestLinesAreRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, func(p *peer, cfg *Config) {
			cfg.Notify = nil
			cfg.Line = func(in bool, line []byte) { p.log = append(p.log, fmt.Sprint(in, string(line))) }
		})
		p.conn.Notify(t.Context(), "out", nil)
		p.hear()
		p.say("noise")
		p.want(`false{"jsonrpc":"2.0","method":"out"}`, "truenoise", "! no JSON object: noise")
	})
}

// The writer's end is told once, and later calls fail.
func TestWriteFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := dial(t, nil)
		p.inR.Close()
		p.conn.Notify(t.Context(), "x", nil)
		p.want("! the other side does not take anything any more: io: read/write on closed pipe")
		if err := p.conn.Notify(t.Context(), "y", nil); !errors.Is(err, ErrWrite) {
			t.Errorf("error %v", err)
		}
	})
}

func ExampleNew() {
	fromAgent, agentOut := io.Pipe()
	agentIn, toAgent := io.Pipe()
	c := New(fromAgent, toAgent, Config{Notify: func(method string, params []byte) {
		fmt.Println(method, string(params))
	}})
	go func() {
		bufio.NewReader(agentIn).ReadString('\n')
		io.WriteString(agentOut, `{"method":"session/update","params":{"n":1}}`+"\n")
		io.WriteString(agentOut, `{"id":1,"result":{"stopReason":"end_turn"}}`+"\n")
	}()
	err := c.Call(context.Background(), "session/prompt", nil, func(result []byte) { fmt.Println(string(result)) })
	fmt.Println(err)
	c.Close()
	agentOut.Close()
	agentIn.Close()
	c.Wait()
	// Output:
	// session/update {"n":1}
	// {"stopReason":"end_turn"}
	// <nil>
}
