package catalog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Check is one thing that doctor looked at.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fix    string `json:"fix,omitempty"` // what to do, a command line where there is one

	// Optional: the product works without it. A failed optional check does
	// not make the report fail.
	Optional bool `json:"optional,omitempty"`
}

// Report is the result of doctor.
type Report struct {
	OK     bool    `json:"ok"` // every check that is not optional is
	Checks []Check `json:"checks"`
}

// Setup is what doctor examines beside the agents.
type Setup struct {
	Machine     Machine
	Data        string // data folder; it may not exist yet
	Listen      string // address the server would listen on; empty: not checked
	Config      string // configuration file; empty: none
	ConfigError error  // why it could not be read
	Agents      []Found

	// OpenDB opens the database of the data folder and closes it again; nil:
	// not checked.
	OpenDB func(ctx context.Context, data string) error
	// ServerURL is the address of a running server of this data folder, or "".
	ServerURL string
}

const (
	needSpace = 256 << 20 // bytes that a working day should find
	needNode  = 20        // the oldest Node.js that the agents run on
)

// Doctor examines the setup; checks that take long run at the same time. The
// agents come last, in the order given.
func Doctor(ctx context.Context, s Setup) Report {
	checks := []func() Check{
		s.config,
		s.data,
		s.token,
		func() Check { return s.database(ctx) },
		s.port,
		s.temp,
		func() Check { return s.space("data space", s.Data) },
		func() Check { return s.space("temporary space", os.TempDir()) },
		func() Check { return s.node(ctx) },
		func() Check { return s.git(ctx) },
	}
	results := make([]Check, len(checks))
	var agents []Found
	var running sync.WaitGroup
	for i, check := range checks {
		running.Go(func() { results[i] = check() })
	}
	running.Go(func() { agents = Versions(ctx, s.Agents) })
	running.Wait()
	for _, f := range agents {
		results = append(results, agentCheck(f))
	}
	ok := !slices.ContainsFunc(results, func(c Check) bool { return !c.OK && !c.Optional })
	return Report{OK: ok, Checks: results}
}

func (s Setup) config() Check {
	c := Check{Name: "configuration", OK: true, Detail: "none is needed"}
	if s.ConfigError != nil {
		return Check{Name: c.Name, Detail: s.ConfigError.Error(), Fix: "correct " + s.Config}
	}
	if s.Config != "" {
		if _, err := os.Stat(s.Config); err == nil {
			c.Detail = s.Config + " is read"
		}
	}
	return c
}

func (s Setup) data() Check {
	c := Check{Name: "data folder"}
	dir := existing(s.Data)
	if err := writable(dir); err != nil {
		c.Detail = s.Data + " cannot be written: " + reason(err)
		c.Fix = "choose another folder with --data, or make this one yours"
		return c
	}
	c.OK, c.Detail = true, s.Data+" can be written"
	if dir != s.Data {
		c.Detail = s.Data + " will be made at the first start"
	}
	return c
}

func (s Setup) token() Check {
	c := Check{Name: "token", OK: true, Detail: "will be made at the first start of the server"}
	path := filepath.Join(s.Data, "token")
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.OK, c.Detail = false, "cannot be read: "+reason(err)
		c.Fix = "remove " + path + "; the next start of the server makes a new one"
	case s.Machine.OS != "windows" && info.Mode().Perm()&0o077 != 0:
		c.OK, c.Detail = false, fmt.Sprintf("others may read it (mode %#o)", info.Mode().Perm())
		c.Fix = "chmod 600 " + path
	default:
		c.Detail = "only you may read it"
	}
	return c
}

func (s Setup) database(ctx context.Context) Check {
	c := Check{Name: "database", OK: true}
	switch {
	case s.OpenDB == nil:
		c.Detail = "not checked"
	case s.ServerURL != "":
		c.Detail = "the running server has it"
	case existing(s.Data) != s.Data:
		c.Detail = "will be made at the first start"
	default:
		c.Detail = "opens"
		if err := s.OpenDB(ctx, s.Data); err != nil {
			c.OK, c.Detail = false, "does not open: "+err.Error()
			c.Fix = "move " + s.Data + " away to begin anew, or restore it from a backup"
		}
	}
	return c
}

func (s Setup) port() Check {
	c := Check{Name: "server", OK: true}
	switch {
	case s.ServerURL != "":
		c.Detail = "a server answers at " + s.ServerURL
	case s.Listen == "":
		c.Detail = "not checked"
	default:
		l, err := net.Listen("tcp", s.Listen)
		if err != nil {
			c.OK, c.Detail = false, s.Listen+" cannot be listened on: "+err.Error()
			c.Fix = "agentstream serve --listen 127.0.0.1:0"
			break
		}
		l.Close()
		c.Detail = "none is running; " + s.Listen + " is free"
	}
	return c
}

func (s Setup) temp() Check {
	c := Check{Name: "temporary folder", OK: true, Detail: os.TempDir() + " can be written"}
	if err := writable(os.TempDir()); err != nil {
		c.OK, c.Detail, c.Fix = false, os.TempDir()+" cannot be written: "+reason(err), "set TMPDIR to a folder of yours"
	}
	return c
}

func (s Setup) space(name, dir string) Check {
	c := Check{Name: name, OK: true, Optional: true}
	free, err := freeBytes(existing(dir))
	if err != nil {
		c.Detail = "not known: " + err.Error()
		return c
	}
	c.Detail = fmt.Sprintf("%d MiB free", free>>20)
	if free < needSpace {
		c.OK, c.Fix = false, fmt.Sprintf("make room: at least %d MiB in %s", needSpace>>20, dir)
	}
	return c
}

func (s Setup) node(ctx context.Context) Check {
	c := Check{Name: "node", OK: true, Optional: true, Detail: "no agent found here needs it"}
	path, err := s.Machine.LookPath("node")
	if err != nil {
		if i := slices.IndexFunc(s.Agents, needsNode); i >= 0 {
			c.OK, c.Detail, c.Fix = false, s.Agents[i].Name+" needs Node.js, and node is not on PATH", "install Node.js 22 or later"
		}
		return c
	}
	v := runVersion(ctx, path, "--version")
	major, _, _ := strings.Cut(v, ".")
	c.Detail = "version " + v
	if n, err := strconv.Atoi(major); err != nil {
		c.OK, c.Detail, c.Fix = false, path+" does not tell its version", "install Node.js 22 or later"
	} else if n < needNode {
		c.OK, c.Fix = false, "install Node.js 22 or later"
	}
	return c
}

// needsNode looks at the first line of the agent's executable.
func needsNode(f Found) bool {
	if f.Path == "" {
		return false
	}
	file, err := os.Open(f.Path)
	if err != nil {
		return false
	}
	defer file.Close()
	line := make([]byte, 64)
	n, err := file.Read(line)
	if err != nil {
		return false
	}
	first, _, _ := strings.Cut(string(line[:n]), "\n")
	return strings.HasPrefix(first, "#!") && strings.Contains(first, "node")
}

func (s Setup) git(ctx context.Context) Check {
	c := Check{Name: "git", Optional: true, Detail: "not on PATH; most agents use it", Fix: "install git"}
	if path, err := s.Machine.LookPath("git"); err == nil {
		c.OK, c.Fix = true, ""
		c.Detail = "version " + runVersion(ctx, path, "--version")
	}
	return c
}

func agentCheck(f Found) Check {
	c := Check{Name: "agent " + f.Name, OK: f.State == Ready, Optional: true, Detail: f.Why, Fix: f.Login}
	if f.State == Missing {
		c.Fix = f.Install
	}
	if f.Version != "" {
		c.Detail = "version " + f.Version + "; " + c.Detail
	}
	return c
}

// existing is the folder itself or the nearest one above it that is there.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, ".agentstream-doctor-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// reason drops the random file name from an error.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
