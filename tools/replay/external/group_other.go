//go:build !unix

package external

import "os/exec"

func ownGroup(*exec.Cmd) {}

// killGroup kills the program itself; there are no groups here.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
