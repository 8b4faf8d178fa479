//go:build unix

package play

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/nexu-io/open-design-agent-contracts/tools/record"
)

// catch returns a channel with the given signals as they come. Every other
// signal does what it does to a program that does not know it.
func catch(names []string) <-chan os.Signal {
	signal.Reset()
	ch := make(chan os.Signal, 16)
	for _, name := range names {
		if s := unix.SignalNum(name); s != 0 {
			signal.Notify(ch, s)
		}
	}
	return ch
}

func signalName(s os.Signal) string {
	if u, ok := s.(syscall.Signal); ok {
		return unix.SignalName(u)
	}
	return ""
}

// Die ends this process as the recorded child ended. It returns only if the
// system cannot do that.
func Die(e Ending) error {
	if e.Signal == "" {
		os.Exit(e.Code)
	}
	s := unix.SignalNum(e.Signal)
	if s == 0 {
		return fmt.Errorf("this system has no signal %.20q", e.Signal)
	}
	return record.DieBy(s)
}
