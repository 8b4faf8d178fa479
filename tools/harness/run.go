package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// patience holds how long the harness waits for others.
type patience struct {
	term  time.Duration // between SIGTERM and SIGKILL, as OpenDesign has it
	drain time.Duration // for pipes that somebody outside the process tree holds
}

var defaultPatience = patience{term: 3 * time.Second, drain: 5 * time.Second}

// errLost is the end of a run whose supervisor died.
var errLost = errors.New("the supervisor process ended before the child")

// ending is why we end a run.
type ending struct{ event, reason string }

// run is one run under way. One goroutine (do) decides, one for each stream
// pumps, and one writes stdin.
type run struct {
	spec  *Spec
	b     backend
	clock patience
	start time.Time
	pipes *pipes
	stdin *stdinWriter
	pumps sync.WaitGroup

	stop    chan ending        // what the pumps want ended; the first one counts
	signals chan string        // what the script wants sent
	over    chan time.Duration // when the script wants the run ended

	ended  ending // zero while the child may run
	exit   *note
	exitAt time.Duration

	mu   sync.Mutex // orders what is recorded, and guards what follows
	out  recorded
	fail error // the first failed write of the bundle
}

func newRun(s *Sandbox, spec Spec) *run {
	return &run{
		spec: &spec, b: s.b, clock: s.clock,
		stop: make(chan ending, 1), signals: make(chan string, 16), over: make(chan time.Duration, 1),
	}
}

func (r *run) now() time.Duration { return time.Since(r.start) }

func (r *run) do(ctx context.Context) (Result, error) {
	p, err := newPipes(r.spec.Stdin.Mode)
	if err != nil {
		return Result{}, fmt.Errorf("running %q: making pipes: %w", r.spec.Path, err)
	}
	r.pipes = p
	defer p.close()
	r.start = time.Now()
	if err := r.b.start(r.spec, p); err != nil {
		var refused *StartError
		if errors.As(err, &refused) {
			r.event(transcript.ProcessEvent{Event: transcript.EventSpawn, Reason: refused.Reason()})
		}
		return Result{}, errors.Join(err, r.fail)
	}
	r.event(transcript.ProcessEvent{Event: transcript.EventSpawn})
	r.stdin = newStdinWriter(r, p.stdin)
	r.pumps.Go(func() { r.pump(transcript.Stdout, p.stdout) })
	r.pumps.Go(func() { r.pump(transcript.Stderr, p.stderr) })

	swept, err := r.conduct(ctx)
	r.drain()
	return r.finish(swept, err)
}

// conduct watches the child until nothing of it is left.
func (r *run) conduct(ctx context.Context) (swept note, err error) {
	wall := timer(r.spec.Limits.Wall)
	idle := timer(r.spec.Limits.Idle)
	var interrupt, quiet, grace, over <-chan time.Time
	var on <-chan struct{}
	if i := r.spec.Interrupt; i != nil {
		interrupt, on = timer(i.After), i.On
	}
	end := func(event, reason string) {
		if r.exit == nil && r.ended == (ending{}) {
			r.terminate(ending{event, reason})
			grace = timer(r.clock.term)
		}
	}
	cancelled := ctx.Done()
	for {
		select {
		case <-cancelled:
			cancelled = nil
			end(transcript.EventKill, transcript.ReasonCancelled)
		case e := <-r.stop:
			if r.exit != nil {
				r.late(e)
			}
			end(e.event, e.reason)
		case <-wall:
			end(transcript.EventTimeout, transcript.ReasonWallTimeout)
		case <-idle:
			if left := r.spec.Limits.Idle - r.silence(); left > 0 {
				idle = timer(left)
				continue
			}
			end(transcript.EventTimeout, transcript.ReasonIdleTimeout)
		case <-interrupt:
			r.interrupt()
		case <-on:
			on, quiet = nil, time.After(r.spec.Interrupt.Quiet)
		case <-quiet:
			if left := r.spec.Interrupt.Quiet - r.silence(); left > 0 {
				quiet = timer(left)
				continue
			}
			r.interrupt()
		case name := <-r.signals:
			r.send(name)
		case d := <-r.over:
			over = time.After(d)
		case <-over:
			end(transcript.EventKill, transcript.ReasonTerminated)
		case <-grace:
			r.b.kill()
		case n, ok := <-r.b.notes():
			switch {
			case !ok:
				return note{}, errLost
			case n.exited:
				r.exit, r.exitAt = &n, r.now()
			case n.left > 0:
				return n, fmt.Errorf("%d descendants could not be killed", n.left)
			case n.swept:
				return n, nil
			}
		}
	}
}

// timer returns a channel that fires after d, or never if d is zero.
func timer(d time.Duration) <-chan time.Time {
	if d <= 0 {
		return nil
	}
	return time.After(d)
}

// terminate begins the ladder: stdin closes, the group gets SIGTERM, and after
// a grace everything is killed.
func (r *run) terminate(e ending) {
	r.ended = e
	r.event(transcript.ProcessEvent{Event: e.event, Signal: "SIGTERM", Reason: e.reason})
	r.stdin.abort()
	r.b.signal("SIGTERM", true)
}

// late notes a limit that was found broken only after the child had exited:
// output is missing all the same.
func (r *run) late(e ending) {
	if r.ended == (ending{}) {
		r.ended = e
		r.event(transcript.ProcessEvent{Event: e.event, Reason: e.reason})
	}
}

// send sends a signal of the script to the child.
func (r *run) send(name string) {
	if r.exit != nil {
		return
	}
	r.event(transcript.ProcessEvent{Event: transcript.EventKill, Signal: name, Reason: transcript.ReasonInterrupt})
	r.b.signal(name, false)
}

// drain waits until the pumps have read what the pipes hold. Every process
// that could write is dead by now, unless one of them gave its end away.
func (r *run) drain() {
	r.stdin.abort()
	done := make(chan struct{})
	go func() {
		r.pumps.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(r.clock.drain):
		r.pipes.abandon()
		<-done
	}
	r.stdin.wait()
	select {
	case e := <-r.stop:
		r.late(e)
	default:
	}
}

// finish records the exit after the last byte, as a consumer sees it (Node's
// close event), and sums up.
func (r *run) finish(swept note, err error) (Result, error) {
	res := Result{
		Ended: r.ended.event, Reason: r.ended.reason, LeftoversKilled: swept.killed,
		StdinEnd: r.stdin.cause, Bytes: r.out.bytes, Duration: r.exitAt,
	}
	if r.exit != nil {
		e := transcript.ProcessEvent{Event: transcript.EventExit, Signal: r.exit.signal}
		if e.Signal == "" {
			e.ExitCode = &r.exit.code
			if f := r.spec.Filter; f != nil && r.ended == (ending{}) {
				code := f.Exit(r.exit.code)
				e.ExitCode = &code
			}
		}
		res.ExitCode, res.Signal = e.ExitCode, e.Signal
		if res.Ended == "" {
			res.Ended = transcript.EventExit
		}
		r.event(e)
		res.LogProblem = r.recordLog()
	}
	if swept.killed > 0 && r.ended == (ending{}) {
		r.event(transcript.ProcessEvent{Event: transcript.EventKill, Signal: "SIGKILL", Reason: transcript.ReasonLeftover})
	}
	if err != nil {
		err = fmt.Errorf("running %q: %w", r.spec.Path, err)
	}
	return res, errors.Join(err, r.fail)
}

// event records a process event.
func (r *run) event(e transcript.ProcessEvent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spec.Bundle != nil {
		r.failed(r.spec.Bundle.Process(r.now(), e))
	}
}

// pump reads one stream to its end.
func (r *run) pump(s transcript.Stream, in io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			r.output(s, buf[:n])
		}
		if err != nil {
			r.outputEnd(s, errors.Is(err, io.EOF))
			return
		}
	}
}
