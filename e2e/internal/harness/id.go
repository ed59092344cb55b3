package harness

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

var ids atomic.Int64

// ID makes an id that no other test of the process has: what it is for, the
// test's name and a number.
func ID(t testing.TB, kind string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, t.Name())
	return fmt.Sprintf("%s-%s-%d", kind, name[max(0, len(name)-80):], ids.Add(1))
}

// defaultSeed is that of every random choice, so that runs are the same.
const defaultSeed = 20251114

// Rand gives the test's own random numbers: the same ones each time, unless
// AGENTSTREAM_SEED is another seed.
func Rand(t testing.TB) *rand.Rand {
	seed := uint64(defaultSeed)
	if text := os.Getenv("AGENTSTREAM_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("AGENTSTREAM_SEED: %v", err)
		}
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(t.Name()))
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
