package harness

import (
	"bytes"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// recorded is the state of what was recorded of stdout and stderr.
type recorded struct {
	bytes, lines int64
	last         time.Duration // when the last byte came
	dropped      map[transcript.Stream]bool
	interrupted  bool
}

// output records a chunk within the limits and shows it to everybody who reads
// along.
func (r *run) output(s transcript.Stream, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out.last = r.now()
	kept := r.within(b)
	if len(kept) < len(b) {
		if r.out.dropped == nil {
			r.out.dropped = map[transcript.Stream]bool{}
		}
		r.out.dropped[s] = true
		r.want(ending{transcript.EventKill, transcript.ReasonOutputLimit})
	}
	if len(kept) == 0 {
		return
	}
	r.record(s, kept)
	r.out.bytes += int64(len(kept))
	if r.spec.Tap != nil {
		r.spec.Tap(s, kept)
	}
	if r.spec.Script != nil {
		r.act(r.spec.Script.Output(s, kept))
	}
	if i := r.spec.Interrupt; i != nil && i.AfterBytes > 0 && r.out.bytes >= i.AfterBytes {
		r.interruptLocked()
	}
	if r.spec.Progress != nil {
		r.spec.Progress(r.out.bytes)
	}
}

// record gives a chunk to the bundle, or what the filter makes of it.
func (r *run) record(s transcript.Stream, b []byte) {
	if f := r.spec.Filter; f != nil {
		b = f.Output(s, b)
	}
	r.store(s, r.out.last, b)
}

func (r *run) store(s transcript.Stream, at time.Duration, b []byte) {
	if r.spec.Bundle != nil && len(b) > 0 {
		r.failed(r.spec.Bundle.Chunk(transcript.CLIToServer, s, at, b))
	}
}

// within returns the part of a chunk that the limits allow.
func (r *run) within(b []byte) []byte {
	if limit := r.spec.Limits.Bytes; limit > 0 {
		b = b[:min(int64(len(b)), limit-r.out.bytes)]
	}
	limit := r.spec.Limits.Lines
	if limit <= 0 {
		return b
	}
	if n := int64(bytes.Count(b, []byte("\n"))); r.out.lines+n < limit {
		r.out.lines += n
		return b
	}
	for i, c := range b {
		if r.out.lines == limit {
			return b[:i]
		}
		if c == '\n' {
			r.out.lines++
		}
	}
	return b
}

func (r *run) outputEnd(s transcript.Stream, eof bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	cause := "eof"
	if !eof || r.out.dropped[s] {
		cause = "cut"
	}
	if f := r.spec.Filter; f != nil {
		r.store(s, r.now(), f.End(s))
	}
	if r.spec.Bundle != nil {
		r.failed(r.spec.Bundle.End(transcript.CLIToServer, s, r.now(), cause))
	}
}

// act does what the script wants. Nothing here blocks: the pump that called
// must go on reading or the child could never take what is written.
func (r *run) act(actions []Action) {
	for _, a := range actions {
		if len(a.Write) > 0 {
			r.stdin.write(a.Write)
		}
		if a.CloseStdin {
			r.stdin.finish()
		}
		if a.Signal != "" {
			r.sendSoon(a.Signal)
		}
		if a.Terminate {
			select {
			case r.over <- a.TerminateAfter:
			default: // the end is near already
			}
		}
	}
}

// sendSoon hands a signal to the conductor. More than a handful of unsent
// signals say nothing that the first ones did not.
func (r *run) sendSoon(name string) {
	select {
	case r.signals <- name:
	default:
	}
}

// want asks for the end of the run. The first wish counts.
func (r *run) want(e ending) {
	select {
	case r.stop <- e:
	default:
	}
}

// failed remembers the first error of the bundle and ends the run: what cannot
// be recorded is not worth running.
func (r *run) failed(err error) {
	if err != nil && r.fail == nil {
		r.fail = err
		r.want(ending{transcript.EventKill, "not_recorded"})
	}
}

// silence returns how long ago the child last printed something.
func (r *run) silence() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.now() - r.out.last
}

func (r *run) interrupt() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.interruptLocked()
}

func (r *run) interruptLocked() {
	if !r.out.interrupted {
		r.out.interrupted = true
		r.sendSoon(r.spec.Interrupt.Signal)
	}
}
