package player

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// Files by which the player tells that the turn is to be cancelled now: because it
// was when it was recorded, or because there will be no answer.
const (
	FileCancel = "cancel"
	FileStuck  = "stuck"
)

type player struct {
	dir string
	out io.Writer

	mu       sync.Mutex
	heard    *sync.Cond
	requests []*request
	replies  map[string]bool
	last     *request // the last prompt that came

	live map[string]json.RawMessage // ids of the live requests by the recorded ones
	open *request                   // the prompt that has no answer yet
	ask  string                     // its recorded id
}

type request struct {
	id        json.RawMessage
	method    string
	cancelled bool
}

// Play is an agent that does what the script in its folder says. It answers what
// the script does not know with "method not found", and returns the exit code when
// its input ends.
func Play(dir string, in io.Reader, out io.Writer) int {
	steps, err := read(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	p := &player{dir: dir, out: out, replies: map[string]bool{}, live: map[string]json.RawMessage{}}
	p.heard = sync.NewCond(&p.mu)
	go p.run(steps)
	p.listen(in)
	return 0
}

// listen reads what the client says, to the end.
func (p *player) listen(in io.Reader) {
	r := bufio.NewReader(in)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		p.mu.Lock()
		switch {
		case m.Method == "session/cancel" && p.last != nil:
			p.last.cancelled = true
		case m.Method != "" && m.ID != nil:
			q := &request{id: m.ID, method: m.Method}
			if m.Method == Prompt {
				p.last = q
			}
			p.requests = append(p.requests, q)
		case m.ID != nil:
			p.replies[string(m.ID)] = true
		}
		p.heard.Broadcast()
		p.mu.Unlock()
	}
}

func (p *player) wait(until func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for !until() {
		p.heard.Wait()
	}
}

func (p *player) next() (q *request) {
	p.wait(func() bool { return len(p.requests) > 0 })
	p.mu.Lock()
	defer p.mu.Unlock()
	q, p.requests = p.requests[0], p.requests[1:]
	return q
}

func (p *player) run(steps []Step) {
	for _, s := range steps {
		switch s.Do {
		case Await:
			if s.Method == Prompt {
				p.giveUp()
			}
			p.await(s)
		case Answer:
			p.answer(s)
		case Say, Ask:
			p.say(s.Line)
		case Reply:
			p.wait(func() bool { return p.replies[s.ID] })
		case Cancel:
			if p.open != nil {
				p.untilCancelled(FileCancel)
			}
		case Exit:
			os.Exit(1)
		}
	}
	p.giveUp()
	for {
		p.refuse(p.next())
	}
}

func (p *player) await(s Step) {
	for {
		q := p.next()
		switch {
		case q.method == s.Method:
			p.live[s.ID] = q.id
			if s.Method == Prompt {
				p.open, p.ask = q, s.ID
			}
			return
		case s.Method == "authenticate": // as the client is configured
			p.mu.Lock()
			p.requests = append([]*request{q}, p.requests...)
			p.mu.Unlock()
			return
		}
		p.refuse(q)
	}
}

func (p *player) answer(s Step) {
	id, ok := p.live[s.ID]
	if !ok {
		return
	}
	delete(p.live, s.ID)
	if !json.Valid([]byte(s.Line)) {
		p.say(s.Line) // damaged
		return
	}
	p.say(Renumber(s.Line, string(id)))
	if p.open != nil && s.ID == p.ask {
		p.open = nil
	}
}

// giveUp ends a turn that the recorded agent left without an answer, once the
// client cancels it.
func (p *player) giveUp() {
	if p.open == nil {
		return
	}
	p.untilCancelled(FileStuck)
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"stopReason":"cancelled"}}`, p.open.id))
	delete(p.live, p.ask)
	p.open = nil
}

// untilCancelled tells the test to cancel the turn, and waits for that.
func (p *player) untilCancelled(why string) {
	if err := os.WriteFile(filepath.Join(p.dir, why), nil, 0o600); err != nil {
		panic(err)
	}
	p.wait(func() bool { return p.open.cancelled })
}

func (p *player) refuse(q *request) {
	p.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"not in this recording: %s"}}`, q.id, q.method))
}

func (p *player) say(line string) {
	if _, err := io.WriteString(p.out, line+"\n"); err != nil {
		os.Exit(1)
	}
}
