package proc

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// MarkVariable is the environment variable that marks a process and all that
// it starts.
const MarkVariable = "AGENTSTREAM_PROCESS"

// What an agent gets of the environment without being asked; a name that ends
// in an underscore stands for all that begin so.
var allowed = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "LC_", "TZ", "TMPDIR", "XDG_",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
}

// Without these a program on Windows does not even start.
var allowedOnWindows = []string{
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP",
	"USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
}

// environ gives what a child gets of the environment all: the allowed names,
// those in inherit, and what set says, which wins.
func environ(all []string, set map[string]string, inherit []string) []string {
	var env []string
	for _, entry := range all {
		name, _, ok := strings.Cut(entry, "=")
		if !ok || name == "" || name == MarkVariable {
			continue
		}
		if _, ok := set[name]; !ok && (isAllowed(name) || slices.Contains(inherit, name)) {
			env = append(env, entry)
		}
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

func isAllowed(name string) bool {
	match := func(pattern string) bool {
		return name == pattern || strings.HasSuffix(pattern, "_") && strings.HasPrefix(name, pattern)
	}
	if slices.ContainsFunc(allowed, match) {
		return true
	}
	if runtime.GOOS != "windows" {
		return false
	}
	name = strings.ToUpper(name)
	return slices.ContainsFunc(allowed, match) || slices.ContainsFunc(allowedOnWindows, match)
}

// lookPath finds a program by the PATH of the environment it will run in.
func lookPath(name string, env []string) (string, error) {
	if strings.ContainsRune(name, filepath.Separator) || runtime.GOOS == "windows" {
		return lookHost(name)
	}
	for _, entry := range env {
		if path, ok := strings.CutPrefix(entry, "PATH="); ok {
			return lookIn(name, filepath.SplitList(path))
		}
	}
	return lookHost(name)
}

func lookIn(name string, dirs []string) (string, error) {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue // the working folder is no place to take programs from
		}
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", &notFound{name}
}
