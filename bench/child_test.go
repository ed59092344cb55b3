//go:build unix

package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentstream-go/agentstream/engine"
	"github.com/agentstream-go/agentstream/eventlog/sqlite"
	"github.com/agentstream-go/agentstream/server"
)

// serverEnv, in the environment, makes the test binary a server in that folder,
// so that its memory and its CPU time are told from its clients'. Its first line
// is its address; it ends with its standard input.
const serverEnv = "AGENTSTREAM_BENCH_SERVER"

// usage is what a process uses, after a collection.
type usage struct {
	Heap, Stack uint64 // bytes of objects, and of stacks
	InUse       uint64 // bytes of heap that is in use, holes included
	Allocs      uint64 // objects, ever
	RSS         uint64 // bytes; 0 where it is not known
	CPU         time.Duration
}

func measure() usage {
	for range 3 { // each halves the stacks that are larger than they need be
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	u := usage{Heap: m.HeapAlloc, InUse: m.HeapInuse, Stack: m.StackInuse, Allocs: m.Mallocs, CPU: cpuTime()}
	if data, err := os.ReadFile("/proc/self/statm"); err == nil {
		if f := strings.Fields(string(data)); len(f) > 1 {
			pages, _ := strconv.ParseUint(f[1], 10, 64)
			u.RSS = pages * uint64(os.Getpagesize())
		}
	}
	return u
}

func serveChild(dir string) error {
	log, err := sqlite.Open(filepath.Join(dir, "bench.db"), sqlite.Options{Exclusive: true})
	if err != nil {
		return err
	}
	e, err := engine.New(context.Background(), engine.Options{Log: log, Cwd: dir, Agents: []engine.Agent{
		{Name: "bench", Type: "acp", Source: ours()}, {Name: "inside", Source: inside{}},
	}})
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.Handle("/", server.New(e, &server.Options{NoAuth: true}))
	routes.HandleFunc("/usage", func(w http.ResponseWriter, _ *http.Request) { _ = json.NewEncoder(w).Encode(measure()) })
	s := httptest.NewServer(routes)
	fmt.Println(s.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	s.CloseClientConnections()
	s.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	_ = e.Close(ctx)
	return log.Close()
}

// startChild starts a server in a process of its own.
func startChild(b *testing.B) (base string) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverEnv+"="+b.TempDir())
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line)
}

func usageOf(b *testing.B, base string) (u usage) {
	b.Helper()
	resp, err := http.Get(base + "/usage")
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&u); err != nil {
		b.Fatal(err)
	}
	return u
}
