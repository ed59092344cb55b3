// Package catalog knows the agents that can be run: how they are found,
// started in ACP mode, installed and logged in. It judges from the file system
// and the environment alone; only Versions and Doctor run anything.
package catalog

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// State says whether an agent can be run.
type State string

// The states of an agent.
const (
	Ready        State = "ready"
	Missing      State = "missing"
	AuthRequired State = "auth_required"
)

// Found is one agent as this machine has it. The tagged fields are the JSON of
// the command line and of HTTP; the others are for whoever starts the agent.
type Found struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // how it is spoken to: acp
	State   State  `json:"state"`
	Version string `json:"version,omitempty"` // after Versions only
	Path    string `json:"path,omitempty"`    // of the executable
	Install string `json:"install,omitempty"` // a command line; only when missing
	Login   string `json:"login,omitempty"`   // a command line; only when auth_required
	Why     string `json:"why,omitempty"`     // what State was judged from; never a secret

	Argv       []string          `json:"-"` // ACP mode; nil when missing
	Env        map[string]string `json:"-"` // to be added
	InheritEnv []string          `json:"-"` // names to be passed on
	Auth       string            `json:"-"` // ACP auth method to call, if any
	LoginHint  string            `json:"-"` // the login command, whatever the state

	version []string // arguments that ask for the version; nil: never run for it
}

// Machine is what the catalog looks at: the environment of the process, or
// one made up by a test. All functions are safe for concurrent calls.
type Machine struct {
	Getenv   func(name string) string
	LookPath func(name string) (string, error) // as exec.LookPath
	Stat     func(path string) (fs.FileInfo, error)
	ReadFile func(path string) ([]byte, error)
	Home     string
	OS       string // as runtime.GOOS
}

// Here is the machine that the process runs on.
func Here() Machine {
	home, err := os.UserHomeDir()
	if err != nil {
		home = "" // no login files are found then
	}
	return Machine{Getenv: os.Getenv, LookPath: exec.LookPath, Stat: os.Stat, ReadFile: os.ReadFile, Home: home, OS: runtime.GOOS}
}

// Find judges every known agent in the order of the catalog, missing ones
// included. It runs nothing.
func Find(m Machine) []Found {
	list := make([]Found, 0, len(known))
	for _, a := range known {
		list = append(list, a.find(m))
	}
	return list
}

func (a agent) find(m Machine) Found {
	f := Found{Name: a.name, Type: "acp", LoginHint: a.login}
	command := ""
	for _, name := range a.commands {
		if path, err := m.LookPath(name); err == nil {
			command, f.Path = name, path
			break
		}
	}
	if command == "" {
		f.State, f.Install, f.Why = Missing, a.install, a.commands[0]+" is not on PATH"
		return f
	}
	for _, need := range a.needs {
		if _, err := m.LookPath(need.command); err != nil {
			f.State, f.Install, f.Why = Missing, need.install, need.command+", which "+command+" runs, is not on PATH"
			return f
		}
	}
	f.Argv = append([]string{f.Path}, a.args...)
	f.Env, f.version = a.env, a.version
	f.InheritEnv = append(append([]string(nil), a.keys...), a.inherit...)
	if a.auth != nil {
		f.Auth = a.auth(m)
	}
	f.State, f.Why = a.loggedIn(m)
	if f.State == AuthRequired {
		f.Login = a.login
	}
	return f
}

// loggedIn looks for a sign of a login. It never looks at what a key is.
func (a agent) loggedIn(m Machine) (State, string) {
	for _, key := range a.keys {
		if m.Getenv(key) != "" {
			return Ready, key + " is set"
		}
	}
	for _, p := range a.logins {
		if path, ok := p.found(m); ok {
			return Ready, "a login is in " + path
		}
	}
	if a.free != "" {
		return Ready, a.free
	}
	return AuthRequired, "no login was found, and none of " + strings.Join(a.keys, ", ") + " is set"
}

// place is a file that shows a login: it holds more than an empty object and,
// if needles are given, one of them.
type place struct {
	env     string // names the folder, if set
	folder  string // else this; "~" is the home folder
	file    string
	needles []string
}

func (p place) found(m Machine) (path string, ok bool) {
	folder := p.folder
	if p.env != "" && m.Getenv(p.env) != "" {
		folder = m.Getenv(p.env)
		if strings.HasPrefix(p.env, "XDG_") {
			folder = filepath.Join(folder, filepath.Base(p.folder))
		}
	}
	if rest, home := strings.CutPrefix(folder, "~"); home {
		if m.Home == "" {
			return "", false
		}
		folder = filepath.Join(m.Home, rest)
	}
	path = filepath.Join(folder, p.file)
	info, err := m.Stat(path)
	if err != nil || info.IsDir() || info.Size() <= 2 {
		return "", false
	}
	if len(p.needles) == 0 {
		return path, true
	}
	data, err := m.ReadFile(path)
	if err != nil {
		return "", false
	}
	for _, n := range p.needles {
		if strings.Contains(string(data), n) {
			return path, true
		}
	}
	return "", false
}
