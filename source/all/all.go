// Package all is the one list of sources: what a configuration calls an
// agent's type, and how such an agent is made.
package all

import (
	"fmt"
	"strings"

	"github.com/agentstream-go/agentstream/source"
	"github.com/agentstream-go/agentstream/source/acp"
)

// Command is an agent that is run as a program; see acp.Command.
type Command = acp.Command

// ACP gives an agent that speaks the Agent Client Protocol on its standard
// input and output. Its sessions may be opened from any goroutine.
func ACP(c Command) source.Source { return &c }

// list is in the order in which Types names them; the first is the default.
var list = []struct {
	name string
	make func(Command) source.Source
}{
	{"acp", ACP},
}

// New gives the agent of a configured type; an empty type is the first of
// Types.
func New(name string, c Command) (source.Source, error) {
	for i, one := range list {
		if one.name == name || name == "" && i == 0 {
			return one.make(c), nil
		}
	}
	return nil, fmt.Errorf("no agent type %q; there is %s", name, strings.Join(Types(), ", "))
}

// Types names the types of agents that New makes.
func Types() []string {
	var names []string
	for _, one := range list {
		names = append(names, one.name)
	}
	return names
}
