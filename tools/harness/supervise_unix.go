//go:build unix

package harness

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// sweepGrace is how long descendants may take to end by themselves after
	// the child has exited.
	sweepGrace = time.Second

	// sweepEvery is the pause between two rounds of killing, and sweepLimit the
	// time after which what still lives is reported instead.
	sweepEvery = 10 * time.Millisecond
	sweepLimit = 10 * time.Second

	// exitLeft is the supervisor's exit code when it could not kill everything.
	exitLeft = 3
)

// command is a message to the supervisor with the descriptors that came along.
type command struct {
	message
	fds []int
}

// reaped is one answer of wait4: the child's end, or that no child is left.
type reaped struct {
	status syscall.WaitStatus
	none   bool
}

// supervisor runs one child at a time. All of it happens in one goroutine but
// reading the socket and waiting for children.
type supervisor struct {
	w    *wire
	reap chan reaped

	pid     int // the child's, which is its group's too; 0 when nothing runs
	exited  bool
	alone   bool         // the kernel knows no child of ours any more
	killed  map[int]bool // what was killed of this run
	since   time.Time    // of the first round of killing
	sweep   *time.Timer  // the next round
	closing bool
}

// Supervise is the main function of a supervisor process: args[0] is
// "isolated" or "host", and descriptor 3 is the control socket. It returns the
// exit code of the process.
func Supervise(args []string) int {
	// Ambient capabilities belong to a thread; the child must be started by the
	// one that gave them up.
	runtime.LockOSThread()
	w, err := newWire(os.NewFile(3, "control"))
	if err != nil {
		return 1
	}
	l, err := settle(len(args) > 0 && args[0] == mode(true))
	if err != nil {
		_ = w.send(message{Op: "hello", Problem: err.Error()})
		return 1
	}
	err = w.send(message{Op: "hello"}, int(l.Fd()))
	l.Close()
	if err != nil {
		return 1
	}
	quit := make(chan os.Signal, 1)
	signal.Notify(quit, unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
	s := &supervisor{w: w, reap: make(chan reaped, 8), sweep: time.NewTimer(time.Hour)}
	s.sweep.Stop()
	return s.loop(quit)
}

// settle makes the place where children run and opens the listener in it.
func settle(isolate bool) (*os.File, error) {
	if err := adopt(); err != nil {
		return nil, err
	}
	if isolate {
		if err := loopback(); err != nil {
			return nil, err
		}
	}
	l, err := net.ListenTCP("tcp4", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	defer l.Close()
	return l.File()
}

func (s *supervisor) loop(quit <-chan os.Signal) int {
	commands := make(chan command)
	go s.read(commands)
	for {
		select {
		case c, ok := <-commands:
			if ok {
				s.command(c)
				break
			}
			commands = nil
			s.close()
		case <-quit:
			s.close()
		case r := <-s.reap:
			s.reaped(r)
		case <-s.sweep.C:
			if left := s.killRound(); left > 0 && time.Since(s.since) > sweepLimit {
				_ = s.w.send(message{Op: "swept", Killed: len(s.killed), Left: left})
				return exitLeft
			}
		}
		if s.closing && s.pid == 0 {
			return 0
		}
	}
}

func (s *supervisor) read(out chan<- command) {
	for {
		m, fds, err := s.w.receive()
		if err != nil {
			close(out)
			return
		}
		out <- command{m, fds}
	}
}

func (s *supervisor) command(c command) {
	switch c.Op {
	case "start":
		s.start(c)
	case "signal":
		if s.pid == 0 || s.exited {
			return
		}
		to := s.pid
		if c.Group {
			to = -to
		}
		unix.Kill(to, unix.SignalNum(c.Signal))
	case "kill":
		s.killSoon(0)
	}
}

// start starts the child in a session of its own.
func (s *supervisor) start(c command) {
	defer func() {
		for _, fd := range c.fds {
			unix.Close(fd)
		}
	}()
	if s.pid != 0 || len(c.fds) != 3 {
		_ = s.w.send(message{Op: "refused", Errno: int(unix.EBUSY)})
		return
	}
	attr := &syscall.ProcAttr{Dir: string(c.Dir), Env: toStrings(c.Env), Sys: &syscall.SysProcAttr{Setsid: true}}
	for _, fd := range c.fds {
		attr.Files = append(attr.Files, uintptr(fd))
	}
	if c.UID != 0 || c.GID != 0 {
		attr.Sys.Credential = &syscall.Credential{Uid: uint32(c.UID), Gid: uint32(c.GID)}
	}
	pid, err := syscall.ForkExec(string(c.Path), append([]string{string(c.Path)}, toStrings(c.Args)...), attr)
	if err != nil {
		errno, ok := err.(syscall.Errno)
		if !ok {
			errno = unix.EINVAL
		}
		_ = s.w.send(message{Op: "refused", Errno: int(errno)})
		return
	}
	s.pid, s.exited, s.alone = pid, false, false
	s.killed, s.since = map[int]bool{}, time.Time{}
	go wait(pid, s.reap)
	_ = s.w.send(message{Op: "started", PID: pid})
}

// wait reaps every child of this process until there is none. It runs only
// while a child does, so it never takes a status from ForkExec.
func wait(child int, out chan<- reaped) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			out <- reaped{none: true}
			return
		case pid == child:
			out <- reaped{status: status}
		}
	}
}

func (s *supervisor) reaped(r reaped) {
	if !r.none {
		m := message{Op: "exited", Code: r.status.ExitStatus()}
		if r.status.Signaled() {
			m.Code, m.Signal = 0, signalName(r.status.Signal())
		}
		s.exited = true
		_ = s.w.send(m)
		if s.since.IsZero() {
			s.sweep.Reset(sweepGrace)
		}
		return
	}
	s.alone = true
	if !lingering(s.pid) {
		s.swept()
	}
}

// swept ends the run: nothing of it is left.
func (s *supervisor) swept() {
	s.sweep.Stop()
	delete(s.killed, s.pid)
	s.pid = 0
	_ = s.w.send(message{Op: "swept", Killed: len(s.killed)})
}

func (s *supervisor) close() {
	s.closing = true
	s.killSoon(0)
}

// killSoon schedules a round of killing.
func (s *supervisor) killSoon(after time.Duration) {
	if s.pid != 0 {
		s.sweep.Reset(after)
	}
}

// killRound kills everything that descends from the child and returns how much
// it found. A process may fork while it is looked for, hence rounds; the run is
// over when the kernel knows no child of ours.
func (s *supervisor) killRound() (found int) {
	if s.since.IsZero() {
		s.since = time.Now()
	}
	found = killTree(s.pid, s.exited, s.killed)
	if s.alone && !lingering(s.pid) {
		s.swept()
		return 0
	}
	s.killSoon(sweepEvery)
	return found
}
