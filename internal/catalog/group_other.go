//go:build !unix

package catalog

import (
	"errors"
	"os/exec"
)

// killGroup does nothing here: only the command itself is ended.
func killGroup(*exec.Cmd) {}

func freeBytes(string) (uint64, error) { return 0, errors.ErrUnsupported }
