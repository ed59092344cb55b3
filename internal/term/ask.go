package term

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentstream-go/agentstream/source"
)

// tries is how often an answer that is none of the options is asked for again.
const tries = 5

// Ask shows a question of the agent and reads the answer. The end of input, the
// end of ctx and too many answers that are none refuse. A question that is
// over meanwhile (its Done is closed) is answered with the zero Answer.
func (r *Renderer) Ask(ctx context.Context, q source.Request, in *Input) source.Answer {
	if q.Done != nil {
		waiting, stop := context.WithCancel(ctx)
		defer stop()
		go func() {
			select {
			case <-q.Done:
				stop()
			case <-waiting.Done():
			}
		}()
		ctx = waiting
	}
	var a source.Answer
	if q.Elicitation != nil {
		a = r.fill(ctx, q, in)
	} else {
		a = r.choose(ctx, q, in)
	}
	select {
	case <-q.Done:
		return source.Answer{}
	default:
		return a
	}
}

// heading shows what is asked.
func (r *Renderer) heading(title, kind string) {
	r.endText()
	r.freshLine()
	text := "? " + oneLine(title)
	if kind != "" && kind != "other" {
		text += " · " + oneLine(kind)
	}
	r.force(bold, text)
	r.force(plain, "\n")
}

func (r *Renderer) choose(ctx context.Context, q source.Request, in *Input) source.Answer {
	keys := keysOf(q.Options)
	r.mu.Lock()
	title := q.Title
	if title == "" {
		title = "May the agent go on?"
	}
	r.heading(title, q.Kind)
	for _, l := range q.Locations {
		place := "    " + oneLine(l.Path)
		if l.Line > 0 {
			place += ":" + strconv.Itoa(l.Line)
		}
		r.force(dim, place+"\n")
	}
	for i, o := range q.Options {
		name := oneLine(o.Name)
		if name == "" {
			name = oneLine(o.Kind)
		}
		r.force(plain, fmt.Sprintf("  [%s] %s\n", strings.Join(keys[i], "/"), name))
	}
	r.mu.Unlock()
	for range tries {
		line, err := r.prompt(ctx, in, "> ")
		if err != nil {
			break
		}
		for i, o := range q.Options {
			for _, k := range keys[i] {
				if strings.EqualFold(strings.TrimSpace(line), k) {
					return source.Answer{OptionID: o.ID}
				}
			}
		}
	}
	return source.Refuse(q)
}

// prompt asks for one line.
func (r *Renderer) prompt(ctx context.Context, in *Input, sign string) (string, error) {
	r.mu.Lock()
	r.force(plain, sign)
	r.asking++
	r.mu.Unlock()
	line, err := in.Line(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking--
	if err != nil {
		r.force(plain, "\n")
	} else {
		r.err.wrote("\n") // of the one who typed
	}
	return line, err
}

// keysOf gives each option its number and, to the first of its kind, a letter.
func keysOf(options []source.Option) [][]string {
	letters := map[string]string{"allow_once": "y", "allow_always": "a", "reject_once": "n", "reject_always": "x"}
	keys := make([][]string, len(options))
	for i, o := range options {
		if l := letters[o.Kind]; l != "" {
			keys[i] = append(keys[i], l)
			delete(letters, o.Kind)
		}
		keys[i] = append(keys[i], strconv.Itoa(i+1))
	}
	return keys
}
