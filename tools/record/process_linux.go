package record

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// attributes make the CLI die with a recorder that was killed: nobody would
// read its pipes any more.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: unix.SIGKILL} }

// widen lets a pipe take a whole chunk.
func widen(f *os.File) {
	_, _ = unix.FcntlInt(f.Fd(), unix.F_SETPIPE_SZ, chunkSize)
}
