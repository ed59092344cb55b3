package fakellm

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
)

// request is what all wires ask, in one form.
type request struct {
	id      string // of the answer: agents join messages of one id
	model   string
	stream  bool
	framing framing
	turns   []turn
	tools   []tool
	schema  json.RawMessage // of the JSON that the answer has to be; nil: text

	// found by digest
	prompt  string
	marker  marker
	results []result // since the prompt
	rounds  int      // how often calls were made since the prompt
	ever    int      // how often in the whole history
}

// turn is one message of the history.
type turn struct {
	role    role
	text    string
	calls   int
	results []result
}

type role int

const (
	user role = iota
	assistant
	other
)

type result struct{ text string }

type tool struct {
	Name   string
	Schema schema
}

// marker is [[S:script key=value ...]]; a value goes up to the next " key=".
type marker struct {
	script string
	params map[string]string
}

var (
	markerForm = regexp.MustCompile(`\[\[S:([a-z0-9_]+)([^\]]*)\]\]`)
	paramForm  = regexp.MustCompile(`(?:^|\s)([a-z0-9]+)=`)
)

func findMarker(text string) (marker, bool) {
	all := markerForm.FindAllStringSubmatch(text, -1)
	if all == nil {
		return marker{script: "plain"}, false
	}
	last := all[len(all)-1]
	m := marker{script: last[1], params: map[string]string{}}
	keys := paramForm.FindAllStringSubmatchIndex(last[2], -1)
	for i, k := range keys {
		end := len(last[2])
		if i+1 < len(keys) {
			end = keys[i+1][0]
		}
		m.params[last[2][k[2]:k[3]]] = strings.TrimSpace(last[2][k[1]:end])
	}
	return m, true
}

func (m marker) param(key, otherwise string) string {
	if v, ok := m.params[key]; ok {
		return v
	}
	return otherwise
}

func (m marker) number(key string, otherwise int) int {
	if n, err := strconv.Atoi(m.params[key]); err == nil {
		return n
	}
	return otherwise
}

// digest finds the prompt that counts: the last text of the user that is
// neither a result nor a note which the agent put there (those begin with '<').
func (r *request) digest() {
	r.marker.script = "plain"
	for _, t := range r.turns {
		if t.calls > 0 {
			r.ever++
		}
	}
	for i := len(r.turns) - 1; i >= 0; i-- {
		t := r.turns[i]
		m, marked := findMarker(t.text)
		if t.role == user && marked { // results in the same turn are of the prompt before
			r.prompt, r.marker = strings.TrimSpace(t.text), m
			return
		}
		r.results = append(append([]result(nil), t.results...), r.results...)
		if t.role == assistant && t.calls > 0 {
			r.rounds++
		}
		text := strings.TrimSpace(t.text)
		if t.role == user && text != "" && text[0] != '<' && len(t.results) == 0 {
			r.prompt = text
			return
		}
	}
}

// content is what messages hold: a string, or parts with texts.
type content struct{ text string }

// UnmarshalJSON takes any JSON value and keeps the texts it finds.
func (c *content) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		c.text = s
		return nil
	}
	var parts []struct {
		Text    string   `json:"text"`
		Content *content `json:"content"`
	}
	if json.Unmarshal(data, &parts) == nil {
		var texts []string
		for _, p := range parts {
			if p.Content != nil && p.Content.text != "" {
				texts = append(texts, p.Content.text)
			} else if p.Text != "" {
				texts = append(texts, p.Text)
			}
		}
		c.text = strings.Join(texts, "\n")
		return nil
	}
	if string(data) != "null" {
		c.text = string(data)
	}
	return nil
}

func roleOf(name string) role {
	switch name {
	case "user":
		return user
	case "assistant", "model":
		return assistant
	}
	return other
}
