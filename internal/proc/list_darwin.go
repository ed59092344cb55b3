package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// macOS has no signal for a parent's death; the child sees the end of its
// stdin, and Sweep finds what ignores that.
func dieWithParent(*syscall.SysProcAttr) {}

// awaitExit returns when the process has ended, and leaves it unreaped.
func awaitExit(pid int) {
	queue, err := unix.Kqueue()
	if err != nil {
		return
	}
	defer unix.Close(queue)
	exit := unix.Kevent_t{Ident: uint64(pid), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
	events := make([]unix.Kevent_t, 1)
	for {
		// Registering fails when the process has already ended.
		if _, err = unix.Kevent(queue, []unix.Kevent_t{exit}, events, nil); !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// reap kills what is left of the group while its leader, dead, still holds the
// group's id. Should the leader's end not have been seen, the group is left to
// Sweep.
func reap(cmd *exec.Cmd) {
	if zombie(cmd.Process.Pid) {
		killGroup(cmd.Process.Pid)
	}
	cmd.Wait()
}

// zombie reports whether the process has ended but is not yet reaped.
func zombie(pid int) bool {
	const ended = 5 // SZOMB of sys/proc.h
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	return err == nil && info.Proc.P_stat == ended
}

func processes() (pids []int) {
	all, err := unix.SysctlKinfoProcSlice("kern.proc.uid", os.Getuid())
	if err != nil {
		return nil
	}
	for _, p := range all {
		pids = append(pids, int(p.Proc.P_pid))
	}
	return pids
}

// environment reads the block behind the arguments: a count, the program's
// path, zero bytes, the arguments, then the variables.
func environment(pid int) []byte {
	block, err := unix.SysctlRaw("kern.procargs2", pid)
	if err != nil || len(block) < 4 {
		return nil
	}
	arguments := int(binary.NativeEndian.Uint32(block))
	block = block[4:]
	skip := func() {
		if end := bytes.IndexByte(block, 0); end >= 0 {
			block = block[end+1:]
		} else {
			block = nil
		}
	}
	skip()
	block = bytes.TrimLeft(block, "\x00")
	for range arguments {
		if len(block) == 0 {
			break
		}
		skip()
	}
	return block
}
