package badinput

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"net"
	"net/url"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/agentstream-go/agentstream/agui"
	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
)

// peak is the most memory that the server has had resident, in bytes.
func peak(t *testing.T, s *harness.Server) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("what a process has had resident is read from /proc")
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.PID()))
	must(t, err)
	_, rest, _ := strings.Cut(string(data), "VmHWM:")
	n, err := strconv.Atoi(strings.Fields(rest)[0])
	must(t, err)
	return n << 10
}

// A line of 64 MB is dropped alone and does not take more than four times its size;
// one of 4 MB comes whole.
func TestHugeLine(t *testing.T) {
	harness.Require(t)
	for name, size := range map[string]int{"long line": 4_000_000, "too long": 64_000_000} {
		t.Run(name, func(t *testing.T) {
			s := server(t, "")
			thread := harness.ID(t, "thread")
			run := s.Run(thread, agentName(name), "go")
			if got := s.WaitRun(thread, run.ID); got.State != engine.RunFinished {
				t.Errorf("%+v", got)
			}
			most := peak(t, s)
			t.Logf("a line of %d MB: at most %d MB resident", size>>20, most>>20)
			if name == "too long" && most > 4*size {
				t.Errorf("%d MB resident for a line of %d MB", most>>20, size>>20)
			}
			text := ""
			for _, r := range s.Rounds(thread) {
				for _, m := range r.Messages {
					text += m.Content
				}
			}
			switch {
			case name == "too long" && (text != said || len(diagnostics(t, s, thread)) != 1):
				t.Errorf("%d bytes, %q", len(text), diagnostics(t, s, thread))
			case name != "too long" && (len(text) < size-1000 || !strings.HasPrefix(text, said[:5]) || !strings.HasSuffix(text, said[5:])):
				t.Errorf("%d bytes", len(text))
			}
		})
	}
}

// Two hundred readers of one run get the same bytes; some never read, and hold up
// nobody and little memory.
func TestManyReaders(t *testing.T) {
	s := server(t, "")
	thread := harness.ID(t, "thread")
	path := harness.ThreadPath(thread, "/events")
	s.Stream("POST", "/agui/demo", harness.Input(thread, "r0", harness.User("u0", "list"))).All()
	for range 20 {
		stall(t, s, path)
	}
	readers := make([]*harness.Stream, 200)
	for i := range readers {
		readers[i] = s.Events(thread, "")
	}
	run := s.Run(thread, "demo", "parallel, long 3000")
	sums := make([]string, len(readers))
	var wg sync.WaitGroup
	for i, r := range readers {
		wg.Go(func() {
			sum := sha256.New()
			for ends := 0; ends < 2; {
				e, err := r.Next()
				if err != nil {
					t.Errorf("reader %d: %v", i, err)
					return
				}
				fmt.Fprintf(sum, "%s %s\n", e.ID, e.Data)
				if harness.Ended(e) {
					ends++
				}
			}
			sums[i] = string(sum.Sum(nil))
		})
	}
	wg.Wait()
	s.WaitRun(thread, run.ID)
	if n := len(slices.Compact(sums)); n != 1 {
		t.Errorf("readers have got %d different streams", n)
	}
	most := peak(t, s)
	t.Logf("%d MB resident at most", most>>20)
	if most > 256<<20 {
		t.Errorf("%d MB resident for 220 readers", most>>20)
	}
}

// A result of 1 MiB does not cost 1 MiB for each reader.
func TestLargeResultForManyReaders(t *testing.T) {
	s := server(t, "")
	thread := harness.ID(t, "thread")
	path := harness.ThreadPath(thread, "/events")
	s.Stream("POST", "/agui/demo", harness.Input(thread, "r0", harness.User("u0", "list"))).All()
	for range 20 {
		stall(t, s, path)
	}
	readers := make([]*harness.Stream, 200)
	for i := range readers {
		readers[i] = s.Events(thread, s.LastEvent(thread).ID)
	}
	run := s.Run(thread, "demo", "big 1")
	var wg sync.WaitGroup
	for _, r := range readers {
		wg.Go(func() { r.Until(harness.Ended) })
	}
	wg.Wait()
	s.WaitRun(thread, run.ID)
	most := peak(t, s)
	t.Logf("%d MB resident at most", most>>20)
	if most > 128<<20 {
		t.Errorf("%d MB resident for 220 readers of 1 MiB", most>>20)
	}
}

// stall opens a stream and never reads it, with as small a window as can be had.
func stall(t *testing.T, s *harness.Server, path string) {
	t.Helper()
	u, err := url.Parse(s.URL)
	must(t, err)
	conn, err := net.Dial("tcp", u.Host)
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.(*net.TCPConn).SetReadBuffer(1 << 10)
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nAccept: text/event-stream\r\n\r\n", path, u.Host, s.Token)
	must(t, err)
}

// A reader whose connection breaks at any byte and who comes again with the last
// id that it has got has in the end everything, once.
func TestReaderThatIsCut(t *testing.T) {
	s := server(t, "", harness.Env("AGENTSTREAM_DEMO_PACE=200"))
	thread := harness.ID(t, "thread")
	random := harness.Rand(t)
	run := s.Run(thread, "demo", "think, parallel, diff, long 200")
	var got []harness.Event
	last := ""
	for ended := false; !ended; {
		st := s.Events(thread, last)
		raw := make([]byte, 1+random.IntN(4000))
		n := 0
		for n < len(raw) && !bytes.Contains(raw[:n], []byte(`"RUN_FINISHED"`)) {
			k, err := st.Response.Body.Read(raw[n:])
			if n += k; err != nil {
				t.Fatal(err)
			}
		}
		st.Close()
		for frame := range strings.SplitSeq(string(raw[:n]), "\n\n") {
			id, data, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(frame), "id: "), "\ndata: ")
			if !ok || !strings.HasSuffix(data, "}") || !bytes.Contains(raw[:n], []byte(frame+"\n\n")) {
				continue
			}
			e, err := agui.Decode([]byte(data))
			must(t, err)
			got, last = append(got, harness.Event{ID: id, Data: []byte(data), Event: e}), id
			ended = e.Type() == agui.TypeRunFinished
		}
	}
	s.WaitRun(thread, run.ID)
	log := s.Log(thread)
	if len(got) != len(log) {
		t.Fatalf("%d events of %d", len(got), len(log))
	}
	for i := range log {
		if got[i].ID != log[i].ID {
			t.Fatalf("event %d is %s, not %s", i, got[i].ID, log[i].ID)
		}
	}
	checkThread(t, s, thread)
}

// Bodies that trickle in keep nobody else from the server, and cost it little.
func TestSlowBodies(t *testing.T) {
	s := server(t, "")
	u, err := url.Parse(s.URL)
	must(t, err)
	for range 200 {
		conn, err := net.Dial("tcp", u.Host)
		must(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "POST /agui/demo HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 30000000\r\n\r\n{", u.Host, s.Token)
		must(t, err)
	}
	thread := harness.ID(t, "thread")
	events := s.Stream("POST", "/agui/demo", harness.Input(thread, "r1", harness.User("u1", "list"))).All()
	if last := events[len(events)-1]; last.Type() != agui.TypeRunFinished {
		t.Errorf("%s", last.Data)
	}
	if most := peak(t, s); most > 128<<20 {
		t.Errorf("%d MB resident", most>>20)
	}
}
