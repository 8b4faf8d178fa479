package harness

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// On Windows there is no supervisor: the child is started directly, shares the
// machine's network, and is killed without its descendants.

// Supervise does not exist on Windows; it returns the code of an internal fault.
func Supervise([]string) int { return 70 }

func newSandbox(_ context.Context, o Options) (*Sandbox, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listening on loopback: %w", err)
	}
	s := &Sandbox{b: &direct{events: make(chan note, 2)}, listener: l}
	if !o.HostNetwork {
		s.problem = "this system has no network namespaces"
	}
	return s, nil
}

type direct struct {
	events chan note
	mu     sync.Mutex
	cmd    *exec.Cmd // the running child, or nil
}

func (d *direct) start(spec *Spec, p *pipes) error {
	defer p.closeChild()
	cmd := &exec.Cmd{
		Path: spec.Path, Args: append([]string{filepath.Base(spec.Path)}, spec.Args...), Env: spec.Env, Dir: spec.Dir,
		Stdin: p.child[0].f, Stdout: p.child[1].f, Stderr: p.child[2].f,
	}
	if err := cmd.Start(); err != nil {
		return &StartError{Path: spec.Path, Err: err}
	}
	d.mu.Lock()
	d.cmd = cmd
	d.mu.Unlock()
	go func() {
		_ = cmd.Wait() // the state says it all
		d.mu.Lock()
		d.cmd = nil
		d.mu.Unlock()
		d.events <- note{exited: true, code: cmd.ProcessState.ExitCode()}
		d.events <- note{swept: true}
	}()
	return nil
}

func (d *direct) notes() <-chan note { return d.events }

// signal kills: there is nothing gentler for a process without a console.
func (d *direct) signal(string, bool) { d.kill() }

func (d *direct) kill() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.cmd != nil {
		_ = d.cmd.Process.Kill()
	}
}

func (d *direct) close() error {
	d.kill()
	return nil
}

func checkSignal(name string) error {
	if name != "SIGINT" && name != "SIGTERM" && name != "SIGKILL" {
		return errors.New("this system has no such signal")
	}
	return nil
}

// childEnd is the child's end of a pipe.
type childEnd struct{ f *os.File }

func (c *childEnd) openNull() (err error) {
	c.f, err = os.Open(os.DevNull)
	return err
}

// connect makes a pipe, keeps the child's end and returns ours.
func (c *childEnd) connect(childReads bool) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if childReads {
		c.f = r
		return w, nil
	}
	c.f = w
	return r, nil
}

func (c *childEnd) close() {
	if c.f != nil {
		c.f.Close()
	}
}
