// Package record stands between a host and the CLI that it starts, and keeps
// what passes (DESIGN D8): the same bytes through all three pipes, the same
// exit, signals and closing of stdin passed on. It is not the harness, which
// runs a CLI in a place of its own; here the place is the host's, and what the
// host would see without the recorder decides.
package record

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Options are one run.
type Options struct {
	// Path is the program, Args its arguments with its name as the host gave
	// it. Environment and folder are this process's own.
	Path string
	Args []string
	// Stdin, Stdout and Stderr are the host's.
	Stdin, Stdout, Stderr *os.File
	Bundle                *transcript.BundleWriter
}

// Result is how the CLI ended.
type Result struct {
	Code   int
	Signal os.Signal // what ended it, nil if it exited
	// Lost is why the bundle is not whole; the run itself went on.
	Lost error
}

// chunkSize is how much a pump reads at once: as much as a pipe takes here.
const chunkSize = 256 << 10

// recorder is a run under way.
type recorder struct {
	opts  Options
	start time.Time
	out   sync.WaitGroup // the pumps of stdout and stderr
	in    chan struct{}  // closed when stdin's pump has ended

	mu   sync.Mutex
	lost error
}

// Run runs the CLI to its end. The error says that it could not be started.
// What the CLI's descendants print after its end belongs to the run as long as
// they hold its stdout or stderr, as it does for a host that waits for both.
func Run(o Options) (Result, error) {
	r := &recorder{opts: o, in: make(chan struct{})}
	var ends streams
	err := ends.open(o)
	if err != nil {
		return Result{}, err
	}
	defer ends.close()
	r.start = time.Now()
	child, err := start(o, &ends)
	if err != nil {
		r.note(o.Bundle.Process(0, transcript.ProcessEvent{Event: transcript.EventSpawn, Reason: transcript.ReasonNotStarted}))
		return Result{}, err
	}
	r.note(o.Bundle.Process(r.now(), transcript.ProcessEvent{Event: transcript.EventSpawn}))
	ends.closeChild()
	r.pump(transcript.Stdout, ends.stdout, o.Stdout)
	r.pump(transcript.Stderr, ends.stderr, o.Stderr)
	if ends.stdin == nil {
		close(r.in)
	} else {
		go r.feed(ends.stdin)
	}
	res := child.wait()
	r.out.Wait()
	r.finish(&res)
	return res, nil
}

func (r *recorder) now() time.Duration { return time.Since(r.start) }

// note remembers the first failure of the bundle.
func (r *recorder) note(err error) {
	if err == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost == nil {
		r.lost = err
	}
}

// pump passes on what the CLI prints. It is recorded first: what the host says
// to it then never stands before it.
func (r *recorder) pump(s transcript.Stream, from, to *os.File) {
	if from == nil {
		return
	}
	r.out.Go(func() {
		buf := make([]byte, chunkSize)
		for {
			n, err := from.Read(buf)
			if n > 0 {
				r.note(r.opts.Bundle.Chunk(transcript.CLIToServer, s, r.now(), buf[:n]))
				if _, werr := to.Write(buf[:n]); werr != nil { // the host hung up: so does the CLI's pipe
					err = werr
				}
			}
			if err != nil {
				cause := "cut"
				if errors.Is(err, io.EOF) {
					cause = "eof"
				}
				r.note(r.opts.Bundle.End(transcript.CLIToServer, s, r.now(), cause))
				_ = from.Close()
				if s == transcript.Stdout { // stderr may still have to say where the bundle is
					_ = to.Close()
				}
				return
			}
		}
	})
}

// feed passes on what the host writes. It is recorded first: an answer of the
// CLI then never stands before its request.
func (r *recorder) feed(to *os.File) {
	defer close(r.in)
	buf := make([]byte, chunkSize)
	for {
		n, err := r.opts.Stdin.Read(buf)
		if n > 0 {
			r.note(r.opts.Bundle.Chunk(transcript.ServerToCLI, transcript.Stdin, r.now(), buf[:n]))
			if _, werr := to.Write(buf[:n]); werr != nil {
				r.note(r.opts.Bundle.End(transcript.ServerToCLI, transcript.Stdin, r.now(), "unread"))
				_ = r.opts.Stdin.Close() // the host's next write fails as it would have
				return
			}
		}
		if err != nil {
			r.note(r.opts.Bundle.End(transcript.ServerToCLI, transcript.Stdin, r.now(), "closed"))
			_ = to.Close()
			return
		}
	}
}

// finish records the end.
func (r *recorder) finish(res *Result) {
	select {
	case <-r.in:
	default: // the host still holds stdin open
		r.note(r.opts.Bundle.End(transcript.ServerToCLI, transcript.Stdin, r.now(), "closed"))
	}
	e := transcript.ProcessEvent{Event: transcript.EventExit}
	if res.Signal != nil {
		e.Signal = name(res.Signal)
	} else {
		e.ExitCode = &res.Code
	}
	r.note(r.opts.Bundle.Process(r.now(), e))
	r.mu.Lock()
	defer r.mu.Unlock()
	res.Lost = r.lost
}
