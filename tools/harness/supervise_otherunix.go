//go:build unix && !linux

package harness

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// On other Unix systems there are no namespaces and nobody adopts orphans: a
// run ends with its process group, and what left the group is out of reach.

func executable() (string, error) { return os.Executable() }

func supervisorAttr(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

func adopt() error { return nil }

func loopback() error { return errors.New("this system has no network namespaces") }

// lingering reports whether the child's group still has members.
func lingering(child int) bool { return child != 0 && unix.Kill(-child, 0) == nil }

// killTree kills the child's group. Its members cannot be counted, so one
// found stands for all of them.
func killTree(child int, exited bool, killed map[int]bool) (found int) {
	if unix.Kill(-child, unix.SIGKILL) != nil {
		return 0
	}
	if exited {
		killed[-child] = true
	}
	return 1
}
