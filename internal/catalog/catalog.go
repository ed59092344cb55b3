// Package catalog knows the agents that can be run: how they are found,
// started in ACP mode, installed and logged in. It judges from the file system
// and the environment alone; only Versions and Doctor run anything.
package catalog

import "io/fs"

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

// Find judges every known agent in the order of the catalog, missing ones
// included. It runs nothing.
func Find(m Machine) []Found { return nil }
