package player

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
)

const script = "script.jsonl"

// Step is one thing that the player does.
type Step struct {
	Do     Do     `json:"do"`
	ID     string `json:"id,omitempty"`     // of a request, as recorded: JSON
	Method string `json:"method,omitempty"` // of a request that is awaited
	Line   string `json:"line,omitempty"`   // what is said, without the line's end
}

// Do says what a step does.
type Do string

// What a step does.
const (
	Await  Do = "await"  // waits for a request of the client
	Answer Do = "answer" // answers it
	Say    Do = "say"    // a notification
	Ask    Do = "ask"    // a request to the client
	Reply  Do = "reply"  // waits for the client's answer to it
	Cancel Do = "cancel" // waits until the turn is cancelled
	Exit   Do = "exit"   // leaves
)

// Prompt is the method that a turn begins with.
const Prompt = "session/prompt"

// Renumber gives a message another id, which is JSON.
func Renumber(line, id string) string {
	var m map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &m) != nil {
		return line
	}
	m["id"] = json.RawMessage(id)
	out, err := json.Marshal(m)
	if err != nil {
		panic(err) // it was JSON a moment ago
	}
	return string(out)
}

// Write leaves a script where a player in that folder finds it.
func Write(dir string, steps []Step) error {
	var b []byte
	for _, s := range steps {
		line, err := json.Marshal(s)
		if err != nil {
			return err
		}
		b = append(append(b, line...), '\n')
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, script), b, 0o600)
}

func read(dir string) (steps []Step, err error) {
	data, err := os.ReadFile(filepath.Join(dir, script))
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(data) {
		var s Step
		if err := json.Unmarshal(line, &s); err != nil {
			return nil, err
		}
		steps = append(steps, s)
	}
	return steps, nil
}
