package e2e_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
)

// No event reaches a reader before the log has it on the disk: seen from outside,
// by the server's calls to the kernel.
func TestNothingIsSentBeforeItIsSynced(t *testing.T) {
	harness.Require(t)
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("strace is not installed (apt-get install strace)")
	}
	out := filepath.Join(t.TempDir(), "trace")
	wrap := []string{strace, "-f", "-y", "-s", "1000000", "-o", out, "-e", "trace=write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,fsync,fdatasync", "-e", "signal=none"}
	if msg, err := exec.Command(wrap[0], append(wrap[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("strace may not be used here: %v %s", err, msg)
	}
	s := harness.Start(t, harness.Wrap(wrap...), harness.Env("AGENTSTREAM_DEMO_PACE=200"))
	thread := harness.ID(t, "thread")
	reader := s.Events(thread, "")
	s.Run(thread, "demo", "long 200")
	reader.Until(harness.Ended)
	s.Stop()
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	tr := newTrace(`Line \d+ of 200`)
	if err := tr.read(bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	// Text that lies across two of the file's pages is not found in them.
	whole := tr.early[:0]
	for _, mark := range tr.early {
		if tr.written[mark] {
			whole = append(whole, mark)
		}
	}
	if lost := len(tr.early) - len(whole); lost > 20 {
		t.Errorf("%d of %d events were not found in the log's file at all", lost, len(tr.sent))
	}
	tr.early = whole
	t.Logf("%d events sent, %d syncs", len(tr.sent), tr.syncs)
	if err := tr.verdict(200); err != nil {
		t.Error(err)
	}
}

// The check itself: what it would say of a server that does not sync.
func TestTheTraceIsReadRightly(t *testing.T) {
	const (
		write  = `10 pwrite64(5</d/x.db-wal>, "..\"delta\":\"Line 1 of 9\"..", 4096, 32) = 4096` + "\n"
		sync   = `10 fdatasync(5</d/x.db-wal>) = 0` + "\n"
		send   = `11 write(8<socket:[77]>, "id: a-1\ndata: {\"delta\":\"Line 1 of 9\"}\n\n", 40) = 40` + "\n"
		others = `12 write(1</dev/pts/1>, "Line 1 of 9", 11) = 11` + "\n" + `12 +++ exited with 0 +++` + "\n"
	)
	for _, c := range []struct{ name, trace, want string }{
		{"in order", others + write + sync + send, ""},
		{"twice", write + sync + send + send, ""},
		{"not synced", write + send, "before they were on the disk"},
		{"synced afterwards", write + send + sync, "before they were on the disk"},
		{"synced before", sync + write + send, "before they were on the disk"},
		{"another file synced", write + strings.ReplaceAll(sync, "x.db-wal", "x.db") + send, "before they were on the disk"},
		{"the sync failed", write + strings.ReplaceAll(sync, "= 0", "= -1 EIO (Input/output error)") + send, "before they were on the disk"},
		{"nothing written", sync + send, "before they were on the disk"},
		{"nothing sent", write + sync, "proves nothing"},
		{
			"the sync is not over", write + `10 fdatasync(5</d/x.db-wal> <unfinished ...>` + "\n" + send + `10 <... fdatasync resumed>) = 0` + "\n",
			"before they were on the disk",
		},
		{
			"the sync began too early", `10 fdatasync(5</d/x.db-wal> <unfinished ...>` + "\n" + strings.ReplaceAll(write, "10 ", "13 ") + `10 <... fdatasync resumed>) = 0` + "\n" + send,
			"before they were on the disk",
		},
		{
			"everything overlaps", `10 pwrite64(5</d/x.db-wal>, "Line 1 of 9", 11, 0 <unfinished ...>` + "\n" + `12 read(1<pipe:[3]>, "", 1) = 0` + "\n" +
				`10 <... pwrite64 resumed>) = 11` + "\n" + `10 fdatasync(5</d/x.db-wal> <unfinished ...>` + "\n" + `12 fsync(3</d/y> <unfinished ...>` + "\n" +
				`10 <... fdatasync resumed>) = 0` + "\n" + send, "",
		},
	} {
		tr := newTrace(`Line \d of 9`)
		if err := tr.read(strings.NewReader(c.trace)); err != nil {
			t.Fatal(err)
		}
		err := tr.verdict(1)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
