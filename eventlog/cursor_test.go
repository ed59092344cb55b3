package eventlog_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/eventlog"
)

func ExampleParseCursor() {
	c, err := eventlog.ParseCursor("00c0ffee-00000000000000000042")
	fmt.Println(c.Gen, c.Seq, err)
	fmt.Println(c)
	// Output:
	// 12648430 42 <nil>
	// 00c0ffee-00000000000000000042
}

func TestCursorRoundTrip(t *testing.T) {
	for _, c := range []eventlog.Cursor{
		{}, {Gen: 1}, {Seq: 1}, {Gen: 0xdeadbeef, Seq: 1234567890},
		{Gen: math.MaxUint32, Seq: math.MaxUint64},
	} {
		got, err := eventlog.ParseCursor(c.String())
		if err != nil || got != c {
			t.Errorf("%v: got %v, %v", c, got, err)
		}
		if len(c.String()) != eventlog.CursorLen {
			t.Errorf("%v is %d bytes long", c, len(c.String()))
		}
		if c.IsZero() != (c.Gen == 0 && c.Seq == 0) {
			t.Errorf("%v: IsZero is %v", c, c.IsZero())
		}
	}
}

func TestParseCursorRefuses(t *testing.T) {
	for _, s := range []string{
		"", "1", "-1", "00c0ffee", "00c0ffee-", "00c0ffee-1",
		"00C0FFEE-00000000000000000042",
		"00c0ffee_00000000000000000042",
		"00c0ffee-0000000000000000004a",
		"00c0ffee-+0000000000000000042",
		"00c0ffee-000000000000000000042",
		" 0c0ffee-00000000000000000042",
		"00c0ffee-18446744073709551616",
		"00c0ffee-99999999999999999999",
		strings.Repeat("0", 1<<20),
	} {
		c, err := eventlog.ParseCursor(s)
		if !errors.Is(err, eventlog.ErrInvalid) || c != (eventlog.Cursor{}) {
			t.Errorf("%.40q: got %v, %v", s, c, err)
		}
		if err != nil && len(err.Error()) > 300 {
			t.Errorf("the error for %d bytes is %d bytes long", len(s), len(err.Error()))
		}
	}
}

func TestCursorOrder(t *testing.T) {
	want := []eventlog.Cursor{{}, {Seq: 1}, {Gen: 1}, {Gen: 1, Seq: 9}, {Gen: 1, Seq: 10}, {Gen: 2}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, eventlog.Cursor.Compare)
	if !slices.Equal(got, want) {
		t.Errorf("sorted: %v", got)
	}
	texts := slices.SortedFunc(slices.Values(got), func(a, b eventlog.Cursor) int {
		return strings.Compare(a.String(), b.String())
	})
	if !slices.Equal(texts, want) {
		t.Errorf("sorted by text: %v", texts)
	}
}

func FuzzParseCursor(f *testing.F) {
	for _, s := range []string{"", "00c0ffee-00000000000000000042", "ffffffff-18446744073709551615"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if c, err := eventlog.ParseCursor(s); err == nil && c.String() != s {
			t.Errorf("%q became %q", s, c)
		}
	})
}

func BenchmarkCursorAppend(b *testing.B) {
	b.ReportAllocs()
	var buf []byte
	c := eventlog.Cursor{Gen: 0xdeadbeef}
	for b.Loop() {
		c.Seq++
		buf = c.Append(buf[:0])
	}
}
