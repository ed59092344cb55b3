//go:build linux || darwin

package proc

import (
	"os"
	"os/exec"
	"syscall"
)

func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

func terminate(pid int, _ *os.Process) { syscall.Kill(-pid, syscall.SIGTERM) }

func kill(pid int, _ *os.Process) { killGroup(pid) }

func killGroup(pid int) { syscall.Kill(-pid, syscall.SIGKILL) }
