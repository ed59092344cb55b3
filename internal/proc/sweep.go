package proc

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// Sweep kills every process of this user whose mark is mark or begins with
// mark and a dot, and looks again until nothing is found twice in a row: what
// is killed may just have started another. An empty mark finds nothing. It
// says so if something cannot be killed.
//
// A process that has wiped its own environment is not found.
func Sweep(mark string) error {
	if mark == "" {
		return nil
	}
	deadline := time.Now().Add(10 * time.Second)
	clean := 0
	for clean < 2 {
		left := killMarked(mark)
		if len(left) == 0 {
			clean++
			continue
		}
		clean = 0
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v do not end", left)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// Find gives the ids of the processes that Sweep would kill.
func Find(mark string) (pids []int) {
	self := os.Getpid()
	for _, pid := range processes() {
		if pid != self && mark != "" && marked(pid, mark) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// killMarked kills what bears the mark and gives the ids of what it found.
func killMarked(mark string) []int {
	found := Find(mark)
	for _, pid := range found {
		// The handle is taken first and the mark looked at again, so that a
		// process that has got the same id meanwhile is left alone.
		if p, err := os.FindProcess(pid); err == nil {
			if marked(pid, mark) {
				p.Kill()
			}
			p.Release()
		}
	}
	return found
}

// marked reports whether the process's environment bears the mark.
func marked(pid int, mark string) bool {
	value, ok := variable(environment(pid), MarkVariable)
	return ok && (value == mark || strings.HasPrefix(value, mark+"."))
}

// variable finds a name in a block of entries that end in zero bytes.
func variable(block []byte, name string) (string, bool) {
	for entry := range strings.SplitSeq(string(block), "\x00") {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
