package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/agentstream-go/agentstream/internal/sse"
)

func ExampleNewReader() {
	b := sse.AppendEvent(nil, "1", []byte(`{"type":"RUN_STARTED"}`))
	b = sse.AppendComment(b, "")
	b = sse.AppendEvent(b, "", []byte(`{"type":"RUN_FINISHED"}`))
	r := sse.NewReader(bytes.NewReader(b))
	for {
		f, err := r.Next()
		if err != nil {
			fmt.Println(err)
			break
		}
		fmt.Printf("%q %s\n", f.ID, f.Data)
	}
	// Output:
	// "1" {"type":"RUN_STARTED"}
	// "" {"type":"RUN_FINISHED"}
	// EOF
}

func TestAppend(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{string(sse.AppendEvent(nil, "7", []byte("{}"))), "id: 7\ndata: {}\n\n"},
		{string(sse.AppendEvent([]byte("x"), "", []byte("{}"))), "xdata: {}\n\n"},
		{string(sse.AppendEvent(nil, "", nil)), "data: \n\n"},
		{string(sse.AppendEvent(nil, "7\nevent: x", []byte("{}"))), "data: {}\n\n"},
		{string(sse.AppendEvent(nil, "7", []byte("a\n\nid: 8\r\ndata: b\rc"))),
			"id: 7\ndata: a\ndata: \ndata: id: 8\ndata: data: b\ndata: c\n\n"},
		{string(sse.AppendEvent(nil, "", []byte("a\rb\nc\n"))), "data: a\ndata: b\ndata: c\ndata: \n\n"},
		{string(sse.AppendComment(nil, "")), ":\n\n"},
		{string(sse.AppendComment(nil, "hello")), ": hello\n\n"},
		{string(sse.AppendComment(nil, "a\ndata: b")), ":\n\n"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// read reads all frames, each as "id|data", and the error that ended it.
func read(r io.Reader) (frames []string, err error) {
	sr := sse.NewReader(r)
	for {
		f, err := sr.Next()
		if err != nil {
			return frames, err
		}
		frames = append(frames, f.ID+"|"+string(f.Data))
	}
}

func TestReader(t *testing.T) {
	long := strings.Repeat("0123456789", 100_000)
	for name, c := range map[string]struct {
		in   string
		want []string
		err  error
	}{
		"nothing":              {"", nil, io.EOF},
		"one":                  {"id: 1\ndata: a\n\n", []string{"1|a"}, io.EOF},
		"order of fields":      {"data: a\nid: 1\n\n", []string{"1|a"}, io.EOF},
		"ids are the frame's":  {"id: 1\ndata: a\n\ndata: b\n\n", []string{"1|a", "|b"}, io.EOF},
		"no space":             {"id:1\ndata:a\n\n", []string{"1|a"}, io.EOF},
		"one space only":       {"data:  a \n\n", []string{"| a "}, io.EOF},
		"comments":             {": a\n\n:\n:b\ndata: a\n: c\n\n:\n\n", []string{"|a"}, io.EOF},
		"no data, no frame":    {"id: 1\n\nevent: x\nretry: 10\n\ndata: a\n\n", []string{"|a"}, io.EOF},
		"empty data":           {"data\n\ndata:\n\n", []string{"|", "|"}, io.EOF},
		"several lines":        {"data: a\ndata: \ndata: b\n\n", []string{"|a\n\nb"}, io.EOF},
		"CRLF":                 {"id: 1\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"1|a", "|b"}, io.EOF},
		"byte order mark":      {"\xef\xbb\xbfdata: a\n\n", []string{"|a"}, io.EOF},
		"many empty lines":     {"\n\n\ndata: a\n\n\n\n", []string{"|a"}, io.EOF},
		"an id with NUL":       {"id: a\x00b\ndata: a\n\n", []string{"|a"}, io.EOF},
		"cut before the end":   {"data: a\n\ndata: b\n", []string{"|a"}, io.ErrUnexpectedEOF},
		"cut in a line":        {"data: a\n\ndata: b", []string{"|a"}, io.ErrUnexpectedEOF},
		"cut in an id":         {"id: 1", nil, io.ErrUnexpectedEOF},
		"cut behind a comment": {"data: a\n\n: keep alive\n", []string{"|a"}, io.EOF},
		"long":                 {"data: " + long + "\n\ndata: b\n\n", []string{"|" + long, "|b"}, io.EOF},
		"runes":                {"data: é😀\u2028\n\n", []string{"|é😀\u2028"}, io.EOF},
	} {
		for how, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "by bytes": iotest.OneByteReader, "error with data": iotest.DataErrReader,
		} {
			got, err := read(wrap(strings.NewReader(c.in)))
			if diff := cmp.Diff(c.want, got); diff != "" || err != c.err {
				t.Errorf("%s, %s: %v (-want +got):\n%.300s", name, how, err, diff)
			}
		}
	}
}

func TestReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	got, err := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b"), iotest.ErrReader(broken)))
	if err != broken || len(got) != 1 {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzRoundTrip(f *testing.F) {
	f.Add("1", []byte(`{"type":"RUN_STARTED"}`))
	f.Add("", []byte("a\n\nid: 8\r\ndata: b\rc\n"))
	f.Add("x\ny", []byte("\xef\xbb\xbf"))
	f.Fuzz(func(t *testing.T, id string, data []byte) {
		frame := sse.AppendEvent(sse.AppendComment(nil, id), id, data)
		got, err := read(bytes.NewReader(frame))
		want := strings.ReplaceAll(strings.ReplaceAll(string(data), "\r\n", "\n"), "\r", "\n")
		if strings.ContainsAny(id, "\r\n\x00") {
			id = ""
		}
		if err != io.EOF || len(got) != 1 || got[0] != id+"|"+want {
			t.Errorf("%q became %q, %v", frame, got, err)
		}
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("id: 1\r\ndata: a\ndata: b\n\n: x\n\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		whole, err := read(bytes.NewReader(in))
		parts, err2 := read(iotest.HalfReader(bytes.NewReader(in)))
		if diff := cmp.Diff(whole, parts); diff != "" || err != err2 {
			t.Errorf("%v, %v: the result depends on where the stream is cut:\n%s", err, err2, diff)
		}
	})
}

var payload = []byte(`{"type":"TEXT_MESSAGE_CONTENT","messageId":"a1b2c3d4-m1","delta":" hello","timestamp":1700000000000}`)

func BenchmarkAppendEvent(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	var buf []byte
	for b.Loop() {
		buf = sse.AppendEvent(buf[:0], "00c0ffee-00000000000000000042", payload)
	}
}

type repeat struct{ frame, rest []byte }

func (r *repeat) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		r.rest = r.frame
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func BenchmarkReader(b *testing.B) {
	b.ReportAllocs()
	b.SetBytes(int64(len(payload)))
	r := sse.NewReader(&repeat{frame: sse.AppendEvent(nil, "", payload)})
	for b.Loop() {
		if _, err := r.Next(); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAppendAllocatesNothing(t *testing.T) {
	buf := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		buf = sse.AppendComment(sse.AppendEvent(buf[:0], "00c0ffee-00000000000000000042", payload), "x")
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
