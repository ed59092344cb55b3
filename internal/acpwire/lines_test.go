package acpwire

import (
	"bytes"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func readAll(l *lineReader) (lines []string, dropped int) {
	for {
		b, n, err := l.next(nil)
		dropped += n
		lines = append(lines, strings.SplitAfter(string(b), "\n")...)
		if err != nil {
			break
		}
	}
	var out []string
	for _, line := range lines {
		if line != "" {
			out = append(out, line)
		}
	}
	return out, dropped
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", 3*keepSize) + "\n"
	in := "a\n" + long + "\nb\nlast without end"
	want := []string{"a\n", long, "\n", "b\n", "last without end"}
	for name, r := range map[string]io.Reader{
		"at once":       strings.NewReader(in),
		"byte by byte":  iotest.OneByteReader(strings.NewReader(in)),
		"halves":        iotest.HalfReader(strings.NewReader(in)),
		"data with EOF": iotest.DataErrReader(strings.NewReader(in)),
	} {
		t.Run(name, func(t *testing.T) {
			got, dropped := readAll(&lineReader{r: r, max: 1 << 30})
			if d := cmp.Diff(want, got); d != "" || dropped != 0 {
				t.Errorf("dropped %d, %s", dropped, d)
			}
		})
	}
}

func TestOverlongLineIsDroppedAlone(t *testing.T) {
	for size, limit := range map[int]int{chunkSize + 1: 1000, 3 * chunkSize: 1000, 5 * keepSize: 2 * keepSize} {
		in := "before\n" + strings.Repeat("x", size) + "\nafter\n" + strings.Repeat("y", size) + "\nend\n"
		got, dropped := readAll(&lineReader{r: iotest.HalfReader(strings.NewReader(in)), max: limit})
		if d := cmp.Diff([]string{"before\n", "after\n", "end\n"}, got); d != "" || dropped != 2*(size+1) {
			t.Errorf("size %d: dropped %d, %s", size, dropped, d)
		}
	}
}

func TestOverlongLineAtTheEnd(t *testing.T) {
	got, dropped := readAll(&lineReader{r: strings.NewReader("a\n" + strings.Repeat("x", 2000)), max: 100})
	if d := cmp.Diff([]string{"a\n"}, got); d != "" || dropped != 2000 {
		t.Errorf("dropped %d, %s", dropped, d)
	}
}

// The bar for one line of 64 MB is four times its size.
func TestMemoryOfAHugeLine(t *testing.T) {
	const size = 32 << 20
	line := append(append([]byte(`{"method":"m","params":"`), bytes.Repeat([]byte("x"), size)...), "\"}\n"...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := lineReader{r: bytes.NewReader(line), max: 64 << 20}
	b, dropped, err := l.next(nil)
	runtime.ReadMemStats(&after)
	if err != nil || dropped != 0 || len(b) != len(line) {
		t.Fatalf("%d bytes, dropped %d, err %v", len(b), dropped, err)
	}
	m, err := parse(b[:len(b)-1])
	if err != nil || len(m.Params) != size+2 {
		t.Fatalf("%d bytes of params, err %v", len(m.Params), err)
	}
	// What was allocated in all bounds what was ever in use.
	if total := after.TotalAlloc - before.TotalAlloc; total > 4*size {
		t.Errorf("%d MB were allocated for a line of %d MB", total>>20, size>>20)
	}
}
