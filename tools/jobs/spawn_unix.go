//go:build unix

package jobs

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
)

// detach gives the child a session and a process group of its own, so that it
// outlives the program that submitted it.
func detach(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

func signalGroup(leader int, signal string) error {
	number := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL}[signal]
	if err := syscall.Kill(-leader, number); err != nil {
		return fmt.Errorf("signalling the group of process %d: %w", leader, err)
	}
	return nil
}

// shell is a command whose time ends with ctx, with everything that it started.
func shell(ctx context.Context, command string) *exec.Cmd {
	c := exec.CommandContext(ctx, "/bin/sh", "-c", command)
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	return c
}
