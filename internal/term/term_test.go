package term

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream"
	"github.com/agentstream-go/agentstream/source"
)

var update = flag.Bool("update", false, "write the golden files anew")

// tape records both writers as one terminal shows them, or apart.
type tape struct{ out, err, both strings.Builder }

type writer struct {
	own  *strings.Builder
	tape *tape
}

func (w writer) Write(p []byte) (int, error) {
	w.tape.both.Write(p)
	return w.own.Write(p)
}

// clock moves on by 300 ms at each look.
func clock() func() time.Time {
	now := time.Unix(0, 0)
	return func() time.Time {
		now = now.Add(300 * time.Millisecond)
		return now
	}
}

func (t *tape) renderer(o Options) *Renderer {
	o.Out, o.Err, o.Now = writer{&t.out, t}, writer{&t.err, t}, clock()
	return New(o)
}

var looks = map[string]Options{
	"pipe":  {},
	"tty":   {OutTTY: true, ErrTTY: true, Width: 60},
	"color": {OutTTY: true, ErrTTY: true, Color: true, Width: 60},
	"half":  {ErrTTY: true, Color: true, Width: 60}, // answer into a file
	"quiet": {OutTTY: true, ErrTTY: true, Color: true, Quiet: true},
}

const pending, running, completed, failed = agentstream.ToolCallStatusPending, agentstream.ToolCallStatusInProgress,
	agentstream.ToolCallStatusCompleted, agentstream.ToolCallStatusFailed

func str(s string) *string { return &s }

func plan(states ...string) agentstream.Plan {
	var p agentstream.Plan
	for i, s := range states {
		p.Entries = append(p.Entries, agentstream.PlanEntry{Content: fmt.Sprintf("Step %d", i+1), Status: s})
	}
	return p
}

// scripts are what golden files show, in each of the looks.
var scripts = map[string][]agentstream.Event{
	"turn": {
		agentstream.ThoughtChunk{Text: "First I think "}, agentstream.ThoughtChunk{Text: "about it."},
		agentstream.MessageChunk{Text: "I look at the "}, agentstream.MessageChunk{Text: "files."},
		agentstream.ToolCallInfo{ID: "1", Title: "Read", Kind: "read"}, agentstream.ToolCall{ID: "1", Title: "Read README.md"},
		agentstream.ToolCallArgsSnapshot{ID: "1", Args: `{"path":"README.md"}`},
		agentstream.ToolCallUpdate{ID: "1", Status: running}, agentstream.ToolCallUpdate{ID: "1", Content: "# Demo", Status: completed},
		agentstream.MessageChunk{Text: "It is a demo.\n"}, agentstream.Segment{}, agentstream.MessageChunk{Text: "Another message."},
		agentstream.Usage{Context: &agentstream.ContextUse{Used: 12345, Size: 200000, Cost: 0.125, Currency: "USD"}},
	},
	"parallel": {
		agentstream.ToolCall{ID: "1", Title: "Search for alpha"}, agentstream.ToolCall{ID: "2", Title: "Search for beta"},
		agentstream.ToolCallUpdate{ID: "1", Status: running}, agentstream.ToolCallUpdate{ID: "2", Status: running},
		agentstream.ToolCallUpdate{ID: "2", Content: "no such\nfile\n\n", Status: failed}, agentstream.ToolCallUpdate{ID: "1", Status: completed},
		agentstream.ToolCallUpdate{ID: "1", Content: "late", Status: failed}, // the first one stands
		agentstream.ToolCall{ID: "3", Title: "Never ends"},
	},
	"output": {
		agentstream.ToolCall{ID: "1", Title: "make"}, agentstream.ToolCallUpdate{ID: "1", Status: running},
		agentstream.Output{ID: "1", Data: "compiling\r"}, agentstream.Output{ID: "1", Data: "\n\x1b[32mok\x1b[0m \x1b[2J\nno "}, agentstream.Output{ID: "1", Data: "end"},
		agentstream.ToolCallUpdate{ID: "1", Content: "compiling…", Status: completed},
		agentstream.ToolCall{ID: "2", Title: "seq 100"}, agentstream.Output{ID: "2", Data: strings.Repeat("line\n", 100)},
		agentstream.ToolCallUpdate{ID: "2", Status: completed}, agentstream.MessageChunk{Text: "Done."},
	},
	"rich": {
		agentstream.MessageChunk{Text: "Here:"}, plan("in_progress", "pending"), plan("completed", "in_progress"), plan("completed", "in_progress"),
		agentstream.Notice{Severity: "warning", Text: "The model\nis busy."}, agentstream.Notice{Severity: "error", Text: "broken"}, agentstream.Notice{Text: "by the way"},
		agentstream.Diff{ID: "1", Path: "a.txt", Old: str("one\ntwo\nthree\nfour\nfive\nsix\nseven\n"), New: "one\ntwo\nthree\nfour\n5\nsix\nseven\neight\n"},
		agentstream.Diff{ID: "1", Path: "b.txt", New: "new\tfile\n"},
		agentstream.Media{MIMEType: "image/png", Data: "AAAAAAAA", Name: "dot.png"}, agentstream.Media{MIMEType: "audio/wav", URI: "file:///a.wav"},
		agentstream.Subagent{ID: "s", Name: "helper"}, agentstream.Subagent{ID: "s", Name: "helper", Event: agentstream.ToolCallInfo{ID: "1", Kind: "search"}},
		agentstream.Subagent{ID: "s", Name: "helper", Event: agentstream.ToolCall{ID: "1", Title: "Count"}},
		agentstream.Subagent{ID: "s", Name: "helper", Event: agentstream.ToolCallUpdate{ID: "1", Status: completed}},
		agentstream.Subagent{ID: "s", Name: "helper", Event: agentstream.MessageChunk{Text: "not shown"}},
		agentstream.Subagent{ID: "s", Name: "helper", Done: true, Err: "lost"}, agentstream.Raw{Data: []byte(`{}`)},
		plan("pending", "pending", "pending"), plan(), agentstream.TokenUsage{TotalTokens: 1234567},
	},
	"hostile": {
		agentstream.ThoughtChunk{Text: "\x1b]0;title\x07"}, agentstream.MessageChunk{Text: "a\x1b[2Jb\r"}, agentstream.MessageChunk{Text: "\nc\rd\u202etxt\u009b31m\xff\r"},
		agentstream.ToolCall{ID: "1", Title: "x\x1b[1A\r\nrm -rf /\t" + strings.Repeat("長い", 60)},
		agentstream.ToolCallUpdate{ID: "1", Content: "\x1b[31mbad\u2028", Status: failed},
		agentstream.Notice{Severity: "error", Text: "n\x07\x00"}, agentstream.Diff{Path: "\x1b[H", Old: str("\x08"), New: "\x7f"},
		agentstream.Media{MIMEType: "\x1bimage/png", Name: "\x1b"}, agentstream.Subagent{Name: "\x1b[5m", Done: true, Err: "\x1b"},
		agentstream.Plan{Entries: []agentstream.PlanEntry{{Content: "\x1b[7m"}}},
	},
}

func TestGolden(t *testing.T) {
	for name, script := range scripts {
		var got strings.Builder
		for _, look := range []string{"pipe", "tty", "color", "half", "quiet"} {
			var tape tape
			r := tape.renderer(looks[look])
			for _, e := range script {
				if !agentstream.Send(r, e) {
					t.Errorf("%T was not taken", e)
				}
			}
			r.Finish("max_tokens")
			if look == "pipe" || look == "half" {
				fmt.Fprintf(&got, "=== %s: stdout\n%s=== %s: stderr\n%s", look, visible(tape.out.String()), look, visible(tape.err.String()))
			} else {
				fmt.Fprintf(&got, "=== %s\n%s", look, visible(tape.both.String()))
			}
			if left := controls(tape.both.String()); left != "" {
				t.Errorf("%s, %s: control characters got through: %q", name, look, left)
			}
		}
		golden(t, name, got.String())
	}
}

// visible shows the sequences that the renderer itself writes.
func visible(s string) string {
	s = strings.NewReplacer("\r\x1b[K", "⏎\n", "\x1b[", "⟨", "m", "m").Replace(s)
	if s != "" && !strings.HasSuffix(s, "\n") {
		s += "⌁\n" // no newline at the end
	}
	return s
}

var own = regexp.MustCompile("\x1b\\[[0-9]*m|\r\x1b\\[K")

// controls are the control characters beside newline, tab and the renderer's own.
func controls(s string) string {
	var left strings.Builder
	for _, r := range own.ReplaceAllString(s, "") {
		if unsafe(r) {
			left.WriteRune(r)
		}
	}
	return left.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (go test -update writes it anew):\n%s", path, diff)
	}
}

func TestAnswerInAPipeIsTheAnswer(t *testing.T) {
	var tape tape
	r := tape.renderer(Options{})
	for _, e := range scripts["turn"] {
		agentstream.Send(r, e)
	}
	r.Finish(source.EndTurn)
	if want := "I look at the files.\n\nIt is a demo.\n\nAnother message.\n"; tape.out.String() != want {
		t.Errorf("stdout %q, want %q", tape.out.String(), want)
	}
	r.OnMessageChunk("Second turn.")
	r.Finish(source.EndTurn)
	if want := "\n\nSecond turn.\n"; !strings.HasSuffix(tape.out.String(), want) {
		t.Errorf("stdout %q", tape.out.String())
	}
}

func TestWhatComesBetweenDoesNotCutTheAnswer(t *testing.T) {
	var tape tape
	r := tape.renderer(Options{ErrTTY: true})
	r.OnToolCall("1", "Fetch")
	r.OnMessageChunk("While it is fetched ")
	r.OnToolCallUpdate("1", "sunny", completed)
	r.OnNotice(agentstream.Notice{Text: "by the way"})
	r.OnMessageChunk("I go on.")
	r.Finish(source.EndTurn)
	if want := "While it is fetched I go on.\n"; tape.out.String() != want {
		t.Errorf("stdout %q, want %q", tape.out.String(), want)
	}
}

func TestFailIsOneLine(t *testing.T) {
	var tape tape
	r := tape.renderer(Options{Quiet: true})
	r.OnMessageChunk("cut off")
	r.Fail(errors.New("it\nbroke \x1b[31m"))
	if tape.err.String() != "error: it broke \\x1b[31m\n" || tape.out.String() != "cut off\n" {
		t.Errorf("stderr %q, stdout %q", tape.err.String(), tape.out.String())
	}
	tape.out.Reset()
	tape.err.Reset()
	r = tape.renderer(Options{})
	r.Fail(&source.Error{Code: "agent_exited", Message: "the agent ended", Detail: "panic: x\n\ngoroutine 1", Fix: "update it"})
	if want := "error: the agent ended (update it)\n  panic: x\n  goroutine 1\n"; tape.err.String() != want {
		t.Errorf("stderr %q, want %q", tape.err.String(), want)
	}
}

func TestEdits(t *testing.T) {
	big := make([]string, 1000)
	for i := range big {
		big[i] = fmt.Sprint(i)
	}
	for _, c := range []struct{ old, new []string }{
		{nil, nil}, {nil, []string{"a"}}, {[]string{"a"}, nil}, {[]string{"a", "b", "c"}, []string{"a", "x", "c"}},
		{[]string{"a", "a", "b"}, []string{"a", "b", "a"}}, {big, big[500:]}, {big, append([]string{"x"}, big[1:999]...)},
		{append([]string{"o"}, big...), append(append([]string{"n"}, big[1:]...), "e")},
	} {
		var old, new []string
		for _, e := range edits(c.old, c.new) {
			if e.mark != '+' {
				old = append(old, e.text)
			}
			if e.mark != '-' {
				new = append(new, e.text)
			}
		}
		if !cmp.Equal(old, c.old) || !cmp.Equal(new, c.new) {
			t.Errorf("%d and %d lines are not what the edits give", len(c.old), len(c.new))
		}
	}
}

func FuzzNoControlCharacterPasses(f *testing.F) {
	f.Add("plain", "\x1b[31m", uint8(0))
	f.Add("a\r", "\nb", uint8(3))
	f.Add("\u009b\u202e", "\xff\xfe", uint8(7))
	f.Fuzz(func(t *testing.T, a, b string, look uint8) {
		var tape tape
		r := tape.renderer(Options{OutTTY: look&1 != 0, ErrTTY: look&2 != 0, Color: look&4 != 0, Width: int(look >> 3)})
		for _, e := range []agentstream.Event{
			agentstream.ThoughtChunk{Text: a}, agentstream.MessageChunk{Text: a}, agentstream.MessageChunk{Text: b},
			agentstream.ToolCallInfo{ID: a, Kind: b, Title: a}, agentstream.ToolCall{ID: a, Title: b}, agentstream.ToolCallUpdate{ID: a, Status: running},
			agentstream.Output{ID: a, Data: b}, agentstream.Output{ID: a, Data: a}, agentstream.ToolCallUpdate{ID: a, Content: b, Status: failed},
			agentstream.Diff{Path: a, Old: &b, New: a}, agentstream.Notice{Severity: a, Text: b}, agentstream.Media{MIMEType: a, URI: b, Name: a},
			agentstream.Plan{Entries: []agentstream.PlanEntry{{Content: a, Status: b}}}, agentstream.Subagent{ID: a, Name: b, Event: agentstream.ToolCall{ID: b, Title: a}},
			agentstream.Usage{Context: &agentstream.ContextUse{Used: 1, Cost: 1, Currency: a}},
		} {
			agentstream.Send(r, e)
		}
		q := source.Request{Title: a, Kind: b, Options: []source.Option{{ID: a, Name: b, Kind: a}}, Locations: []agentstream.Location{{Path: b, Line: 1}}}
		r.Ask(t.Context(), q, NewInput(strings.NewReader("9\n")))
		r.Finish(source.StopReason(b))
		r.Fail(errors.New(a))
		if left := controls(tape.both.String()); left != "" {
			t.Errorf("control characters got through: %q", left)
		}
	})
}

func TestOutputWithoutLinesIsNotKept(t *testing.T) {
	var tape tape
	r := tape.renderer(Options{})
	for range 1000 {
		r.OnOutput(agentstream.Output{ID: "1", Data: strings.Repeat("x", 1000)})
	}
	if kept := len(r.calls["1"].partial); kept > maxLine {
		t.Errorf("%d bytes are kept", kept)
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		want    string
	}{{"short", 10, "short"}, {"exactly 10", 10, "exactly 10"}, {"much too long", 6, "much …"}, {"漢字漢字", 5, "漢字…"}, {"e\u0301e\u0301", 2, "e\u0301e\u0301"}, {"👩\u200d👧x", 5, "👩\u200d👧x"}} {
		if got := fit(c.text, c.columns); got != c.want {
			t.Errorf("fit(%q, %d) = %q, want %q", c.text, c.columns, got, c.want)
		}
	}
}

func BenchmarkMessageChunk(b *testing.B) {
	r := New(Options{Out: discard{}, Err: discard{}})
	b.ReportAllocs()
	for b.Loop() {
		r.OnMessageChunk("some words of an answer ")
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error)       { return len(p), nil }
func (discard) WriteString(s string) (int, error) { return len(s), nil }

// The status line comes while nothing is written, and goes before anything is.
func TestTick(t *testing.T) {
	var tape tape
	r := tape.renderer(Options{OutTTY: true, ErrTTY: true, Width: 40})
	now := time.Unix(0, 0)
	r.o.Now = func() time.Time { return now }
	r.began = now
	next := func(want string, do func()) {
		t.Helper()
		tape.both.Reset()
		do()
		if got := tape.both.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	now = now.Add(12 * time.Second)
	next("\r… 12s · Ctrl-C cancels\x1b[K", func() { r.Tick(0) })
	r.OnTokenUsage(1234)
	next("\r… 12s · 1,234 tokens · Ctrl-C cancels\x1b[K", func() { r.Tick(0) })
	next("\r… 12s · 1,234 tokens · Ctr…\x1b[K", func() { r.Tick(28) })
	next("\r\x1b[Kone", func() { r.OnMessageChunk("one two") })
	next("", func() { r.Tick(40) })
	next(" two\n\n○ Run", func() { r.OnToolCall("1", "Run") })
	next("\r\x1b[K● Run", func() { r.OnToolCallUpdate("1", "", running) })
	now = now.Add(75 * time.Second)
	next("\r\x1b[K● Run 1m15s", func() { r.Tick(0) })
	next("\r\x1b[K✓ Run 1m15s\n", func() { r.OnToolCallUpdate("1", "", completed) })
	next("\r… 1m27s · 1,234 tokens · Ctrl-C cancels\x1b[K", func() { r.Tick(60) })
	next("\r\x1b[K1m27s · context: 1,234 tokens\n", func() { r.Finish(source.EndTurn) })
}

// Where there is no terminal nothing ticks, nor while a question waits.
func TestTickIsQuiet(t *testing.T) {
	for _, o := range []Options{{}, {OutTTY: true}, {OutTTY: true, ErrTTY: true, Quiet: true}} {
		var tape tape
		tape.renderer(o).Tick(10)
		if got := tape.both.String(); got != "" {
			t.Errorf("%+v: %q", o, got)
		}
	}
	var tape tape
	r := tape.renderer(Options{OutTTY: true, ErrTTY: true})
	typing, typed := io.Pipe()
	answered := make(chan source.Answer)
	go func() { answered <- r.Ask(t.Context(), permission, NewInput(typing)) }()
	io.WriteString(typed, "what") // is read, so the question is there
	r.Tick(0)
	io.WriteString(typed, "\ny\n")
	<-answered
	if strings.Contains(tape.both.String(), "…") {
		t.Errorf("%q", tape.both.String())
	}
}
