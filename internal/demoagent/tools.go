package demoagent

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

const maxRead = 64 << 10

func (t *turn) cwd() string {
	t.s.mu.Lock()
	defer t.s.mu.Unlock()
	return t.s.saved.Cwd
}

// inside opens the session's folder and makes the name relative to it. The
// root lets nothing out, symbolic links and ".." included.
func (t *turn) inside(name string) (*os.Root, string, error) {
	cwd := t.cwd()
	if filepath.IsAbs(name) {
		rel, err := filepath.Rel(cwd, name)
		if err != nil {
			return nil, "", err
		}
		name = rel
	}
	if !filepath.IsLocal(name) {
		return nil, "", errors.New("it is outside of the folder")
	}
	root, err := os.OpenRoot(cwd)
	return root, filepath.Clean(name), err
}

func list(t *turn, _ argument) error {
	c := t.call("read", "list_files", "List files", obj{"path": t.cwd()}, obj{"locations": []obj{{"path": t.cwd()}}})
	c.progress()
	if err := t.beat(5); err != nil {
		return err
	}
	entries, err := os.ReadDir(t.cwd())
	if err != nil {
		c.fail("The folder cannot be read: " + reasonOf(err))
		return t.say("I could not list the files.")
	}
	var names []string
	for _, e := range entries[:min(len(entries), 200)] {
		name := strings.ToValidUTF8(e.Name(), "\ufffd")
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	c.done(strings.Join(names, "\n"))
	if len(entries) == 1 {
		return t.say("There is one file or folder here.")
	}
	return t.say(fmt.Sprintf("There are %d files and folders here.", len(entries)))
}

func read(t *turn, a argument) error {
	path := a.text
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.cwd(), path)
	}
	c := t.call("read", "read_file", "Read "+a.text, obj{"path": path}, obj{"locations": []obj{{"path": path, "line": 1}}})
	c.progress()
	if err := t.beat(5); err != nil {
		return err
	}
	text, err := t.readFile(a.text)
	if err != nil {
		c.fail("Cannot read " + a.text + ": " + reasonOf(err))
		return t.say("I could not read `" + a.text + "`.")
	}
	c.done(text)
	lines := len(strings.SplitAfter(strings.TrimSuffix(text, "\n"), "\n"))
	if lines == 1 {
		return t.say("`" + a.text + "` has one line.")
	}
	return t.say(fmt.Sprintf("`%s` has %d lines.", a.text, lines))
}

func (t *turn) readFile(name string) (string, error) {
	root, name, err := t.inside(name)
	if err != nil {
		return "", err
	}
	defer root.Close()
	info, err := root.Stat(name)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() { // a pipe or a device could block for ever
		return "", errors.New("it is no regular file")
	}
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRead+utf8.UTFMax))
	if err != nil {
		return "", err
	}
	if len(data) > maxRead {
		data = append(data[:maxRead], "\n[cut]"...)
	}
	return strings.ToValidUTF8(string(data), "\ufffd"), nil
}

func write(t *turn, a argument) error {
	content := a.rest
	if content == "" {
		content = "Hello from the demo agent.\n"
	}
	path := a.text
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.cwd(), path)
	}
	change := obj{"type": "diff", "path": path, "oldText": nil, "newText": content}
	if old, err := t.readFile(a.text); err == nil {
		change["oldText"] = old
	}
	c := t.call("edit", "write_file", "Write "+a.text, obj{"path": path, "content": content},
		obj{"locations": []obj{{"path": path}}, "content": []obj{change}})
	t.s.mu.Lock()
	mode := t.s.saved.Mode
	t.s.mu.Unlock()
	allowed := mode == "auto"
	if mode == "ask" {
		var err error
		if allowed, err = c.ask()(t.ctx); err != nil {
			return err
		}
	}
	if !allowed {
		c.fail("Permission denied.")
		return t.say("I may not, so `" + a.text + "` is as it was.")
	}
	c.progress()
	if err := t.beat(5); err != nil {
		return err
	}
	if err := t.writeFile(a.text, content); err != nil {
		c.fail("Cannot write " + a.text + ": " + reasonOf(err))
		return t.say("I could not write `" + a.text + "`.")
	}
	c.done(fmt.Sprintf("Wrote %d bytes.", len(content)), change)
	return t.say("I have written `" + a.text + "`.")
}

func (t *turn) writeFile(name, content string) error {
	root, name, err := t.inside(name)
	if err != nil {
		return err
	}
	defer root.Close()
	if info, err := root.Stat(name); err == nil && !info.Mode().IsRegular() {
		return errors.New("it is no regular file")
	}
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	return root.WriteFile(name, []byte(content), 0o644)
}

// reasonOf drops what an error says of the operation and the path.
func reasonOf(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}

func fail(t *turn, _ argument) error {
	c := t.call("execute", "run_command", "make test", obj{"command": "make test"}, nil)
	c.progress()
	if err := t.beat(10); err != nil {
		return err
	}
	c.fail("make: *** No rule to make target 'test'.  Stop.")
	return t.say("The command failed: there is no target called `test`.")
}

func wait(t *turn, a argument) error {
	d := t.seconds(a)
	c := t.call("execute", "wait", fmt.Sprintf("Wait %g s", d.Seconds()), obj{"seconds": d.Seconds()}, nil)
	c.progress()
	if err := t.nap(d); err != nil {
		return err
	}
	c.done("The time is over.")
	return t.say("I have waited.")
}

func die(t *turn, _ argument) error {
	c := t.call("execute", "run_command", "kill -9 $PPID", obj{"command": "kill -9 $PPID"}, nil)
	c.progress()
	if err := t.beat(5); err != nil {
		return err
	}
	t.s.a.die(3)
	return errDead
}

func big(t *turn, a argument) error {
	n := 1.0
	if a.given {
		n = min(a.number, 64)
	}
	c := t.call("execute", "run_command", "cat big.txt", obj{"command": "cat big.txt"}, nil)
	c.progress()
	if err := t.beat(1); err != nil {
		return err
	}
	line := "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n"
	c.done(strings.Repeat(line, int(n*(1<<20))/len(line)))
	c.state["content"] = []obj{} // too much to be stored
	return t.say(fmt.Sprintf("That were %g MiB.", n))
}
