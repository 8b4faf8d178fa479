package jobs

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
)

// detach gives the child a process group of its own.
func detach(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

func signalGroup(int, string) error { return errors.New("signals are not supported on this system") }

func shell(ctx context.Context, command string) *exec.Cmd {
	return exec.CommandContext(ctx, "cmd", "/c", command)
}
