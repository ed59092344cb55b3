package acp

import (
	"bufio"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream"
)

// recordings gives the recorded wires in the folder that AGENTSTREAM_TRACES
// names, and skips the test if there are none. A recording is one JSON object a
// line: t, dir (c2a, a2c, stderr, exit), line.
func recordings(t *testing.T) map[string][]frame {
	t.Helper()
	dir := os.Getenv("AGENTSTREAM_TRACES")
	if dir == "" {
		t.Skip("AGENTSTREAM_TRACES names no folder of recordings")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	out := map[string][]frame{}
	for _, file := range files {
		name := strings.TrimPrefix(strings.TrimPrefix(file, dir), "/")
		out[name] = readRecording(t, file)
	}
	return out
}

func readRecording(t *testing.T, file string) []frame {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []frame
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var l struct {
			Dir  string `json:"dir"`
			Line string `json:"line"`
		}
		if json.Unmarshal(lines.Bytes(), &l) != nil || l.Dir != "a2c" && l.Dir != "c2a" {
			continue
		}
		out = append(out, frame{l.Dir == "a2c", l.Line})
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return out
}

// Every recorded turn keeps the guarantees, and no text is lost or made up:
// chunks and notices together are what the wire said.
func TestRecordingsKeepTheGuarantees(t *testing.T) {
	turns, calls, terminals := 0, 0, 0
	for name, wire := range recordings(t) {
		p := play(wire)
		for _, s := range p.order {
			for _, turn := range s.turns {
				turns++
				turn.check(t)
				if got, want := spoken(turn), normal(turn.wire.String()); got != want {
					t.Errorf("%s: text differs:\n got %q\nwant %q", name, got, want)
				}
				n, m := compareCalls(t, turn)
				calls, terminals = calls+n, terminals+m
			}
		}
		if t.Failed() {
			t.Fatalf("%s:\n%s", name, p.events())
		}
	}
	t.Logf("%d turns, %d calls, %d terminals", turns, calls, terminals)
}

// compareCalls holds a turn's calls against the wire: the same calls, the last
// arguments, the first terminal.
func compareCalls(t *testing.T, turn *playedTurn) (calls, terminals int) {
	args, status := map[string]string{}, map[string]string{}
	for _, e := range turn.rec.Events() {
		switch e := e.(type) {
		case agentstream.ToolCall:
			calls++
			args[e.ID] = ""
		case agentstream.ToolCallArgsSnapshot:
			args[e.ID] = e.Args
		case agentstream.ToolCallUpdate:
			if e.Status.IsTerminal() {
				terminals++
				status[e.ID] = map[bool]string{true: "failed", false: "completed"}[e.Status == agentstream.ToolCallStatusFailed]
			}
		case agentstream.Raw:
			t.Errorf("not understood: %s", e.Data)
		}
	}
	for id, c := range turn.calls {
		got, ok := args[id]
		switch {
		case !ok && c.args+c.status == "": // the output of an earlier turn's call
		case !ok:
			t.Errorf("call %s is missing", id)
		case c.args != "" && !reflect.DeepEqual(decoded(t, got), decoded(t, c.args)):
			t.Errorf("call %s: arguments %s, the wire ended with %s", id, got, c.args)
		case c.status != "" && c.status != status[id]:
			t.Errorf("call %s is %q, on the wire %q", id, status[id], c.status)
		}
	}
	return calls, terminals
}

func decoded(t *testing.T, s string) (v any) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Errorf("%q: %v", s, err)
	}
	return v
}

// spoken gives chunks and status lines in order. Codex's notices lose their
// "Warning: " and the blank line behind them.
func spoken(turn *playedTurn) string {
	var b strings.Builder
	for _, e := range turn.rec.Events() {
		switch e := e.(type) {
		case agentstream.MessageChunk:
			b.WriteString(e.Text)
		case agentstream.Notice:
			if !strings.HasPrefix(e.Text, "Reconnecting") { // said beside the text
				b.WriteString(e.Text)
			}
		}
	}
	return normal(b.String())
}

func normal(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "Warning: Model", "Model"), "\n\n", "")
}

// Recorded wires that were damaged on their way keep the guarantees too.
func TestDamagedRecordingsKeepTheGuarantees(t *testing.T) {
	all := recordings(t)
	r := rand.New(rand.NewPCG(seed(t), 7))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for range 4 {
			wire := damage(r, all[name])
			for _, s := range play(wire).order {
				for _, turn := range s.turns {
					turn.check(t)
				}
			}
			if t.Failed() {
				t.Fatalf("%s:\n%s", name, play(wire).events())
			}
		}
	}
}
