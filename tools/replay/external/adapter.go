// Package external reads a transcript with a program of the user's: frames go
// to its stdin and events come from its stdout, one JSON object a line
// (docs/ADAPTERS.md).
package external

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/replay"
)

// Options says which program reads and how long it may take.
type Options struct {
	Command []string // program and arguments, as Split gives them
	Dir     string   // where it runs; a relative path of the program is of here
	// Timeout bounds one run, from its start message to its result, and the
	// end of the program after the last one.
	Timeout time.Duration
}

// DefaultTimeout is what --adapter-timeout says by default.
const DefaultTimeout = 30 * time.Second

// maxOutput is how much an adapter may write about one run, beside eight times
// the run's own size.
const maxOutput = 64 << 20

// Error says what is wrong with an adapter. It never quotes what the adapter
// wrote.
type Error struct {
	Program string
	What    string
	Stderr  int64 // bytes that the adapter wrote on stderr
	Err     error // or nil
}

// Error implements error.
func (e *Error) Error() string {
	s := "adapter " + e.Program + ": " + e.What
	if e.Stderr > 0 {
		s += fmt.Sprintf("; it wrote %d bytes on stderr, not shown because they may quote the run", e.Stderr)
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrTimeout says that an adapter took longer than its limit.
var ErrTimeout = errors.New("the adapter took too long")

// Adapter is a program that reads runs one after the other. It is not for
// concurrent use.
type Adapter struct {
	opts  Options
	proc  *process
	many  bool  // the program takes run after run
	noise int64 // bytes on stderr of programs that ended
}

// New returns an adapter. Its program is started by the first Read.
func New(o Options) *Adapter { return &Adapter{opts: o} }

// Name returns the program's name, for people: the last argument that is a
// file's name, such as my-adapter.mjs in "node my-adapter.mjs".
func (a *Adapter) Name() string {
	for _, word := range a.opts.Command[1:] {
		if ext := filepath.Ext(word); len(ext) > 1 && word[0] != '-' {
			return filepath.Base(word)
		}
	}
	return filepath.Base(a.opts.Command[0])
}

func (a *Adapter) fail(err error, format string, args ...any) error {
	e := &Error{Program: a.Name(), What: fmt.Sprintf(format, args...), Err: err}
	if a.proc != nil {
		a.proc.kill()
		e.Stderr = a.proc.stderr.Load()
		a.proc = nil
	}
	return e
}

// Read gives a run to the program and returns its reading. The program's input
// ends after the run and so does the program, unless it said before that it
// takes more runs. The error is an *Error.
func (a *Adapter) Read(ctx context.Context, in replay.Input) (*replay.Reading, error) {
	got, err := a.run(ctx, in)
	if err != nil {
		return nil, err
	}
	if !a.many {
		if err := a.Close(); err != nil {
			return nil, err
		}
		a.many = got.more
	}
	if got.notRun {
		return replay.NotRun(in, a.Name(), "the adapter "+a.Name()+" has no reader for the dialect "+in.Dialect.ID), nil
	}
	return replay.FromEvents(in, a.Name(), got.events, got.origins, got.result), nil
}

func (a *Adapter) run(ctx context.Context, in replay.Input) (*answers, error) {
	if a.proc == nil {
		p, err := start(a.opts)
		if err != nil {
			return nil, a.fail(err, "cannot be started: %v", err)
		}
		a.proc = p
	}
	p := a.proc
	sent, many := make(chan struct{}), a.many
	go func() {
		defer close(sent)
		_ = send(p.stdin, in) // a program that does not listen is told by what it answers
		if !many {
			p.stdin.Close()
		}
	}()
	got := newAnswers(stdoutLines(in.Transcript))
	limit := time.NewTimer(a.opts.Timeout)
	defer limit.Stop()
	room := maxOutput
	for i := range in.Transcript.Records {
		room += 8 * len(in.Transcript.Records[i].Data)
	}
	for n := 1; !got.done; n++ {
		select {
		case l, ok := <-p.lines:
			if !ok {
				return nil, a.ended(n, limit.C)
			}
			if room -= len(l); room < 0 || l == nil {
				return nil, a.fail(nil, "wrote more than %d MiB about one run", maxOutput>>20)
			}
			if err := got.take(l); err != nil {
				return nil, a.fail(err, "line %d of its answer: %v", n, err)
			}
		case <-ctx.Done():
			return nil, a.fail(ctx.Err(), "interrupted")
		case <-limit.C:
			return nil, a.fail(ErrTimeout, "gave no result within %s (--adapter-timeout)", a.opts.Timeout)
		}
	}
	select { // it need not have read to the end, but the next run starts there
	case <-sent:
	case <-ctx.Done():
		return nil, a.fail(ctx.Err(), "interrupted")
	case <-limit.C:
		return nil, a.fail(ErrTimeout, "did not read its input within %s (--adapter-timeout)", a.opts.Timeout)
	}
	return got, nil
}

// ended explains a stdout that ended before line n and before the result.
func (a *Adapter) ended(n int, limit <-chan time.Time) error {
	p := a.proc
	p.stdin.Close()
	select {
	case <-p.exited:
	case <-limit:
		return a.fail(ErrTimeout, "closed its output without a result and did not end within %s (--adapter-timeout)", a.opts.Timeout)
	}
	p.untilQuiet(limit)
	switch {
	case p.waitErr != nil:
		return a.fail(p.waitErr, "ended with %s before its result", exitWord(p.waitErr))
	case n == 1:
		return a.fail(nil, "ended without an answer: want events and a last line with kind result")
	}
	return a.fail(nil, "ended without a result: its last line has kind result")
}

// Close ends the program. The error is an *Error: it did not end, it ended
// badly, or it wrote more after its result.
func (a *Adapter) Close() error {
	p := a.proc
	if p == nil {
		return nil
	}
	p.stdin.Close()
	limit := time.NewTimer(a.opts.Timeout)
	defer limit.Stop()
	for open := true; open; {
		select {
		case _, ok := <-p.lines:
			if ok {
				return a.fail(nil, "wrote more after its result, which has to be its last line about a run")
			}
			open = false
		case <-limit.C:
			return a.fail(ErrTimeout, "did not end within %s of the end of its input (--adapter-timeout)", a.opts.Timeout)
		}
	}
	select {
	case <-p.exited:
	case <-limit.C:
		return a.fail(ErrTimeout, "did not end within %s of the end of its input (--adapter-timeout)", a.opts.Timeout)
	}
	p.untilQuiet(limit.C)
	if p.waitErr != nil {
		return a.fail(p.waitErr, "ended with %s after its result", exitWord(p.waitErr))
	}
	a.noise += p.stderr.Load()
	a.proc = nil
	return nil
}

// Stderr returns how many bytes the programs that were closed wrote on stderr.
func (a *Adapter) Stderr() int64 { return a.noise }

func exitWord(err error) string {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ProcessState.String() // "exit status 3", "signal: killed"
	}
	return "an error of the system"
}
