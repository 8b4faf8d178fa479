package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// promptTime bounds a call on a terminal: nobody will ever type.
const promptTime = time.Minute

// onTerminal runs the executable with a terminal of its own where nobody types,
// and another one for what it writes.
func (x *executable) onTerminal(ctx context.Context, c Call) Answer {
	ctx, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	person, typed, err := pseudoTerminal()
	if err != nil {
		return Answer{Code: -1, Err: &BlockedError{"there are no pseudo-terminals here"}}
	}
	defer person.Close()
	screen, shown, err := pseudoTerminal()
	if err != nil {
		_ = typed.Close()
		return Answer{Code: -1, Err: &BlockedError{"there are no pseudo-terminals here"}}
	}
	defer screen.Close()
	cmd := exec.CommandContext(ctx, x.path, c.Args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = x.dir, typed, shown, typed
	cmd.Env = append(withoutColourSwitch(x.env()), "TERM=xterm-256color")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // what asks for a password opens /dev/tty
	err = cmd.Start()
	_, _ = typed.Close(), shown.Close()
	if err != nil {
		return Answer{Code: -1, Err: err}
	}
	go func() { _, _ = io.Copy(io.Discard, person) }() // a full terminal would hold it up
	out := make(chan []byte, 1)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, screen) // until the last who has it open is gone
		out <- b.Bytes()
	}()
	_ = cmd.Wait()
	a := Answer{Code: cmd.ProcessState.ExitCode()}
	select {
	case a.Stdout = <-out:
	case <-ctx.Done():
		a.Err = errors.New("it did not end")
	}
	return a
}

func withoutColourSwitch(env []string) []string {
	var out []string
	for _, v := range env {
		if !strings.HasPrefix(v, "NO_COLOR=") && !strings.HasPrefix(v, "TERM=") {
			out = append(out, v)
		}
	}
	return out
}

// pseudoTerminal opens both ends of a terminal that changes no byte.
func pseudoTerminal() (person, program *os.File, err error) {
	if person, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_NONBLOCK, 0); err != nil {
		return nil, nil, err
	}
	n := 0
	if err = unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0); err == nil {
		n, err = unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	}
	if err == nil {
		program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = person.Close()
		return nil, nil, err
	}
	if t, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS); err == nil {
		t.Oflag &^= unix.OPOST
		_ = unix.IoctlSetTermios(int(program.Fd()), unix.TCSETS, t)
	}
	return person, program, nil
}

// trace is one run of the executable that is stopped at what it starts.
type trace struct {
	main   int
	stdout *os.File
	// forked is called when a process was made, execed when one that is not the
	// executable runs another program; true leaves it as it is and goes no further.
	forked, execed func(pid int) bool
	made           []int // the processes, and not the threads
	status         syscall.WaitStatus
}

// everyTraced waits for the children and the traced of this thread alone.
const everyTraced = unix.WALL | 0x20000000

const traceWhat = unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACEEXEC | unix.PTRACE_O_EXITKILL

// traced starts the executable. The caller's goroutine has its thread to itself.
func (x *executable) traced(c Call) (*trace, error) {
	stdin, err := os.CreateTemp(x.dir, "stdin-")
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	_, err = stdin.WriteAt(c.Stdin, 0)
	stdout, err2 := os.CreateTemp(x.dir, "stdout-")
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	env := (&exec.Cmd{Dir: x.dir, Env: x.env()}).Environ() // what is in it twice counts as it was said last
	p, err := os.StartProcess(x.path, append([]string{x.path}, c.Args...), &os.ProcAttr{Dir: x.dir, Env: env,
		Files: []*os.File{stdin, stdout, null}, Sys: &syscall.SysProcAttr{Ptrace: true}})
	if err != nil {
		return nil, &BlockedError{"processes cannot be traced here"}
	}
	t := &trace{main: p.Pid, stdout: stdout}
	_ = p.Release()
	if _, err := syscall.Wait4(t.main, &t.status, unix.WALL, nil); err != nil || !t.status.Stopped() {
		return nil, &BlockedError{"processes cannot be traced here"}
	}
	if err := errors.Join(syscall.PtraceSetOptions(t.main, traceWhat), syscall.PtraceCont(t.main, 0)); err != nil {
		_ = syscall.Kill(t.main, syscall.SIGKILL)
		return nil, &BlockedError{"processes cannot be traced here"}
	}
	return t, nil
}

// follow goes on until the executable has ended, or one of the two functions
// says that this is the moment.
func (t *trace) follow() (at int, err error) {
	timer := time.AfterFunc(callTime, func() { _ = syscall.Kill(t.main, syscall.SIGKILL) })
	defer timer.Stop()
	for ended := false; !ended || t.execed != nil; { // what it started may come to its program later
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &ws, everyTraced, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
			continue
		case ended && errors.Is(err, syscall.ECHILD):
			return 0, nil
		case err != nil:
			return 0, &BlockedError{"the traced processes were lost"}
		case ws.Exited() || ws.Signaled():
			if pid == t.main {
				t.status, ended = ws, true
			}
			t.made = slices.DeleteFunc(t.made, func(made int) bool { return made == pid })
			continue
		}
		if at, is := t.stop(pid, ws); is {
			return at, nil
		}
	}
	return 0, nil
}

// stop deals with one stop and lets the process go on.
func (t *trace) stop(pid int, ws syscall.WaitStatus) (at int, is bool) {
	signal := 0
	switch cause := ws.TrapCause(); {
	case cause == unix.PTRACE_EVENT_CLONE, cause == unix.PTRACE_EVENT_FORK, cause == unix.PTRACE_EVENT_VFORK:
		made, err := syscall.PtraceGetEventMsg(pid)
		if cause != unix.PTRACE_EVENT_CLONE {
			t.made = append(t.made, int(made))
		}
		if err == nil && cause != unix.PTRACE_EVENT_CLONE && t.forked != nil && t.forked(int(made)) {
			return int(made), true
		}
	case cause == unix.PTRACE_EVENT_EXEC:
		if pid != t.main && t.execed != nil && t.execed(pid) {
			t.execed = nil
			return pid, false // it stays stopped, and the others go on
		}
	case ws.StopSignal() == syscall.SIGSTOP, ws.StopSignal() == syscall.SIGTRAP:
		// The first stop of what was made, and of what another program replaced.
	default:
		signal = int(ws.StopSignal())
	}
	_ = syscall.PtraceCont(pid, signal)
	return 0, false
}

// Prepared implements Target.
func (x *executable) Prepared(_ context.Context, c Call, stopped func() bool) (found bool, err error) {
	runtime.LockOSThread() // tracing is between threads
	defer runtime.UnlockOSThread()
	t, err := x.traced(c)
	if err != nil {
		return false, err
	}
	defer t.stdout.Close()
	t.forked = func(int) bool { return stopped() }
	child, err := t.follow()
	left := t.made
	if child != 0 || err != nil {
		left = append(left, t.main)
	}
	for _, pid := range left { // whatever it came to, nothing of it stays
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	if err != nil {
		return false, err
	}
	for { // until they are gone for every reader
		pid, err := syscall.Wait4(-1, nil, everyTraced, nil)
		if pid < 0 && !errors.Is(err, syscall.EINTR) {
			return child != 0, nil
		}
	}
}

// Held implements Target.
func (x *executable) Held(_ context.Context, c Call, meanwhile func()) (Answer, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t, err := x.traced(c)
	if err != nil {
		return Answer{}, err
	}
	defer t.stdout.Close()
	held := 0
	t.execed = func(pid int) bool { // the detached one; what else it starts it may wait for
		if session, err := unix.Getsid(pid); err != nil || session != pid {
			return false
		}
		held = pid
		return true
	}
	if _, err := t.follow(); err != nil {
		return Answer{}, err
	}
	meanwhile()
	if held != 0 {
		if err := syscall.PtraceDetach(held); err != nil {
			return Answer{}, &BlockedError{"the program that was started could not be let go on"}
		}
	}
	b, err := os.ReadFile(t.stdout.Name())
	return Answer{Stdout: b, Code: t.status.ExitStatus()}, err
}
