package term

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/agentstream-go/agentstream"
)

// OnMessageChunk streams the answer to stdout.
func (r *Renderer) OnMessageChunk(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text == "" {
		return
	}
	r.begin(answering)
	r.answer(r.cleaner.next(text))
}

// OnThoughtChunk streams reasoning, dim, to stderr.
func (r *Renderer) OnThoughtChunk(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if text == "" || r.o.Quiet {
		return
	}
	r.begin(thinking)
	r.tell(dim, r.cleaner.next(text))
}

// OnSegment makes the next chunk begin a paragraph.
func (r *Renderer) OnSegment(agentstream.Segment) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.endMessage()
}

// OnNotice shows a status line.
func (r *Renderer) OnNotice(e agentstream.Notice) {
	r.mu.Lock()
	defer r.mu.Unlock()
	code := map[string]string{"error": red, "warning": yellow}[e.Severity]
	if code == "" {
		code = dim
	}
	r.aside()
	r.line(code, "! "+oneLine(e.Text))
}

// Tell shows a line of whoever runs the turn.
func (r *Renderer) Tell(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.aside()
	r.freshLine()
	r.force(plain, text+"\n")
}

// OnPlan shows a plan as a checklist: whole at first and when its steps
// change, then only the steps that moved on.
func (r *Renderer) OnPlan(e agentstream.Plan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	same := len(e.Entries) == len(r.plan)
	for i := range e.Entries {
		same = same && e.Entries[i].Content == r.plan[i].Content
	}
	before := r.plan
	r.plan = append([]agentstream.PlanEntry(nil), e.Entries...)
	if len(e.Entries) == 0 {
		return
	}
	r.aside()
	if !same {
		r.line(bold, "plan")
	}
	for i, p := range e.Entries {
		if !same || p.Status != before[i].Status {
			mark, code := "○", plain
			switch p.Status {
			case "completed":
				mark, code = "✓", green
			case "in_progress":
				mark, code = "●", cyan
			}
			r.line(code, "  "+mark+" "+oneLine(p.Content))
		}
	}
}

// OnMedia shows that there is a picture or another attachment.
func (r *Renderer) OnMedia(e agentstream.Media) {
	r.mu.Lock()
	defer r.mu.Unlock()
	text := "[" + cmp.Or(oneLine(e.MIMEType), "attachment")
	if e.Data != "" {
		text += fmt.Sprintf(", %s bytes", grouped(len(e.Data)*3/4))
	}
	for _, s := range []string{e.Name, e.URI} {
		if s != "" {
			text += ", " + oneLine(s)
		}
	}
	r.aside()
	r.line(cyan, text+"]")
}

// OnTokenUsage keeps the gauge for the end of the turn.
func (r *Renderer) OnTokenUsage(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.context.Used = n
}

// OnUsage keeps the use of the context for the end of the turn.
func (r *Renderer) OnUsage(e agentstream.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if e.Context != nil {
		r.context = *e.Context
	}
}

func useOf(c agentstream.ContextUse) string {
	text := grouped(c.Used)
	if c.Size > 0 {
		text += " of " + grouped(c.Size)
	}
	text += " tokens"
	if c.Cost > 0 {
		text += fmt.Sprintf(" · %.2f %s", c.Cost, oneLine(c.Currency))
	}
	return text
}

// grouped writes a number with commas at the thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
