//go:build unix && !linux

package install

import (
	"os/exec"
	"syscall"
)

// killGroup makes a cancelled command take its children with it: npm starts
// others.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
