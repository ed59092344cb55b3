package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"
)

// duration is a time such as 10m or 120s.
type duration time.Duration

// UnmarshalText reads the form that people write.
func (d *duration) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	if err == nil && v < 0 {
		err = errors.New("is negative")
	}
	*d = duration(v)
	return err
}

// config is the configuration file.
type config struct {
	Agents      map[string]agentConfig `yaml:"agents"`
	Permissions struct {
		Default string `yaml:"default"`
	} `yaml:"permissions"`
	WorkspaceRoots  []string        `yaml:"workspace_roots"`
	Limits          limitsConfig    `yaml:"limits"`
	Retention       retentionConfig `yaml:"retention"`
	ShutdownTimeout duration        `yaml:"shutdown_timeout"`
	Listen          string          `yaml:"listen"`
	OnInterrupt     bool            `yaml:"on_interrupt"`
	RequestTTL      duration        `yaml:"request_ttl"`
}

// agentConfig is one agent of the file.
type agentConfig struct {
	Command            []string          `yaml:"command"`
	Env                map[string]string `yaml:"env"`
	InheritEnv         []string          `yaml:"inherit_env"`
	Cwd                string            `yaml:"cwd"`
	Auth               string            `yaml:"auth"`
	StartTimeout       duration          `yaml:"start_timeout"`
	IdleTimeout        duration          `yaml:"idle_timeout"`
	TurnSilenceTimeout duration          `yaml:"turn_silence_timeout"`
	MCPServers         []map[string]any  `yaml:"mcp_servers"`
	Mode               string            `yaml:"mode"`
	Model              string            `yaml:"model"`
}

var agentName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`)

// loadConfig reads the file. One that was not asked for by name may be absent.
func loadConfig(path string, named bool) (config, error) {
	var c config
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && !named {
		return c, nil
	}
	if err != nil {
		return c, fmt.Errorf("the configuration cannot be read: %w; give another with --config", err)
	}
	return parseConfig(path, data)
}

func parseConfig(path string, data []byte) (c config, err error) {
	if strings.TrimSpace(string(data)) == "" {
		return c, nil
	}
	if err := yaml.Load(data, &c, yaml.WithKnownFields()); err != nil {
		return c, fmt.Errorf("%s is not a valid configuration: %s; docs/configuration.md lists what may stand there", path, flat(err))
	}
	if err := c.check(); err != nil {
		return c, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// flat is yaml's error on one line, without the names of this program's types.
func flat(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	return goType.ReplaceAllString(strings.TrimPrefix(text, "yaml: construct errors: "), "")
}

var goType = regexp.MustCompile(` in type main\.\w+`)

func (c *config) check() error {
	for name, a := range c.Agents {
		if !agentName.MatchString(name) {
			return fmt.Errorf("agents.%s: a name is lower-case letters, digits, - and _, at most 32", name)
		}
		if len(a.Command) == 0 || a.Command[0] == "" {
			return fmt.Errorf("agents.%s.command is missing: write the program and its arguments as a list", name)
		}
	}
	if !slices.Contains([]string{"", "ask", "reads", "all", "none"}, c.Permissions.Default) {
		return fmt.Errorf("permissions.default is %q: use ask, reads, all or none", c.Permissions.Default)
	}
	if c.Listen != "" {
		if err := checkListen(c.Listen); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
	}
	return c.Limits.check()
}

// checkListen refuses what no listener can be made of, before anything is opened.
func checkListen(at string) error {
	_, port, err := net.SplitHostPort(at)
	if err != nil {
		return fmt.Errorf("%q: write HOST:PORT, for example %s", at, defaultListen)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return fmt.Errorf("%q: the port is a number from 0 (any that is free) to 65535", at)
	}
	return nil
}

// home replaces a leading ~ by the user's folder, and makes the path absolute.
func home(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		dir, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(dir, path[1:])
	}
	return filepath.Abs(path)
}
