package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// folder is the data folder: the database, the token, the lock, and server.json
// while a server runs.
type folder string

func (f folder) path(name string) string { return filepath.Join(string(f), name) }
func (f folder) database() string        { return f.path("agentstream.db") }

// defaultData is the platform's place for data of programs.
func defaultData() string {
	if dir := os.Getenv("AGENTSTREAM_DATA"); dir != "" {
		return dir
	}
	if dir := os.Getenv("XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, "agentstream")
	}
	dir, err := os.UserHomeDir()
	if err != nil {
		return "agentstream-data"
	}
	switch runtime.GOOS {
	case "darwin":
		return filepath.Join(dir, "Library", "Application Support", "agentstream")
	case "windows":
		if local := os.Getenv("LocalAppData"); local != "" {
			return filepath.Join(local, "agentstream")
		}
	}
	return filepath.Join(dir, ".local", "share", "agentstream")
}

func defaultConfig() string {
	if path := os.Getenv("AGENTSTREAM_CONFIG"); path != "" {
		return path
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return filepath.Join("agentstream", "config.yaml")
	}
	return filepath.Join(dir, "agentstream", "config.yaml")
}

func openFolder(dir string) (folder, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		err = os.MkdirAll(abs, 0o700)
	}
	if err != nil {
		return "", fmt.Errorf("the data folder cannot be made: %w; choose another with --data", err)
	}
	return folder(abs), nil
}

// errLocked says that somebody else holds the folder.
var errLocked = errors.New("another agentstream uses this data folder")

// lock takes the folder. It is given back by the file's close, also when the
// process dies.
func (f folder) lock() (*os.File, error) {
	file, err := os.OpenFile(f.path("lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be locked: %w; see that it may be written, or choose another with --data", err)
	}
	if err := lockFile(file); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}

// token gives the folder's token, made at the first start.
func (f folder) token() (string, error) {
	data, err := os.ReadFile(f.path("token"))
	if err == nil {
		if t := strings.TrimSpace(string(data)); t != "" {
			return t, nil
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("the token cannot be read: %w", err)
	}
	t := rand.Text()
	return t, f.write("token", []byte(t+"\n"))
}

// serverInfo is server.json.
type serverInfo struct {
	URL     string `json:"url"`
	PID     int    `json:"pid"`
	Version string `json:"version"`
}

func (f folder) announce(info serverInfo) error {
	data, err := json.Marshal(info)
	if err != nil {
		return err
	}
	return f.write("server.json", append(data, '\n'))
}

func (f folder) announced() (serverInfo, bool) {
	var info serverInfo
	data, err := os.ReadFile(f.path("server.json"))
	return info, err == nil && json.Unmarshal(data, &info) == nil && info.URL != ""
}

// write replaces a file whole, readable by its owner alone.
func (f folder) write(name string, data []byte) error {
	tmp, err := os.CreateTemp(string(f), "."+name+"-*")
	if err != nil {
		return fmt.Errorf("the data folder cannot be written: %w; see to its rights and its space, or choose another with --data", err)
	}
	_, err = tmp.Write(data)
	if err = errors.Join(err, tmp.Chmod(0o600), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), f.path(name))
	}
	if err != nil {
		_ = os.Remove(tmp.Name())
		return fmt.Errorf("the data folder cannot be written: %w; see to its rights and its space, or choose another with --data", err)
	}
	return nil
}
