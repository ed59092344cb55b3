package engine

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// folder decides the working folder of a new thread: what the client asks for,
// if it lies inside the roots once links are followed, else the agent's.
func (e *Engine) folder(a Agent, asked string, props json.RawMessage) (string, error) {
	if asked == "" {
		var p struct {
			Agentstream struct {
				Cwd string `json:"cwd"`
			} `json:"agentstream"`
		}
		// Props are the application's own and may be anything.
		_ = json.Unmarshal(props, &p)
		asked = p.Agentstream.Cwd
	}
	if asked == "" {
		if a.Cwd != "" {
			return a.Cwd, nil
		}
		return e.o.Cwd, nil
	}
	forbidden := refuse("cwd_forbidden", "the working folder %q is not inside the workspace roots", asked)
	if !filepath.IsAbs(asked) {
		return "", forbidden
	}
	real, err := filepath.EvalSymlinks(asked)
	if err != nil {
		return "", forbidden
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() || !inside(real, e.o.Roots) {
		return "", forbidden
	}
	return real, nil
}

// inside reports whether a path lies in one of the roots, all links followed. A
// file that does not exist yet counts by the folder it would be in.
func inside(path string, roots []string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		if err != nil {
			return false
		}
		real = filepath.Join(dir, filepath.Base(path))
	}
	for _, root := range roots {
		root, err := filepath.EvalSymlinks(root)
		if err != nil {
			continue
		}
		if rel, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}
