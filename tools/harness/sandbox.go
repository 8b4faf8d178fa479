package harness

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
)

// Options are the choices of a Sandbox.
type Options struct {
	// HostNetwork lets the child use this machine's network, as a capture with
	// real credentials (--live) needs.
	HostNetwork bool
}

// Sandbox is a place where children run, one at a time.
type Sandbox struct {
	b        backend
	listener net.Listener
	isolated bool
	problem  string
	running  sync.Mutex
	clock    patience
}

// NewSandbox starts a supervisor. Where the system refuses a network namespace
// the child shares the machine's network, Isolated says false and Problem says
// why; that is not an error.
func NewSandbox(ctx context.Context, o Options) (*Sandbox, error) {
	s, err := newSandbox(ctx, o)
	if err != nil {
		return nil, err
	}
	s.clock = defaultPatience
	return s, nil
}

// Isolated reports whether the child can reach loopback only.
func (s *Sandbox) Isolated() bool { return s.isolated }

// Problem says why the sandbox is not isolated although it should be, or "".
func (s *Sandbox) Problem() string { return s.problem }

// Listener returns a TCP listener on 127.0.0.1 inside the sandbox. What is
// served on it in this process is reached by the child. Close closes it.
func (s *Sandbox) Listener() net.Listener { return s.listener }

// Close kills what runs in the sandbox and ends the supervisor. A Run that is
// under way fails. A second Close does nothing.
func (s *Sandbox) Close() error {
	lerr := s.listener.Close()
	if errors.Is(lerr, net.ErrClosed) {
		lerr = nil
	}
	return errors.Join(s.b.close(), lerr)
}

// Run runs one child to its end and returns what became of it. An end that a
// limit or the context brought about is a result, not an error. Errors are:
// *StartError, a bundle that could not be written (the child is killed then),
// a lost supervisor, and descendants that could not be killed.
//
// When Run returns, nothing that the child started is left running.
func (s *Sandbox) Run(ctx context.Context, spec Spec) (Result, error) {
	if err := spec.check(); err != nil {
		return Result{}, err
	}
	if !s.running.TryLock() {
		return Result{}, errors.New("the sandbox already runs a child: use one sandbox for each")
	}
	defer s.running.Unlock()
	if info, err := os.Stat(spec.Dir); err != nil || !info.IsDir() {
		return Result{}, errors.Join(errors.New("the child's working directory is not a folder"), err)
	}
	return newRun(s, spec).do(ctx)
}

// backend starts children and ends them; one child at a time.
type backend interface {
	// start starts a child on the given pipes and closes the child's ends. The
	// error is a *StartError if the program is the cause.
	start(spec *Spec, p *pipes) error

	// notes tells what became of the child: first its exit, then that nothing
	// of it is left. A closed channel means that the supervisor is gone.
	notes() <-chan note

	signal(name string, group bool) // to the child or to its whole group
	kill()                          // the child and every descendant
	close() error
}

// note is what a backend tells about the child.
type note struct {
	exited bool
	code   int
	signal string // "" when the child exited by itself

	swept  bool
	killed int // descendants that were killed
	left   int // descendants that could not be killed
}
