package proc

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent has the child asked to end when this program is killed.
// SIGTERM and not SIGKILL, so that it can end its own children.
func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGTERM }

// awaitExit returns when the process has ended, and leaves it unreaped.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// reap kills what is left of the group while its leader, dead, still holds the
// group's id.
func reap(cmd *exec.Cmd) {
	killGroup(cmd.Process.Pid)
	cmd.Wait()
}
