package e2e_test

import (
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/internal/browser"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

func checkFaults(t *testing.T, pages ...*browser.Page) {
	t.Helper()
	for _, p := range pages {
		for _, f := range p.Faults() {
			t.Errorf("the page met a fault: %s", f)
		}
	}
}

func send(p *browser.Page, text string) {
	p.Wait(`!document.getElementById("send").disabled`)
	p.Wait(`document.activeElement.id === "input" || (document.getElementById("input").focus(), true)`)
	p.Type(text + "\n")
}

// Everything that the demo can show, in a wide window, on a phone and in the dark.
func TestPageShowsEverything(t *testing.T) {
	s := harness.Start(t)
	b := browser.Start(t)
	for name, look := range map[string]browser.Look{"wide": browser.Wide, "phone": browser.Phone, "dark": browser.Dark} {
		p := b.Open(s.URL+"/?token="+s.Token, look)
		p.Wait(`!location.search && document.getElementById("agent").value === "demo"`)
		p.Screenshot(name + "-empty")
		for _, turn := range []struct{ say, shows string }{
			{"think, markdown", "A quotation with a"},
			{"list, diff, exec, fail", "there is no target called"},
			{"plan, notice, image, subagent", "The helper says there are three."},
			{"emoji, unsafe", "\ufffdtxt.exe\ufffd"},
		} {
			send(p, turn.say)
			p.WaitText(turn.shows)
			p.Wait(`document.getElementById("stop").hidden`)
			p.Screenshot(name + "-" + strings.ReplaceAll(strings.ReplaceAll(turn.say, ", ", "-"), " ", ""))
		}
		var wide bool
		p.Eval(`document.documentElement.scrollWidth > innerWidth`, &wide)
		if wide {
			t.Errorf("%s: the page scrolls sideways", name)
		}
		checkFaults(t, p)
		p.Close()
	}
}

// Approvals: a card a question, answered by a click, in every tab.
func TestPageAsks(t *testing.T) {
	s := harness.Start(t)
	b := browser.Start(t)
	p := b.Open(s.URL+"/?token="+s.Token, browser.Wide)
	p.Wait(`document.getElementById("agent").value === "demo"`)
	send(p, "write out.txt hello")
	p.Wait(`document.querySelectorAll(".ask").length === 1`)
	p.Screenshot("ask-write")
	var at string
	p.Eval("location.href", &at)
	other := b.Open(at, browser.Phone)
	other.Wait(`document.querySelectorAll(".ask").length === 1`)
	other.Screenshot("ask-write-phone")
	other.Click(".ask button", "")
	p.WaitText("I have written")
	other.WaitText("I have written")
	p.Wait(`document.querySelectorAll(".ask").length === 0`)

	send(p, "two questions")
	p.Wait(`document.querySelectorAll(".ask").length === 2`)
	p.Screenshot("ask-two")
	p.Reload()
	p.Wait(`document.querySelectorAll(".ask").length === 2`)
	p.Eval(`[...document.querySelectorAll(".ask")].forEach((c) => c.querySelector("button").click())`, nil)
	p.WaitText("You allowed 2 of 2.")
	send(p, "ask me")
	p.Wait(`document.querySelectorAll(".ask").length === 1`)
	p.Screenshot("ask-form")
	p.Click(".ask button", "Refuse")
	p.WaitText("You would rather not say.")
	send(p, "ask me")
	p.Click(".ask button", "Send") // refused: the name is missing
	p.Click(".ask input", "")
	p.Type("Ada")
	p.Eval(`document.querySelector(".ask select").value = "green"`, nil)
	p.Screenshot("ask-form-filled")
	p.Click(".ask button", "Send")
	p.WaitText(`Hello, Ada. Colour: "green", sugar: false.`)
	checkFaults(t, p, other)
}

// A reload in the middle of an answer, a second tab, a server that is killed and
// comes back: all show the same in the end.
func TestPageLosesNothing(t *testing.T) {
	s := harness.Start(t, harness.Env("AGENTSTREAM_DEMO_PACE=100"))
	b := browser.Start(t)
	p := b.Open(s.URL+"/?token="+s.Token, browser.Wide)
	p.Wait(`document.getElementById("agent").value === "demo"`)
	send(p, "think, list, long 150")
	p.WaitText("Line 20 of 150")
	p.Reload()
	p.WaitText("Line 30 of 150")
	var at string
	p.Eval("location.href", &at)
	second := b.Open(at, browser.Wide)
	second.WaitText("Line 150 of 150")
	p.WaitText("Line 150 of 150")
	p.Wait(`document.getElementById("stop").hidden`)
	second.Wait(`document.getElementById("stop").hidden`)
	whole := p.Text("#log")
	if other := second.Text("#log"); other != whole {
		t.Errorf("the tabs differ:\n%s\n--- and ---\n%s", whole, other)
	}
	p.Reload()
	p.WaitText("Line 150 of 150")
	if again := p.Text("#log"); again != whole {
		t.Errorf("a reload shows something else:\n%s\n--- before ---\n%s", again, whole)
	}
	if n := strings.Count(whole, "Line 77 of 150"); n != 1 {
		t.Errorf("a line is shown %d times", n)
	}
	checkFaults(t, p, second)

	send(p, "long 2000")
	p.WaitText("Line 10 of 2000")
	s.Kill()
	s.Restart(harness.Flags("--listen", strings.TrimPrefix(s.URL, "http://")))
	p.WaitText("the process that ran this died")
	p.Wait(`document.getElementById("stop").hidden`)
	p.Screenshot("killed")
	p.Reload()
	p.WaitText("the process that ran this died")
	send(p, "echo and on it goes")
	p.WaitText("and on it goes")
	second.WaitText("and on it goes")
	p.Faults() // the connection was refused meanwhile, as it must be
}
