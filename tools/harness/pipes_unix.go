//go:build unix

package harness

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// childEnd is the child's end of a stream: a descriptor that is never put into
// non-blocking mode, because the child would inherit that. 0 stands for none.
type childEnd struct{ fd int }

func (c *childEnd) openNull() error {
	fd, err := unix.Open(os.DevNull, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("opening %s: %w", os.DevNull, err)
	}
	c.fd = fd
	return nil
}

// connect makes a pair of connected sockets, as Node does for its children,
// keeps one end and returns the other.
func (c *childEnd) connect(bool) (*os.File, error) {
	fds, err := socketpair()
	if err != nil {
		return nil, err
	}
	if err := unix.SetNonblock(fds[0], true); err != nil {
		unix.Close(fds[0])
		unix.Close(fds[1])
		return nil, err
	}
	c.fd = fds[1]
	return os.NewFile(uintptr(fds[0]), "child stream"), nil
}

func (c *childEnd) close() {
	if c.fd != 0 {
		unix.Close(c.fd)
		c.fd = 0
	}
}

// socketpair returns two connected stream sockets that no other child of this
// program inherits.
func socketpair() ([2]int, error) {
	syscall.ForkLock.RLock() // not every system sets close-on-exec atomically
	defer syscall.ForkLock.RUnlock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return fds, fmt.Errorf("making a socket pair: %w", err)
	}
	unix.CloseOnExec(fds[0])
	unix.CloseOnExec(fds[1])
	return fds, nil
}
