package demoagent

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ prompt, want string }{
		{"help", "help"},
		{"/help", "help"},
		{"Think.", "think"},
		{"think markdown list", "think|markdown|list"},
		{"think, list and read README.md", "think|list|read(README.md)"},
		{"Please list the files, then read a.txt.", "list|read(a.txt)"},
		{"and think", "think"},
		{"/read `a.txt`", "read(a.txt)"},
		{"long 20", "long(20)"},
		{"long", "long"},
		{"slow 2s; silent 0.5", "slow(2)|silent(0.5)"},
		{"write notes", "write(notes)"},
		{"write a.txt, then read a.txt", "write(a.txt)|read(a.txt)"},
		{"write a.txt hello and goodbye", "write(a.txt hello and goodbye)"},
		{"echo think and die", "echo(think and die)"},
		{"echo one\nthink", "echo(one)|think"},
		{"ask me", "ask me"},
		{"/two-questions", "two questions"},
		{"two questions", "two questions"},
		{"die", "die"},
		{"read", "chat"},
		{"die Katze", "chat"},
		{"error in my code", "chat"},
		{"write me a poem", "chat"},
		{"thinking is hard", "chat"},
		{"list what you can", "list"},
		{"good morning, think, what else, list", "chat|think|list"},
		{"", "chat"},
		{"...", "chat"},
		{"漢字", "chat"},
	} {
		var got []string
		for _, s := range parse(c.prompt) {
			name := s.word.name
			if name == "" {
				name = "chat"
			}
			a := s.arg.text
			if s.word.kind == numArg && s.arg.given {
				a = jsonOf(s.arg.number)
			}
			if s.arg.rest != "" {
				a += " " + s.arg.rest
			}
			if a != "" && name != "chat" {
				name += "(" + a + ")"
			}
			got = append(got, name)
		}
		if diff := cmp.Diff(c.want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%q:\n%s", c.prompt, diff)
		}
	}
}

func TestNoWordIsTheBeginningOfAnother(t *testing.T) {
	words := table()
	for i, w := range words {
		for j, o := range words {
			if _, ok := prefix(o.name, w.name); ok && i != j {
				t.Errorf("%q hides %q", w.name, o.name)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("think, list and read README.md")
	f.Add("write `a and, then\n/ask-me;")
	f.Fuzz(func(t *testing.T, prompt string) {
		if len(parse(prompt)) == 0 {
			t.Errorf("no answer to %q", prompt)
		}
	})
}

func TestChunksJoinedAreTheText(t *testing.T) {
	for _, text := range []string{"", "a", sample, "one two three four five", strings.Repeat("漢", 100), "  spaces   \n\n everywhere "} {
		if got := strings.Join(chunks(text), ""); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}
