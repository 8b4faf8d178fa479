//go:build unix

package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// helloTimeout bounds the start of a supervisor, which has next to nothing to do.
const helloTimeout = 30 * time.Second

// client is this program's side of a supervisor.
type client struct {
	w       *wire
	cmd     *exec.Cmd
	replies chan message // started, refused
	events  chan note
	pid     atomic.Int64 // the running child, 0 for none
}

func newSandbox(ctx context.Context, o Options) (*Sandbox, error) {
	if !armed.Load() {
		return nil, ErrUnsupervised
	}
	problem := ""
	if !o.HostNetwork {
		c, l, err := startSupervisor(ctx, true)
		if err == nil {
			return &Sandbox{b: c, listener: l, isolated: true}, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		problem = err.Error()
	}
	c, l, err := startSupervisor(ctx, false)
	if err != nil {
		return nil, err
	}
	return &Sandbox{b: c, listener: l, problem: problem}, nil
}

// startSupervisor starts a supervisor and returns it with the listener that it
// opened.
func startSupervisor(ctx context.Context, isolate bool) (*client, net.Listener, error) {
	fds, err := socketpair()
	if err != nil {
		return nil, nil, fmt.Errorf("starting the supervisor: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control")
	defer theirs.Close()
	w, err := newWire(ours)
	if err != nil {
		return nil, nil, fmt.Errorf("starting the supervisor: %w", err)
	}
	exe, err := executable()
	if err != nil {
		w.c.Close()
		return nil, nil, fmt.Errorf("starting the supervisor: %w", err)
	}
	cmd := exec.Command(exe, superviseArg, mode(isolate))
	cmd.Args[0] = os.Args[0]
	cmd.Env = []string{} // a child could read it, and it may hold secrets
	cmd.Dir = "/"
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.SysProcAttr = supervisorAttr(isolate)
	if err := cmd.Start(); err != nil {
		w.c.Close()
		return nil, nil, fmt.Errorf("starting the supervisor: %w", err)
	}
	c := &client{w: w, cmd: cmd, replies: make(chan message, 1), events: make(chan note, 2)}
	l, err := c.hello(ctx)
	if err != nil {
		cmd.Process.Kill()
		c.close()
		return nil, nil, fmt.Errorf("starting the supervisor: %w", err)
	}
	go c.read()
	return c, l, nil
}

func mode(isolate bool) string {
	if isolate {
		return "isolated"
	}
	return "host"
}

// hello waits for the first message and makes a listener of what comes along.
func (c *client) hello(ctx context.Context) (net.Listener, error) {
	c.w.c.SetReadDeadline(time.Now().Add(helloTimeout))
	stop := context.AfterFunc(ctx, func() { c.w.c.SetReadDeadline(time.Unix(1, 0)) })
	m, fds, err := c.w.receive()
	if !stop() {
		err = errors.Join(ctx.Err(), err)
	}
	c.w.c.SetReadDeadline(time.Time{})
	switch {
	case err != nil:
		return nil, err
	case m.Problem != "":
		return nil, errors.New(m.Problem)
	case len(fds) != 1:
		return nil, errors.New("it sent no listener")
	}
	f := os.NewFile(uintptr(fds[0]), "listener")
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		return nil, fmt.Errorf("opening its listener: %w", err)
	}
	return l, nil
}

// read sorts the supervisor's messages until it is gone.
func (c *client) read() {
	defer close(c.events)
	defer close(c.replies)
	for {
		m, _, err := c.w.receive()
		if err != nil {
			// The supervisor cannot have left a child unless it was killed
			// itself. The group is what can still be reached then.
			if pid := c.pid.Load(); pid != 0 {
				unix.Kill(-int(pid), unix.SIGKILL)
			}
			return
		}
		switch m.Op {
		case "started", "refused":
			c.pid.Store(int64(m.PID))
			c.replies <- m
		case "exited":
			c.events <- note{exited: true, code: m.Code, signal: m.Signal}
		case "swept":
			c.pid.Store(0)
			c.events <- note{swept: true, killed: m.Killed, left: m.Left}
		}
	}
}

func (c *client) start(spec *Spec, p *pipes) error {
	defer p.closeChild()
	err := c.w.send(message{
		Op: "start", Path: []byte(spec.Path), Args: toBytes(spec.Args), Env: toBytes(spec.Env), Dir: []byte(spec.Dir),
		UID: spec.UID, GID: spec.GID,
	}, p.child[0].fd, p.child[1].fd, p.child[2].fd)
	if err != nil {
		return fmt.Errorf("running %q: asking the supervisor: %w", spec.Path, err)
	}
	switch m, ok := <-c.replies; {
	case !ok:
		return fmt.Errorf("running %q: %w", spec.Path, errLost)
	case m.Op == "refused":
		return &StartError{Path: spec.Path, Err: syscall.Errno(m.Errno)}
	}
	return nil
}

func (c *client) notes() <-chan note { return c.events }

// A failed send means that the supervisor is gone, which read notices.

func (c *client) signal(name string, group bool) {
	_ = c.w.send(message{Op: "signal", Signal: name, Group: group})
}

func (c *client) kill() { _ = c.w.send(message{Op: "kill"}) }

// close hangs up, whereupon the supervisor kills what is left and ends.
func (c *client) close() error {
	err := c.w.c.Close()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	var bad *exec.ExitError
	if werr := c.cmd.Wait(); errors.As(werr, &bad) && bad.ExitCode() == exitLeft {
		return errors.New("closing the sandbox: some processes could not be killed")
	}
	return err
}

func checkSignal(name string) error {
	if unix.SignalNum(name) == 0 {
		return fmt.Errorf("%q is not the name of a signal: want one like SIGINT", name)
	}
	return nil
}

// signalName returns the name of a signal, and SIG with its number for the
// real-time ones, which have none.
func signalName(s syscall.Signal) string {
	if name := unix.SignalName(s); name != "" {
		return name
	}
	return fmt.Sprintf("SIG%d", int(s))
}
