package badinput

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sqlite "modernc.org/sqlite"

	"github.com/agentstream-go/agentstream/e2e/internal/harness"
	"github.com/agentstream-go/agentstream/engine"
)

// filled makes a data folder with some turns in it.
func filled(t *testing.T) (data string) {
	t.Helper()
	data = filepath.Join(t.TempDir(), "data")
	s := harness.Start(t, harness.Data(data))
	for range 3 {
		thread := harness.ID(t, "thread")
		run := s.Run(thread, "demo", "list, plan, parallel")
		s.WaitRun(thread, run.ID)
	}
	s.Stop()
	return data
}

// A database that cannot be used keeps the server from starting, with one line
// that says which it is and what to do; the file is as it was.
func TestDatabaseThatCannotBeUsed(t *testing.T) {
	harness.Require(t)
	good := filled(t)
	for name, c := range map[string]struct {
		spoil func(t *testing.T, db string) (wrap []string)
		says  string
	}{
		"locked": {func(t *testing.T, db string) []string {
			hold(t, db)
			return nil
		}, "the database is locked"},
		"no database":   {change(func(data []byte) []byte { return bytes.Repeat([]byte("this is no database\n"), 500) }), "not an agentstream database"},
		"head damaged":  {change(func(data []byte) []byte { return append([]byte("garbage"), data[7:]...) }), "not an agentstream database"},
		"cut":           {change(func(data []byte) []byte { return data[:20_000] }), "the database is damaged"},
		"pages emptied": {change(func(data []byte) []byte { clear(data[8192:20480]); return data }), "the database is damaged"},
		"a folder": {func(t *testing.T, db string) []string {
			must(t, errors.Join(os.Remove(db), os.Mkdir(db, 0o700)))
			return nil
		}, "the database can not be opened"},
		"read-only folder": {func(t *testing.T, db string) []string {
			dir := filepath.Dir(db)
			return mounted(t, `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"`, dir)
		}, "read-only file system"},
		"read-only file": {func(t *testing.T, db string) []string {
			return mounted(t, `mount --bind "$0" "$0" && mount -o remount,ro,bind "$0"`, db)
		}, "the database can not be written"},
		"no space": {func(t *testing.T, db string) []string {
			return mounted(t, `mount -t tmpfs -o size=4k none "$0" && echo token > "$0/token"`, filepath.Dir(db))
		}, "the disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			must(t, os.CopyFS(data, os.DirFS(good)))
			db := filepath.Join(data, "agentstream.db")
			wrap := c.spoil(t, db)
			before, _ := os.ReadFile(db)
			code, out, text := serve(t, data, wrap)
			if code != 1 || out != "" || strings.Count(text, "\n") != 1 || !strings.Contains(strings.ToLower(text), c.says) || !strings.Contains(text, "; ") || !strings.Contains(text, data) {
				t.Errorf("exit %d, stdout %q, stderr:\n%s", code, out, text)
			}
			if after, _ := os.ReadFile(db); !bytes.Equal(before, after) {
				t.Error("the file was changed")
			}
		})
	}
}

func change(how func([]byte) []byte) func(*testing.T, string) []string {
	return func(t *testing.T, db string) []string {
		data, err := os.ReadFile(db)
		must(t, err)
		must(t, os.WriteFile(db, how(data), 0o600))
		return nil
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// mounted is a command that starts others in a mount namespace of their own,
// after a shell has prepared it; $0 is the path.
func mounted(t *testing.T, script, path string) []string {
	t.Helper()
	flag := "-m"
	if os.Getuid() != 0 {
		flag = "-rm"
	}
	argv := []string{"unshare", flag, "sh", "-c", script + ` && exec "$@"`, path}
	need(t, append(slices.Clone(argv), "true")...)
	return argv
}

// serve runs the server to an end that must come by itself.
func serve(t *testing.T, data string, wrap []string) (code int, out, text string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), harness.Patience)
	defer cancel()
	argv := append(slices.Clone(wrap), harness.Binary(t), "serve", "--listen", "127.0.0.1:0", "--data", data, "--config", os.DevNull)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Env = harness.Environment(t.TempDir())
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// hold takes the database's write lock, as another program may, until the
// function it gives is called or the test ends.
func hold(t *testing.T, db string) (release func()) {
	t.Helper()
	c, err := new(sqlite.Driver).Open("file:" + db + "?_busy_timeout=60000")
	must(t, err)
	begin, err := c.Prepare("BEGIN IMMEDIATE")
	must(t, err)
	_, err = begin.Exec(nil) //nolint:staticcheck // the driver's own interface is enough here
	must(t, errors.Join(err, begin.Close()))
	released := false
	release = func() {
		if !released {
			released = true
			must(t, c.Close())
		}
	}
	t.Cleanup(release)
	return release
}

// A database that others lock for long, while turns run, fails those that have
// something to keep, with the code for it. When it is free again each of them
// has its end, and all goes on.
func TestDatabaseLockedInMidTurn(t *testing.T) {
	harness.Require(t)
	s := harness.Start(t, harness.AllowFaults())
	other := bystander(t, s)
	thread := harness.ID(t, "thread")
	s.Stream("POST", "/agui/demo", harness.Input(thread, "r0", harness.User("u0", "list"))).All()
	release := hold(t, filepath.Join(s.Data, "agentstream.db"))
	in := harness.Input(thread, "r1", harness.User("u1", "plan"))
	if r := s.Do("POST", "/agui/demo", in); r.Status != 500 || r.Code != "storage" {
		t.Errorf("while it is locked: %d %s", r.Status, r.Body)
	}
	if m := s.Messages(thread); len(m.Messages) == 0 || m.OpenRun != nil {
		t.Errorf("reading while it is locked: %+v", m)
	}
	release()
	if last := s.Stream("POST", "/agui/demo", in).All(); !harness.Ended(last[len(last)-1]) {
		t.Errorf("the same again: %s", last[len(last)-1].Data)
	}
	checkThread(t, s, thread)
	other()
}

// A disk that is full fails what needs it and nothing else. What was there stays,
// and with space again everything goes on, the failed turn's end included.
func TestDiskFull(t *testing.T) {
	harness.Require(t)
	data := filepath.Join(t.TempDir(), "data")
	must(t, os.Mkdir(data, 0o700))
	s := harness.Start(t, harness.AllowFaults(), harness.Data(data),
		harness.Wrap(mounted(t, `mount -t tmpfs -o size=6m none "$0"`, data)...))
	other := bystander(t, s)
	thread := harness.ID(t, "thread")
	s.Stream("POST", "/agui/demo", harness.Input(thread, "r0", harness.User("u0", "list"))).All()
	before := s.Log(thread)

	// A turn that says more than there is room for: it fails in its midst.
	run := s.Run(thread, "demo", "big 10")
	if got := s.WaitRun(thread, run.ID); got.State != engine.RunFailed || got.Error == nil || got.Error.Code != "storage" {
		t.Errorf("%+v", got)
	}
	log := s.Log(thread)
	for i := range before {
		if !bytes.Equal(before[i].Data, log[i].Data) {
			t.Fatalf("event %d was lost", i)
		}
	}
	checkThread(t, s, thread)
	again := s.Run(thread, "demo", "list")
	if got := s.WaitRun(thread, again.ID); got.State != engine.RunFinished {
		t.Errorf("the next turn: %+v", got)
	}
	checkThread(t, s, thread)
	other()
}
