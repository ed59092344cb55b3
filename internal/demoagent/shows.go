package demoagent

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"slices"
	"strings"
)

func plan(t *turn, _ argument) error {
	steps := []string{"Look around", "Make the change", "Check the result"}
	show := func(done int) {
		var entries []obj
		for i, s := range steps {
			status := "pending"
			if i < done {
				status = "completed"
			} else if i == done {
				status = "in_progress"
			}
			entries = append(entries, obj{"content": s, "priority": "medium", "status": status})
		}
		t.s.update(obj{"sessionUpdate": "plan", "entries": entries})
	}
	show(0)
	if err := t.say("I have a plan of three steps. "); err != nil {
		return err
	}
	for i := range steps {
		if err := t.beat(10); err != nil {
			return err
		}
		show(i + 1)
	}
	return t.say("All three are done.")
}

func diff(t *turn, _ argument) error {
	path := filepath.Join(t.cwd(), "greeting.txt")
	before, after := "Hello,\nworld!\n", "Hello,\ndear world!\nHow are you?\n"
	c := t.call("edit", "edit_file", "Edit", obj{}, nil)
	input := obj{}
	for _, f := range []struct{ key, value string }{{"path", path}, {"old", before}, {"new", after}} {
		if err := t.beat(3); err != nil {
			return err
		}
		input[f.key] = f.value
		c.update(obj{"rawInput": input})
	}
	c.update(obj{"title": "Edit greeting.txt", "status": "in_progress", "locations": []obj{{"path": path, "line": 2}}})
	if err := t.beat(5); err != nil {
		return err
	}
	c.done("", obj{"type": "diff", "path": path, "oldText": before, "newText": after})
	return t.say("This is how I would change `greeting.txt`; nothing was written.")
}

func parallel(t *turn, _ argument) error {
	if err := t.say("I do three things at once. "); err != nil {
		return err
	}
	var calls []*call
	for _, name := range []string{"alpha", "beta", "gamma"} {
		calls = append(calls, t.call("search", "search", "Search for "+name, obj{"query": name}, nil))
	}
	for _, c := range calls {
		c.progress()
	}
	for _, i := range []int{1, 2, 0} {
		if err := t.beat(8); err != nil {
			return err
		}
		calls[i].done(fmt.Sprintf("%d matches", 3*i+1))
	}
	return t.say("All three have ended, the second one first.")
}

func late(t *turn, _ argument) error {
	c := t.call("fetch", "fetch", "Fetch the weather", obj{"url": "https://weather.invalid/"}, nil)
	c.progress()
	id := t.id()
	if err := t.stream("agent_message_chunk", id, "While the weather is being fetched, I go on talking "); err != nil {
		return err
	}
	c.done("Sunny, 21 °C.")
	return t.stream("agent_message_chunk", id, "and here comes the rest of the sentence: it is sunny.")
}

func emoji(t *turn, _ argument) error {
	raw := func(s string) json.RawMessage { return json.RawMessage(`"` + s + `"`) }
	return t.pieces("agent_message_chunk", t.id(), []any{
		"A face: ", raw(`\ud83d`), raw(`\ude00`), // one character in two pieces
		", a family: ", "👩", "\u200d", "👩", "\u200d", "👧", ", a flag: ", "🇯", "🇵",
		", 漢", "字", "、", "한", "국", "어", ", e\u0301, ", raw(`and \ud83c`), raw(`\udf89 done.`),
	})
}

func picture(t *turn, _ argument) error {
	img := image.NewRGBA(image.Rect(0, 0, 64, 64))
	for y := range 64 {
		for x := range 64 {
			img.SetRGBA(x, y, color.RGBA{uint8(4 * x), uint8(4 * y), 160, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return err
	}
	id := t.id()
	if err := t.stream("agent_message_chunk", id, "Here is a picture: "); err != nil {
		return err
	}
	t.s.update(obj{"sessionUpdate": "agent_message_chunk", "messageId": id,
		"content": obj{"type": "image", "mimeType": "image/png", "data": base64.StdEncoding.EncodeToString(b.Bytes())}})
	return nil
}

// exec prints like a command, by the terminal extension that agents use; it
// runs nothing.
func exec(t *turn, _ argument) error {
	t.s.a.mu.Lock()
	key := "terminal_output_delta"
	if t.s.a.terminal {
		key = "terminal_output"
	}
	t.s.a.mu.Unlock()
	c := t.call("execute", "run_command", "make greet", obj{"command": "make greet", "cwd": t.cwd()}, nil)
	c.update(obj{"status": "in_progress", "content": []obj{{"type": "terminal", "terminalId": c.id}}, "_meta": obj{"terminal_info": obj{"terminal_id": c.id, "cwd": t.cwd()}}})
	var whole strings.Builder
	for _, line := range []string{"compiling greet.c\n", "\x1b[32mok\x1b[0m greet\n", "hello\n"} {
		if err := t.beat(10); err != nil {
			return err
		}
		c.update(obj{"_meta": obj{key: obj{"terminal_id": c.id, "data": line}}})
		whole.WriteString(line)
	}
	c.finish(obj{"status": "completed", "rawOutput": obj{"exit_code": 0, "output": whole.String()},
		"_meta": obj{"terminal_exit": obj{"terminal_id": c.id, "exit_code": 0, "signal": nil}}})
	return t.say("The command said hello.")
}

// form is text because its properties have an order.
var form = json.RawMessage(`{
	"type": "object",
	"properties": {
		"name": {"type": "string", "title": "Your name", "minLength": 1},
		"colour": {"type": "string", "title": "Favourite colour", "enum": ["red", "green", "blue"]},
		"sweet": {"type": "boolean", "title": "Sugar?", "default": false}
	},
	"required": ["name"]
}`)

func askMe(t *turn, _ argument) error {
	t.s.a.mu.Lock()
	forms := t.s.a.forms
	t.s.a.mu.Unlock()
	if !forms {
		return t.say("Your client takes no forms, so I cannot ask you.")
	}
	raw, err := t.s.a.conn.ask("elicitation/create", obj{"sessionId": t.s.saved.ID, "mode": "form",
		"message": "Who are you?", "requestedSchema": form})(t.ctx)
	if t.ctx.Err() != nil {
		return t.ctx.Err()
	}
	var p struct {
		Action  string `json:"action"`
		Content struct {
			Name   string `json:"name"`
			Colour string `json:"colour"`
			Sweet  bool   `json:"sweet"`
		} `json:"content"`
	}
	if err != nil || json.Unmarshal(raw, &p) != nil {
		return t.say("I could not ask you.")
	}
	if p.Action != "accept" {
		return t.say("You would rather not say.")
	}
	return t.say(fmt.Sprintf("Hello, %s. Colour: %q, sugar: %v.", p.Content.Name, p.Content.Colour, p.Content.Sweet))
}

// twoQuestions has both permission requests open at once and acts on the
// answers as they come.
func twoQuestions(t *turn, _ argument) error {
	type answer struct {
		call    *call
		allowed bool
		err     error
	}
	var calls []*call
	for _, name := range []string{"one", "two"} {
		calls = append(calls, t.call("execute", "run_"+name, "Run "+name, obj{"command": name}, nil))
	}
	answers := make(chan answer, len(calls))
	for _, c := range calls {
		wait := c.ask()
		go func() {
			allowed, err := wait(t.ctx)
			answers <- answer{c, allowed, err}
		}()
	}
	allowed := 0
	var failed error
	for range calls {
		a := <-answers
		switch {
		case a.err != nil:
			failed = errors.Join(failed, a.err)
		case a.allowed:
			allowed++
			a.call.progress()
			a.call.done("Done.")
		default:
			a.call.fail("Permission denied.")
		}
	}
	if failed != nil {
		return failed
	}
	return t.say(fmt.Sprintf("You allowed %d of 2.", allowed))
}

func subagent(t *turn, _ argument) error {
	parent := t.call("think", "Task", "Ask a helper", obj{"prompt": "Count the files."}, nil)
	parent.progress()
	meta := obj{"claudeCode": obj{"parentToolUseId": parent.id}}
	child := t.call("search", "count_files", "Count files", obj{"pattern": "*"}, obj{"_meta": meta})
	if err := t.beat(8); err != nil {
		return err
	}
	child.update(obj{"_meta": meta, "status": "completed", "content": []obj{{"type": "content", "content": textBlock("3")}}})
	t.open = slices.DeleteFunc(t.open, func(c *call) bool { return c == child })
	parent.done("The helper counted 3 files.")
	return t.say("The helper says there are three.")
}
