// Package term shows a stream to somebody at a terminal: the answer on stdout,
// all else on stderr. What an agent says is untrusted: no control character of
// it reaches the terminal.
package term

import (
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
)

// Options say where and how to render.
type Options struct {
	Out, Err       io.Writer // the answer; all else
	OutTTY, ErrTTY bool      // whether they are terminals
	Shared         bool      // both are one file, terminal or not
	Color          bool      // ANSI colours on terminals; false for NO_COLOR
	Width          int       // columns; 0: 80
	Now            func() time.Time
	Quiet          bool // only the answer, questions and errors
}

// Renderer implements agentstream.StreamHandler and the rich handlers. It is
// safe for concurrent calls. Errors of the writers are not told: who writes to
// a closed pipe learns it elsewhere.
type Renderer struct {
	o Options

	mu       sync.Mutex // guards all below
	out, err *screen
	open     segment
	cleaner  cleaner
	prose    *prose // lays out the answer; nil where it is no terminal
	calls    map[string]*call
	order    []*call
	live     *call // its line is the last on the screen and can be written anew
	plan     []agentstream.PlanEntry
	context  agentstream.ContextUse
	began    time.Time
	ticks    bool // somebody waits for the turn, so that its time matters
	asking   int  // questions that wait at the prompt
	status   bool // the status line is the last on the screen
}

// segment is the kind of text that is being streamed.
type segment int

const (
	closed segment = iota
	answering
	thinking
)

// screen is where a writer's text ends up; both writers may share one.
type screen struct {
	any      bool // something was written
	newlines int  // at its end
}

// New makes a Renderer. Out and Err must be set.
func New(o Options) *Renderer {
	if o.Width <= 0 {
		o.Width = 80
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	r := &Renderer{o: o, out: &screen{}, err: &screen{}, calls: map[string]*call{}}
	if o.Shared || o.OutTTY && o.ErrTTY {
		r.err = r.out
	}
	r.began = o.Now()
	if o.OutTTY {
		r.prose = &prose{width: o.Width, color: o.Color, out: r.say}
	}
	return r
}

// The styles of what is shown beside the answer.
const (
	plain  = ""
	dim    = "2"
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (r *Renderer) style(code, s string) string {
	if code == plain || s == "" || !r.o.Color || !r.o.ErrTTY {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (s *screen) wrote(text string) {
	if text == "" {
		return
	}
	bare := strings.TrimRight(text, "\n")
	if n := len(text) - len(bare); bare == "" {
		s.newlines += n
	} else {
		s.newlines = n
	}
	s.any = true
}

// say writes cleaned text to stdout.
func (r *Renderer) say(text string) {
	if text != "" && r.err == r.out {
		r.clearStatus()
	}
	_, _ = io.WriteString(r.o.Out, text)
	r.out.wrote(text)
}

// answer writes cleaned text of the answer.
func (r *Renderer) answer(text string) {
	if r.prose != nil {
		r.prose.write(text)
	} else {
		r.say(text)
	}
}

// tell writes to stderr; text is clean, and styled in whole.
func (r *Renderer) tell(code, text string) {
	if r.o.Quiet {
		return
	}
	r.force(code, text)
}

func (r *Renderer) force(code, text string) {
	r.clearStatus()
	_, _ = io.WriteString(r.o.Err, r.style(code, text))
	r.err.wrote(text)
}

// line writes one line to stderr, cut to the screen's width.
func (r *Renderer) line(code, text string) {
	if r.o.Quiet {
		return
	}
	r.freshLine()
	r.tell(code, fit(text, r.o.Width-1))
	r.tell(plain, "\n")
}

// freshLine makes stderr begin a line.
func (r *Renderer) freshLine() {
	r.live = nil
	if r.err.any && r.err.newlines == 0 {
		r.force(plain, "\n")
	}
}

// aside makes room for something on stderr. On a shared screen it interrupts
// the answer; in a pipe the answer goes on as if nothing was.
func (r *Renderer) aside() {
	if r.open == closed || r.o.Quiet || r.open == answering && r.err != r.out {
		return
	}
	r.endText()
	if r.err == r.out && r.err.newlines < 2 {
		r.freshLine()
		r.tell(plain, "\n")
	}
}

// endText closes the open text; another one is a new paragraph.
func (r *Renderer) endText() {
	rest := r.cleaner.rest()
	switch r.open {
	case answering:
		r.answer(rest)
		if r.prose != nil {
			r.prose.flush()
		}
	case thinking:
		r.tell(dim, rest)
		r.freshLine()
	}
	r.open = closed
}

// endMessage closes the open text for good: a code block does not go on in the
// next message.
func (r *Renderer) endMessage() {
	r.endText()
	if r.prose != nil {
		r.prose.fence = ""
	}
}

// begin opens a text of the kind unless it is open already.
func (r *Renderer) begin(s segment) {
	if r.open == s {
		return
	}
	if r.open != closed {
		r.endText()
	}
	r.open = s
	r.live = nil
	if s == thinking {
		r.freshLine()
		if !r.o.ErrTTY || !r.o.Color {
			r.tell(plain, "thinking: ")
		}
		return
	}
	if r.err != r.out {
		r.freshLine()
	}
	if r.out.any {
		r.say(strings.Repeat("\n", max(0, 2-r.out.newlines)))
	}
}

// Finish ends the turn: closes open lines and shows the stop reason unless it
// is end_turn, and the use of the context. The renderer can then take the next turn.
func (r *Renderer) Finish(reason source.StopReason) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endTurn()
	if reason != source.EndTurn && reason != "" {
		r.line(yellow, "stopped: "+oneLine(string(reason)))
	}
	var end []string
	if r.ticks {
		end = append(end, took(r.o.Now().Sub(r.began)))
	}
	if r.context.Used > 0 {
		end = append(end, "context: "+useOf(r.context))
	}
	if len(end) > 0 {
		r.line(dim, strings.Join(end, " · "))
	}
}

// Fail ends the turn with an error, shown on one line: what, why, what to do.
func (r *Renderer) Fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endTurn()
	r.freshLine()
	r.force(red, "error: "+oneLine(err.Error()))
	r.force(plain, "\n")
	var e *source.Error
	if errors.As(err, &e) && e.Detail != "" {
		for _, l := range firstLines(e.Detail, 5) {
			r.line(dim, "  "+l)
		}
	}
}

func (r *Renderer) endTurn() {
	r.clearStatus()
	r.endMessage()
	if r.out.any && r.out.newlines == 0 {
		r.say("\n")
	}
	for _, c := range r.order {
		if !c.status.IsTerminal() {
			c.flush(r)
			r.line(yellow, "○ "+c.label()+" – no result")
		}
	}
	r.live, r.plan, r.order = nil, nil, nil
	clear(r.calls)
}
