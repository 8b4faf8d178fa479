//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// fakeCodex is a CLI of the codex family: it names its version, or reads its
// prompt and prints what the file stdout beside it holds, in the way that the
// file mode says.
func fakeCodex() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		_, _ = os.Stdout.WriteString("codex-cli 0.133.0\n")
		return
	}
	self, err := os.Executable()
	if err != nil {
		os.Exit(1)
	}
	dir := filepath.Dir(self)
	out, _ := os.ReadFile(filepath.Join(dir, "stdout")) // none: silent
	mode, _ := os.ReadFile(filepath.Join(dir, "mode"))
	_, _ = io.Copy(io.Discard, os.Stdin)
	switch string(mode) {
	case "hang":
		_, _ = os.Stdout.Write(out)
		signal.Ignore(syscall.SIGTERM)
		select {}
	case "slow": // as on a machine with much other work to do
		time.Sleep(4 * time.Second)
	case "utf8":
		out = bytes.ReplaceAll(out, []byte("ready"), []byte("re\xff\xfedy"))
	case "huge":
		out = bytes.ReplaceAll(out, []byte("ready"), []byte("ready "+strings.Repeat("x", 4<<20)))
	case "grandchild":
		child := exec.Command("/bin/sleep", "600")
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			os.Exit(1)
		}
	}
	_, _ = os.Stdout.Write(out)
	if string(mode) == "fail" {
		os.Exit(1)
	}
}

// dropPrivileges makes this process an ordinary one if it is root's.
func dropPrivileges() error {
	if os.Geteuid() != 0 {
		return nil
	}
	const nobody = 65534
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody))
}
