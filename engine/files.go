package engine

import (
	"bufio"
	"cmp"
	"context"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agentstream-go/agentstream/eventlog"
)

// Bounds of one listing: names given, entries looked at, and time.
const (
	filesGiven  = 100
	filesSeen   = 10_000
	filesPrefix = 4096
	filesTime   = time.Second
)

// Files gives names of files below the thread's working folder, for somebody who
// is typing one: relative, with slashes, folders with one at the end. First come
// those in the folder that prefix names which begin with its rest, then deeper
// ones whose own name does; case does not matter. What is hidden, or named by the
// folder's .gitignore, is left out unless prefix begins so. more says that there
// may be others. Nothing outside of the folder is looked at, whatever prefix or
// links say: then there are no names.
func (e *Engine) Files(ctx context.Context, thread, prefix string) (names []string, more bool, err error) {
	c := e.use(thread)
	defer c.release()
	var cwd string
	err = c.known(ctx, func(_ eventlog.View, rec *threadRecord, _ eventlog.Cursor) error {
		cwd = rec.Cwd
		return nil
	})
	if err != nil {
		return nil, false, storage(err)
	}
	root, err := os.OpenRoot(cwd)
	if err != nil { // it is gone
		return []string{}, false, nil
	}
	defer func() { _ = root.Close() }()
	bounded, cancel := context.WithTimeout(ctx, filesTime)
	defer cancel()
	w := newFileWalk(root, prefix)
	w.run(bounded)
	return w.names, w.more, ctx.Err()
}

// fileWalk looks for names breadth first.
type fileWalk struct {
	root    *os.Root
	first   string // the folder that the prefix names, "." for the root
	begins  string // what names begin with, in lower case
	ignored map[string]bool
	queue   []string
	left    int // entries that may be looked at
	names   []string
	more    bool
}

func newFileWalk(root *os.Root, prefix string) *fileWalk {
	w := &fileWalk{root: root, left: filesSeen, names: []string{}}
	dir, begins := path.Split(prefix)
	dir = cmp.Or(strings.TrimSuffix(dir, "/"), ".")
	if strings.HasPrefix(prefix, "/") || len(prefix) > filesPrefix || strings.ContainsAny(prefix, "\x00\\") ||
		begins == ".." || !filepath.IsLocal(filepath.FromSlash(dir)) || slices.Contains(strings.Split(dir, "/"), "..") {
		return w
	}
	w.first, w.begins = path.Clean(dir), strings.ToLower(begins)
	w.ignored = ignoredNames(root)
	w.queue = []string{w.first}
	return w
}

// ignoredNames are those of the root's .gitignore that need no pattern.
func ignoredNames(root *os.Root) map[string]bool {
	out := map[string]bool{"node_modules": true}
	info, err := root.Stat(".gitignore")
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return out
	}
	f, err := root.Open(".gitignore")
	if err != nil {
		return out
	}
	defer func() { _ = f.Close() }()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.Trim(strings.TrimSpace(lines.Text()), "/")
		if line != "" && !strings.ContainsAny(line, "#!*?[\\/") {
			out[line] = true
		}
	}
	return out
}

func (w *fileWalk) run(ctx context.Context) {
	for len(w.queue) > 0 {
		if ctx.Err() != nil || w.left <= 0 || len(w.names) > filesGiven {
			w.more = true
			break
		}
		dir := w.queue[0]
		w.queue = w.queue[1:]
		w.folder(dir)
	}
	if len(w.names) > filesGiven {
		w.names, w.more = w.names[:filesGiven], true
	}
}

// folder takes the names in a folder, and remembers the folders in it.
func (w *fileWalk) folder(dir string) {
	for _, e := range w.read(dir) {
		name := e.Name()
		full := path.Join(dir, name)
		fits := strings.HasPrefix(strings.ToLower(name), w.begins)
		asked := dir == w.first && w.begins != "" && fits
		hidden := strings.HasPrefix(name, ".") || w.ignored[name]
		if hidden && !asked || !utf8.ValidString(name) {
			continue
		}
		folder := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			to, err := w.root.Stat(full) // fails if it leads out
			if err != nil {
				continue
			}
			folder = to.IsDir()
		}
		if e.IsDir() && !hidden { // links are not followed: they may lead in circles
			w.queue = append(w.queue, full)
		}
		switch {
		case !fits:
		case folder:
			w.names = append(w.names, full+"/")
		default:
			w.names = append(w.names, full)
		}
	}
}

// read gives the entries of a folder by name, as many as may be looked at.
func (w *fileWalk) read(dir string) []os.DirEntry {
	sub, err := w.root.OpenRoot(dir) // of folders only, and none outside
	if err != nil {
		return nil
	}
	defer func() { _ = sub.Close() }()
	f, err := sub.Open(".")
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	entries, _ := f.ReadDir(w.left) // what could be read is enough
	w.left -= len(entries)
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}
