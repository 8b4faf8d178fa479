package install

import (
	"os/exec"
	"syscall"
)

// killGroup makes a cancelled command take its children with it (npm starts
// others), and makes it die with us, so that it does not write on into a
// folder that the next installation clears.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
