//go:build !linux && !darwin

package proc

import (
	"os"
	"os/exec"
)

func prepare(*exec.Cmd) {}

func awaitExit(int) {}

func reap(cmd *exec.Cmd) { cmd.Wait() }

// There is no gentle signal that all programs know; the end of stdin was it.
func terminate(int, *os.Process) {}

func kill(_ int, p *os.Process) { p.Kill() }

func processes() []int { return nil }

func environment(int) []byte { return nil }
