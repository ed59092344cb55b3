package terminal_test

import (
	"regexp"
	"strings"
	"testing"
)

// Markdown is laid out, and what marks it is gone.
func TestMarkdown(t *testing.T) {
	s := open(t, "agentstream run demo markdown")
	got := s.shows(`ended with 0`)
	for _, want := range []string{
		"A heading\n", "Some bold, some italic and some code.\n", "1. first\n2. second\n   • nested\n",
		"agent │ chunks\n──────┼───────\ndemo  │ 25\n", "│ A quotation with a link (https://example.com/).\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the screen lacks %q", want)
		}
	}
	if t.Failed() {
		t.Log(got)
	}
	styled := s.capture("-e")
	for _, want := range []string{"\x1b[1;4mA", "\x1b[1mbold", "\x1b[3mitalic", "\x1b[36mcode"} {
		if !strings.Contains(styled, want) {
			t.Errorf("the screen lacks %q:\n%q", want, styled)
		}
	}
}

// Without colours the markers stay; nothing is styled.
func TestNoColor(t *testing.T) {
	s := open(t, "agentstream run demo 'markdown, then diff'", "NO_COLOR=1")
	got := s.shows(`ended with 0`)
	if !strings.Contains(got, "**bold**") || !regexp.MustCompile(`(?m)^  [+-] `).MatchString(got) {
		t.Errorf("the screen shows:\n%s", got)
	}
	s.lacks("\x1b[", s.capture("-e"))
}

// Words are wrapped at the width, and no row is longer.
func TestWidth(t *testing.T) {
	s := open(t, "agentstream run demo 'echo "+strings.Repeat("abcdef ", 40)+"'")
	got := s.shows(`ended with 0`)
	if n := strings.Count(got, "abcdef"); n != 40 {
		t.Errorf("%d of 40 words are whole:\n%s", n, got)
	}
}

// A call's line is written anew in its place, with the time that it takes.
func TestToolLine(t *testing.T) {
	s := open(t, "agentstream run demo 'wait 3'")
	s.shows(`● Wait 3 s · execute [12]s`)
	got := s.shows(`ended with 0`)
	if n := strings.Count(got, "Wait 3 s"); n != 1 || !regexp.MustCompile(`✓ Wait 3 s · execute \d\.\d s`).MatchString(got) {
		t.Errorf("the screen shows:\n%s", got)
	}
}

// While the agent is silent a line tells for how long; then it is gone.
func TestStatusLine(t *testing.T) {
	s := open(t, "agentstream run demo 'echo hi'", "AGENTSTREAM_DEMO_PACE=0.3")
	s.shows(`… \d+s.* · Ctrl-C cancels`)
	s.lacks("Ctrl-C", s.shows(`ended with 0`))
}

// An approval is asked for at the prompt, with what it would change.
func TestApproval(t *testing.T) {
	s := open(t, "agentstream run demo 'write a.txt hello'")
	s.shows(`(?s)new file .*/a.txt\n  \+ hello\n\? Write a.txt · edit\n.*\[y/1\] Allow\n.*\n> ?$`)
	s.keys("y", "Enter")
	s.shows(`(?s)✓ Write a.txt.*I have written a.txt.*ended with 0`)
}

func TestCancel(t *testing.T) {
	s := open(t, "agentstream run demo 'wait 3600'")
	s.shows(`● Wait`)
	s.keys("C-c")
	s.shows(`(?s)stopped: cancelled.*ended with 130`)
}

// Lines of chat are edited, remembered and completed.
func TestChat(t *testing.T) {
	s := open(t, "agentstream chat demo --thread c; echo code $?; agentstream chat demo --thread c")
	s.shows(`> ?$`)
	s.keys("echo onX", "BSpace", "e", "Enter")
	s.shows(`(?m)^one\n(.*\n)*> ?$`)
	s.keys("Up", "Home", "C-k", "echo two", "Enter")
	s.shows(`(?m)^two\n(.*\n)*> ?$`)
	s.keys("/mod", "Tab")
	s.shows(`> /mode ?$`)
	s.keys("Enter")
	s.shows(`\* ask   Ask\n  auto   Auto`)
	s.keys("/mode auto", "Enter")
	s.shows(`> /mode auto\n> ?$`)
	s.keys("/mode", "Enter")
	s.shows(`\* auto   Auto`)
	s.keys("write b.txt x", "Enter") // the mode allows it
	s.shows(`I have written b.txt`)
	s.keys("C-d")
	s.shows(`code 0\nthread c; .*\n> ?$`)
	s.keys("Up", "Up", "Up") // what an earlier conversation said is remembered
	s.shows(`> echo one$`)
	s.keys("C-c")
	s.shows(`ended with 130`)
}

// A line that is typed while the agent works waits; the word to cancel does not.
func TestTypedAhead(t *testing.T) {
	s := open(t, "agentstream chat demo")
	s.shows(`> ?$`)
	s.keys("wait 3600", "Enter")
	s.shows(`● Wait`)
	s.keys("echo later", "Enter", "/cancel", "Enter")
	s.shows(`(?s)stopped: cancelled.*\nlater\n`)
	s.keys("/quit", "Enter")
	s.shows(`ended with 0`)
}

// Pasted lines are one prompt.
func TestPaste(t *testing.T) {
	s := open(t, "agentstream chat demo")
	s.shows(`> ?$`)
	if out, err := s.command("set-buffer", "echo first\nsecond\n").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if out, err := s.command("paste-buffer", "-p").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	s.keys("Enter")
	s.shows(`(?s)\nfirst\n.*turn 1 of our conversation.*\n> ?$`)
}

// A follower sees what is laid out too.
func TestTail(t *testing.T) {
	s := open(t, "agentstream run demo markdown --thread m >/dev/null 2>&1; clear; agentstream show m")
	s.shows(`(?s)> markdown.*Some bold, some italic.*ended with 0`)
}
