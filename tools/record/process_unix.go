//go:build unix

package record

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// pipeLike makes a stream of the kind that the host gave: a pair of sockets
// where it is a socket, as Node's children have, else a pipe.
func pipeLike(host *os.File, read bool) (child, ours *os.File, err error) {
	info, err := host.Stat()
	if err == nil && info.Mode()&os.ModeSocket != 0 {
		return socketPair()
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("making a pipe: %w", err)
	}
	child, ours = w, r
	if read {
		child, ours = r, w
	}
	widen(child)
	return child, ours, nil
}

func socketPair() (child, ours *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err == nil {
		err = unix.SetNonblock(fds[1], true) // ours; the child's would be a surprise to it
	}
	if err != nil {
		return nil, nil, fmt.Errorf("making a socket pair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "cli"), os.NewFile(uintptr(fds[1]), "recorder"), nil
}

// process is the CLI.
type process struct {
	p       *os.Process
	signals chan os.Signal
	group   *canary
}

// forwarded are the signals that a host sends to its child.
var forwarded = []os.Signal{unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2}

// start starts the CLI in this process's own group, where a host looks for it.
func start(o Options, s *streams) (*process, error) {
	c := &process{signals: make(chan os.Signal, 64)}
	for _, sig := range forwarded {
		if !signal.Ignored(sig) { // the CLI is to ignore it too
			signal.Notify(c.signals, sig)
		}
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) // a write that fails is no reason to die here
	runtime.LockOSThread()                               // the CLI dies with the thread that started it
	p, err := os.StartProcess(o.Path, o.Args, &os.ProcAttr{Files: s.child[:], Sys: attributes()})
	if err != nil {
		return nil, err
	}
	c.p, c.group = p, &canary{}
	return c, nil
}

// wait passes signals on until the CLI ends.
func (c *process) wait() Result {
	done := make(chan *os.ProcessState, 1)
	go func() {
		state, _ := c.p.Wait()
		done <- state
	}()
	c.group.sit()
	defer c.group.leave()
	for {
		select {
		case s := <-c.signals:
			if !c.group.felt() {
				_ = c.p.Signal(s)
			}
		case state := <-done:
			return resultOf(state)
		}
	}
}

func resultOf(state *os.ProcessState) Result {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return Result{Signal: status.Signal()}
	}
	return Result{Code: state.ExitCode()}
}

func name(s os.Signal) string {
	u, ok := s.(syscall.Signal)
	if !ok {
		return ""
	}
	if n := unix.SignalName(u); n != "" {
		return n
	}
	return fmt.Sprintf("SIG%d", int(u))
}

// canary tells a signal for this process from one for its whole group, which
// the CLI has got already and must not get twice. It is a small process in the
// same group that does nothing, and that such a signal kills.
type canary struct {
	cmd  *exec.Cmd
	hold *os.File // while it is open the canary lives
	dead chan struct{}
}

// sit starts the canary. Without one, every signal is passed on.
func (c *canary) sit() {
	r, w, err := os.Pipe()
	if err != nil {
		return
	}
	defer r.Close()
	c.cmd, c.dead = exec.Command("/bin/cat"), make(chan struct{})
	c.cmd.Stdin = r
	if c.cmd.Start() != nil {
		_ = w.Close()
		c.cmd = nil
		return
	}
	c.hold = w
	go func(cmd *exec.Cmd, dead chan struct{}) {
		_ = cmd.Wait()
		close(dead)
	}(c.cmd, c.dead)
}

// canaryDies is how long a canary may take to die of a signal.
const canaryDies = 50 * time.Millisecond

// felt reports whether the signal went to the whole group.
func (c *canary) felt() bool {
	if c.cmd == nil {
		return false
	}
	select {
	case <-c.dead:
	case <-time.After(canaryDies):
		return false
	}
	c.leave()
	c.sit()
	return true
}

func (c *canary) leave() {
	if c.hold != nil {
		_ = c.hold.Close()
		c.hold = nil
	}
}

// DieBy ends this process by a signal, without a core file. The runtime has
// handlers for many signals that cannot be taken away; a shell that takes this
// process's place has none. It returns only if that fails.
func DieBy(s os.Signal) error {
	u, ok := s.(syscall.Signal)
	if !ok {
		return fmt.Errorf("ending by %v: no signal of this system", s)
	}
	script := fmt.Sprintf("ulimit -c 0; kill -%d $$; exit %d", int(u), 128+int(u))
	return syscall.Exec("/bin/sh", []string{"sh", "-c", script}, os.Environ())
}
