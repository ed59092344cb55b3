package demoagent

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

func help(t *turn, _ argument) error {
	var b strings.Builder
	b.WriteString("I am the demo agent. I need no key and no network. Say one or several of these words:\n\n")
	for _, w := range Words() {
		fmt.Fprintf(&b, "- `%s` – %s\n", w.Usage, w.Does)
	}
	b.WriteString("\nSeveral words in one prompt are done one after another: `think, list and read README.md`.")
	return t.say(b.String())
}

func think(t *turn, _ argument) error {
	if err := t.think("The user wants to see me think. First I consider the question, then I weigh what could be said, and last I answer."); err != nil {
		return err
	}
	return t.say("I have thought about it. The answer is 42.")
}

const sample = "# A heading\n\nSome **bold**, some *italic* and some `code`.\n\n" +
	"1. first\n2. second\n   - nested\n\n" +
	"| agent | chunks |\n|---|---:|\n| demo | 25 |\n| other | 50 |\n\n" +
	"```go\nfunc main() {\n\tfmt.Println(\"hello, world\")\n}\n```\n\n" +
	"> A quotation with a [link](https://example.com/).\n"

func markdown(t *turn, _ argument) error { return t.say(sample) }

func echo(t *turn, a argument) error { return t.say(a.text) }

func long(t *turn, a argument) error {
	n := 200
	if a.given {
		n = int(min(a.number, 1_000_000))
	}
	lines := make([]any, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("Line %d of %d: the quick brown fox jumps over the lazy dog.\n", i+1, n)
	}
	return t.pieces("agent_message_chunk", t.id(), lines)
}

// slow says a word at once and then one at least every second.
func slow(t *turn, a argument) error {
	words := strings.SplitAfter("I take my time: one word after another, until all of it is said. ", " ")
	words = words[:len(words)-1] // the empty one
	id, d := t.id(), t.seconds(a)
	n := max(len(words)-1, int(d/time.Second))
	for i := range n + 1 {
		if err := t.pieces("agent_message_chunk", id, []any{words[i%len(words)]}); err != nil {
			return err
		}
		if i == n {
			break
		}
		if err := t.nap(d / time.Duration(n)); err != nil {
			return err
		}
	}
	return nil
}

func silent(t *turn, a argument) error { return t.nap(t.seconds(a)) }

func unsafe(t *turn, _ argument) error {
	return t.say("HTML: <script>alert(1)</script><img src=x onerror=alert(1)>\n\n" +
		"Links: [click](javascript:alert(1)) [file](file:///etc/passwd) ![beacon](https://beacon.invalid/p.png)\n\n" +
		"Terminal: \x1b[31mred\x1b[0m \x1b]0;title\x07 \x1b[2J bell \x07 \u202etxt.exe\u202c\n")
}

func history(t *turn, _ argument) error {
	t.s.mu.Lock()
	prompts := append([]string(nil), t.s.saved.Prompts...)
	t.s.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "You have said %d things in this session:\n\n", len(prompts))
	for i, p := range prompts {
		fmt.Fprintf(&b, "%d. %s\n", i+1, title(p))
	}
	return t.say(b.String())
}

// chat answers what is none of the words.
func chat(t *turn, a argument) error {
	t.s.mu.Lock()
	n := len(t.s.saved.Prompts)
	t.s.mu.Unlock()
	var b strings.Builder
	if a.text != "" {
		fmt.Fprintf(&b, "You said: “%s”. ", title(a.text))
	}
	for _, p := range t.prompt {
		if note := attachment(p); note != "" {
			fmt.Fprintf(&b, "You sent along %s. ", note)
		}
	}
	fmt.Fprintf(&b, "I am only a demo and know a few words; say `help` to see them. This is turn %d of our conversation.", n)
	return t.say(b.String())
}

func attachment(p block) string {
	switch p.Type {
	case "image", "audio":
		return fmt.Sprintf("an attachment (%s, %d bytes of base64)", p.MIMEType, len(p.Data))
	case "resource_link":
		return "a link to " + p.URI
	case "resource":
		return "the resource " + p.Resource.URI
	}
	return ""
}

func rename(t *turn, a argument) error {
	if a.text == "" {
		return t.say("Say `title` and the new name.")
	}
	name := title(a.text)
	t.s.mu.Lock()
	t.s.saved.Title = name
	t.s.mu.Unlock()
	t.s.update(obj{"sessionUpdate": "session_info_update", "title": name})
	return t.say("This conversation is now called “" + name + "”.")
}

func changeMode(t *turn, a argument) error {
	if !t.s.choose("mode", a.text) {
		return t.say("There is no such mode. Mine are `ask`, `auto` and `read-only`.")
	}
	t.s.update(obj{"sessionUpdate": "current_mode_update", "currentModeId": a.text})
	t.s.update(obj{"sessionUpdate": "config_option_update", "configOptions": t.s.options()})
	return t.say("The mode is now `" + a.text + "`.")
}

func usage(t *turn, _ argument) error {
	t.s.mu.Lock()
	v := t.s.saved
	t.s.mu.Unlock()
	t.s.update(usageUpdate(v))
	return t.say(fmt.Sprintf("%d of %d tokens of my context window are in use.", v.Used, windows[v.Model]))
}

func notice(t *turn, _ argument) error {
	t.s.update(obj{"sessionUpdate": "notice", "severity": "warning", "title": "The demo's model is busy.", "description": "It goes on at once."})
	return t.say("There was a notice.")
}

func afterword(t *turn, _ argument) error {
	id := t.id()
	t.after = append(t.after, func() {
		t.s.update(obj{"sessionUpdate": "agent_message_chunk", "messageId": id, "content": textBlock("One thing more, after the end.")})
	})
	return t.say("This is the end, nearly.")
}

func protocolError(t *turn, _ argument) error {
	if err := t.say("Something is about to go wrong. "); err != nil {
		return err
	}
	return &rpcError{codeInternal, "The demo failed, as you asked."}
}

func refuse(t *turn, _ argument) error {
	if err := t.say("I would rather not."); err != nil {
		return err
	}
	return stopError("refusal")
}

func maxTokens(t *turn, _ argument) error {
	if err := t.say("This sentence is cut off in the middle of a"); err != nil {
		return err
	}
	return stopError("max_tokens")
}

func maxRequests(t *turn, _ argument) error {
	if err := t.say("I have asked my model often enough."); err != nil {
		return err
	}
	return stopError("max_turn_requests")
}

func number(text string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimRight(text, ".,;s"), 64)
	return n, err == nil && n >= 0 && n <= 1e6
}
