package catalog_test

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agentstream-go/agentstream/internal/catalog"
)

// A machine with gemini on PATH and nothing else.
func ExampleFind() {
	m := catalog.Machine{
		Getenv: func(string) string { return "" },
		LookPath: func(name string) (string, error) {
			if name == "gemini" {
				return "/usr/bin/gemini", nil
			}
			return "", errors.New("not found")
		},
		Stat: func(string) (fs.FileInfo, error) { return nil, fs.ErrNotExist },
		Home: "/home/user",
	}
	for _, f := range catalog.Find(m)[:3] {
		fmt.Println(f.Name, f.State, f.Login+f.Install)
	}
	// Output:
	// claude missing npm install -g @agentclientprotocol/claude-agent-acp
	// codex missing npm install -g @agentclientprotocol/codex-acp
	// gemini auth_required gemini
}
