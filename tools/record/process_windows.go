package record

import (
	"fmt"
	"os"
	"os/signal"
)

func pipeLike(_ *os.File, read bool) (child, ours *os.File, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("making a pipe: %w", err)
	}
	if read {
		return r, w, nil
	}
	return w, r, nil
}

type process struct{ p *os.Process }

// start starts the CLI on this console, whose Ctrl-C reaches it by itself.
func start(o Options, s *streams) (*process, error) {
	signal.Ignore(os.Interrupt)
	p, err := os.StartProcess(o.Path, o.Args, &os.ProcAttr{Files: s.child[:]})
	if err != nil {
		return nil, err
	}
	return &process{p}, nil
}

func (c *process) wait() Result {
	state, err := c.p.Wait()
	if err != nil {
		return Result{Code: 1}
	}
	return Result{Code: state.ExitCode()}
}

func name(os.Signal) string { return "" }

// DieBy ends this process; Windows has no signals.
func DieBy(os.Signal) error {
	os.Exit(1)
	return nil
}
