package engine

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// plant makes files, folders (a slash at the end) and links ("name -> target").
func plant(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		path := filepath.Join(dir, name)
		var err error
		if name[len(name)-1] == '/' {
			err = os.MkdirAll(path, 0o700)
		} else if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			err = os.WriteFile(path, nil, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func link(t *testing.T, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		if runtime.GOOS == "windows" {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

// found is a walk that time does not bound.
func found(t *testing.T, dir, prefix string) (names []string, more bool) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w := newFileWalk(root, prefix)
	w.run(context.Background())
	return w.names, w.more
}

func TestFileNames(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	dir = filepath.Join(dir, "work")
	plant(t, outside, "secret", "deep/secret")
	plant(t, dir, "Makefile", "main.go", "src/main.go", "src/make/x.go", "empty/", ".git/config", ".github/main.yml",
		".hidden/main", "node_modules/main/x", "dist/main.js", "logs/main.log", "src/ ünï")
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("# x\n/dist/\n*.log\n!keep\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	link(t, outside, filepath.Join(dir, "out"))
	link(t, filepath.Join(outside, "secret"), filepath.Join(dir, "src", "main-secret"))
	link(t, "../../outside/deep", filepath.Join(dir, "src", "deep"))
	link(t, "/etc", filepath.Join(dir, "etc"))
	link(t, "nowhere", filepath.Join(dir, "main-dangling"))
	link(t, "src", filepath.Join(dir, "main-link"))
	link(t, "..", filepath.Join(dir, "src", "main-up"))
	for prefix, want := range map[string][]string{
		"ma":            {"Makefile", "main-link/", "main.go", "logs/main.log", "src/main-up/", "src/main.go", "src/make/"},
		"src/":          {"src/ ünï", "src/main-up/", "src/main.go", "src/make/", "src/make/x.go"},
		"./src/MAKE":    {"src/make/"},
		"src/make/":     {"src/make/x.go"},
		"main-link/ma":  {"main-link/main-up/", "main-link/main.go", "main-link/make/"},
		".g":            {".git/", ".github/", ".gitignore"},
		".git/":         {".git/config"},
		"node":          {"node_modules/"},
		"node_modules/": {"node_modules/main/", "node_modules/main/x"},
		"dist":          {"dist/"},
		"none":          {},
		"empty/":        {},
		"main.go/":      {},

		"..": {}, "../": {}, "../outside/": {}, "src/../../outside/": {}, "src/../": {}, "src/..": {}, "/": {}, "/etc/": {}, "//etc/": {},
		"out/": {}, "out/secret": {}, "etc/": {}, "etc/pass": {}, "src/deep/": {}, "src/main-up/../outside/": {}, outside + "/": {},
		"..\\outside\\": {}, "src\\": {}, "a\x00/": {}, "C:\\": {}, string(make([]byte, 5000)): {},
	} {
		if runtime.GOOS == "windows" && prefix == "src/" {
			continue
		}
		got, more := found(t, dir, prefix)
		if diff := cmp.Diff(want, got); diff != "" || more {
			t.Errorf("%.40q, more %v (-want +got)\n%s", prefix, more, diff)
		}
	}
	all, _ := found(t, dir, "")
	want := []string{"Makefile", "empty/", "logs/", "main-link/", "main.go", "src/", "logs/main.log", "src/ ünï", "src/main-up/", "src/main.go", "src/make/", "src/make/x.go"}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("everything (-want +got)\n%s", diff)
	}
}

// A listing is bounded, and says so.
func TestFileNamesAreBounded(t *testing.T) {
	dir := t.TempDir()
	for i := range filesGiven + 1 {
		plant(t, dir, fmt.Sprintf("many/a%03d", i))
	}
	plant(t, dir, "few/b")
	if got, more := found(t, dir, "many/a"); len(got) != filesGiven || !more || got[0] != "many/a000" {
		t.Errorf("%d names, more %v", len(got), more)
	}
	if got, more := found(t, dir, "many/a00"); len(got) != 10 || more {
		t.Errorf("%d names, more %v", len(got), more)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	w := newFileWalk(root, "")
	w.left = 1
	if w.run(context.Background()); len(w.names) != 1 || !w.more {
		t.Errorf("with one entry to look at: %q, more %v", w.names, w.more)
	}
	over, cancel := context.WithCancel(context.Background())
	cancel()
	w = newFileWalk(root, "")
	if w.run(over); len(w.names) != 0 || !w.more {
		t.Errorf("without time: %q, more %v", w.names, w.more)
	}
}

func TestFilesOfAThread(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		plant(t, dir, "notes.md")
		w := newWorld(t, newMemlog(), nil, func(o *Options) { o.Cwd = dir })
		defer w.close()
		w.stream(w.start("t", "r1", "hi"))
		if got, more, err := w.Files(bg, "t", "no"); err != nil || more || len(got) != 1 || got[0] != "notes.md" {
			t.Errorf("%q, %v, %v", got, more, err)
		}
		if _, _, err := w.Files(bg, "unknown", ""); code(err) != "thread_unknown" {
			t.Errorf("%v", err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if got, _, err := w.Files(bg, "t", ""); err != nil || got == nil || len(got) != 0 {
			t.Errorf("a folder that is gone: %q, %v", got, err)
		}
	})
}

func FuzzFiles(f *testing.F) {
	for _, prefix := range []string{"", "a", "a/", "../", "/etc/", "out/", "./a/./b", "a//b", "a/../out/"} {
		f.Add(prefix)
	}
	base, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	dir := filepath.Join(base, "work")
	for _, path := range []string{filepath.Join(base, "secret"), filepath.Join(dir, "a", "b", "c"), filepath.Join(dir, ".d")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			f.Fatal(err)
		}
	}
	_ = os.Symlink(base, filepath.Join(dir, "out"))
	_ = os.Symlink("..", filepath.Join(dir, "a", "up"))
	f.Fuzz(func(t *testing.T, prefix string) {
		names, _ := found(t, dir, prefix)
		for _, name := range names {
			real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
			rel, relErr := filepath.Rel(dir, real)
			if err != nil || relErr != nil || !filepath.IsLocal(name) || !filepath.IsLocal(rel) {
				t.Errorf("%q gives %q, which is %q: %v", prefix, name, real, err)
			}
		}
	})
}
