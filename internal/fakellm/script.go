package fakellm

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// step is one piece of an answer; one of the fields is set.
type step struct {
	thought string
	text    string
	call    call
	stop    string        // why the answer ends: length, refusal
	slow    bool          // goes on for wait, or until the client leaves
	wait    time.Duration // with slow; 0: as the options say
	cut     bool          // the connection is cut
	status  int           // no answer but this HTTP status
}

// message is an answer as a whole.
type message struct {
	thoughts, text string
	calls          []call
	stop           string // "", calls, length or refusal
}

// add takes a step into the whole; false: the connection is to be cut.
func (m *message) add(s step) bool {
	m.thoughts += s.thought
	m.text += s.text
	if s.call.tool.Name != "" {
		m.calls = append(m.calls, s.call)
		m.stop = "calls"
	}
	if s.stop != "" {
		m.stop = s.stop
	}
	return !s.cut
}

// scripts by the name in the marker. A script that calls tools is asked again
// when the results are there; request.rounds tells which time it is.
var scripts = map[string]func(r *request) []step{
	"plain":     func(*request) []step { return texts("Hello ", "from the ", "scripted ", "model.") },
	"reason":    reason,
	"long":      func(r *request) []step { return long(r.marker.number("n", 400)) },
	"unicode":   func(*request) []step { return texts(unicodeChunks...) },
	"tool_ok":   tools(func(r *request) []step { return r.calling(r.read(r.path())) }),
	"tool_fail": tools(func(r *request) []step { return r.calling(r.read(r.path() + ".missing")) }),
	"parallel":  tools(parallel),
	"shell": tools(func(r *request) []step {
		return r.calling(r.shell(r.marker.param("command", "printf scripted > scripted.txt; cat scripted.txt")))
	}),
	"write": tools(func(r *request) []step {
		return r.calling(r.write(r.path(), r.marker.param("content", "written by the script")))
	}),
	"twosteps": twoSteps,
	"slow": func(r *request) []step {
		wait := time.Duration(r.marker.number("ms", 0)) * time.Millisecond
		return append(texts("Working. "), step{slow: true, wait: wait}, step{text: "Done."})
	},
	"err400":  failing(http.StatusBadRequest),
	"err401":  failing(http.StatusUnauthorized),
	"err429":  failing(http.StatusTooManyRequests),
	"err500":  failing(http.StatusInternalServerError),
	"drop":    func(*request) []step { return append(texts("This answer ", "will be "), step{cut: true}) },
	"empty":   func(*request) []step { return []step{{}} },
	"maxtok":  func(*request) []step { return append(texts("Cut by "), step{text: "length"}, step{stop: "length"}) },
	"refusal": func(*request) []step { return append(texts("I will not."), step{stop: "refusal"}) },
}

// Scripts returns the names that a marker may give, in order.
func Scripts() []string { return slices.Sorted(maps.Keys(scripts)) }

// maxRounds ends what would go round in circles: an agent whose history this
// package misunderstands.
const maxRounds = 100

func scriptOf(r *request) []step {
	if r.ever >= maxRounds {
		return texts("Enough of tools.")
	}
	script, ok := scripts[r.marker.script]
	if !ok {
		return texts("There is no script " + r.marker.script + ". ")
	}
	return script(r)
}

// side answers a question that the agent asks on its own account.
func side(r *request) []step {
	if r.schema == nil {
		return texts("A scripted title")
	}
	var s schema
	if json.Unmarshal(r.schema, &s) != nil {
		return texts("{}")
	}
	b, err := json.Marshal(s.smallest(0))
	if err != nil {
		return texts("{}")
	}
	return texts(string(b))
}

func texts(chunks ...string) (steps []step) {
	for _, c := range chunks {
		steps = append(steps, step{text: c})
	}
	return steps
}

func failing(status int) func(*request) []step {
	return func(*request) []step { return []step{{status: status}} }
}

func (r *request) path() string { return r.marker.param("path", "a.txt") }

func reason(*request) []step {
	return append([]step{{thought: "Let me think. "}, {thought: "Yes, "}, {thought: "that is it."}}, texts("The answer ", "is 42.")...)
}

// long varies its lines: agents take repeated text for a loop and stop.
func long(n int) (steps []step) {
	words := strings.Fields("amber birch cedar delta ember fjord grove heath inlet joist knoll larch mango north ochre pearl quail ridge slate tidal umber vivid wharf xenon yacht zebra")
	for i := range min(n, 10_000) {
		steps = append(steps, step{text: fmt.Sprintf("%d. %s %s %s\n", i+1, words[i%26], words[(i*7+3)%26], words[(i*i+i/5)%26])})
	}
	return steps
}

// unicodeChunks are hard for whoever counts in bytes or UTF-16: beyond the
// basic plane, joined emoji, combining marks, right to left, line separators.
var unicodeChunks = []string{"Grüße 🌍 ", "👩‍👩‍👧‍👦 ", "e\u0301 ", "שלום ", "漢字 ", "𝔘𝔫𝔦 ", "a\u2028b ", "tab\t\"quote\" \\ end"}

// tools plays first, and when its results are there names them.
func tools(first func(r *request) []step) func(r *request) []step {
	return func(r *request) []step {
		if r.rounds > 0 {
			return final(r)
		}
		return first(r)
	}
}

func final(r *request) []step {
	steps := texts("The tools said: ")
	for i, res := range r.results {
		steps = append(steps, step{text: fmt.Sprintf("(%d) %s ", i+1, brief(res.text))})
	}
	return append(steps, step{text: "That is all."})
}

// brief is the beginning of a text, on one line.
func brief(s string) string {
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if len(runes) > 200 {
		return string(runes[:200]) + "…"
	}
	return string(runes)
}

// calling says a word and makes the call; without a fitting tool it says that.
func (r *request) calling(c call, ok bool) []step {
	if !ok {
		return texts("No tool fits. ")
	}
	return append(texts("I will look. "), step{call: c})
}

func parallel(r *request) []step {
	steps := r.calling(r.read(r.path()))
	if c, ok := r.read(r.marker.param("path2", "b.txt")); ok {
		steps = append(steps, step{call: c})
	}
	return steps
}

func twoSteps(r *request) []step {
	switch r.rounds {
	case 0:
		return r.calling(r.read(r.path()))
	case 1:
		c, ok := r.read(r.marker.param("path2", "b.txt"))
		if !ok {
			return final(r)
		}
		return append([]step{{thought: "One more."}}, append(texts("And the next. "), step{call: c})...)
	}
	return final(r)
}
