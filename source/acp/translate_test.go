package acp

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/agentstream-go/agentstream/internal/fixture"
)

// Each scenario in testdata holds one lesson of a real agent.
func TestScenarios(t *testing.T) {
	fixture.Each(t, "testdata", "wire", func(t *testing.T, f *fixture.File) {
		p := play(frames(f.Lines("wire")))
		for _, s := range p.order {
			for _, turn := range s.turns {
				turn.check(t)
			}
		}
		f.Check(t, "events", p.events())
	})
}

// Whatever happens to a wire on its way, the guarantees hold.
func TestDamagedWiresKeepTheGuarantees(t *testing.T) {
	seed := seed(t)
	r := rand.New(rand.NewPCG(seed, 5))
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		whole := frames(fixture.Load(t, file).Lines("wire"))
		for range 40 {
			wire := damage(r, whole)
			p := play(wire)
			for _, s := range p.order {
				for _, turn := range s.turns {
					turn.check(t)
				}
			}
			if t.Failed() {
				t.Fatalf("%s, seed %d: the guarantees broke on\n%s\nwhich gave\n%s", file, seed, lines(wire), p.events())
			}
		}
	}
}

func seed(t testing.TB) uint64 {
	n := uint64(1)
	if s := os.Getenv("AGENTSTREAM_SEED"); s != "" {
		var err error
		if n, err = strconv.ParseUint(s, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d", n)
	return n
}

// damage drops, repeats, swaps and cuts lines.
func damage(r *rand.Rand, wire []frame) []frame {
	out := slices.Clone(wire)
	for range 1 + r.IntN(4) {
		if len(out) < 3 {
			break
		}
		i, j := r.IntN(len(out)), r.IntN(len(out))
		switch r.IntN(5) {
		case 0:
			out = slices.Delete(out, i, i+1)
		case 1:
			out = slices.Insert(out, j, out[i])
		case 2:
			out[i], out[j] = out[j], out[i]
		case 3:
			out = out[:i+1]
		case 4: // params arrive as they are, cut ones too
			line := out[i].line
			out[i].line = line[:r.IntN(len(line)+1)]
		}
	}
	return out
}

func lines(wire []frame) string {
	s := ""
	for _, f := range wire {
		s += map[bool]string{true: "< ", false: "> "}[f.fromAgent] + f.line + "\n"
	}
	return s
}
