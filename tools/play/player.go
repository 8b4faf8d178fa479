package play

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Options are the surroundings of a played child.
type Options struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	// Speed is how many times faster than recorded the child is; 0 is without
	// any delay.
	Speed float64
}

// Ending is how the child is to end: by its code, or by Signal if that is set.
type Ending struct {
	Code   int
	Signal string
}

// player is a recording under way.
type player struct {
	rec  *Recording
	opts Options
	host *host // where stdin is a conversation
	// signals are the caught ones; told is the last that a step waited for.
	signals <-chan os.Signal
	told    bool
	last    time.Duration // when the step before was recorded
	pending time.Duration // what is still to be slept
}

// Play plays a recording up to its end, which is left to the caller (Die). The
// error is a *Violation if the host did not do its part, or what went wrong
// with the output.
func Play(rec *Recording, opts Options) (Ending, error) {
	p := &player{rec: rec, opts: opts, signals: catch(rec.signals())}
	if rec.Stdin == contract.StdinJSONLOpen || rec.Stdin == contract.StdinRPC {
		p.host = newHost(opts.Stdin)
	}
	for i, s := range rec.steps {
		if p.host != nil {
			p.host.step.Store(int64(i))
			// Who ends the child hangs up too, whatever the child still says.
			if err := p.host.earlyEnd(rec.turnOver); err != nil && s.stream != transcript.Stdin && !p.told {
				return Ending{}, &Violation{i + 1, err.Error()}
			}
		}
		end, err := p.step(s)
		switch {
		case err != nil:
			return Ending{}, fmt.Errorf("playing: %w", err)
		case end != nil:
			return *end, nil
		}
	}
	return Ending{}, ErrNotPlayable
}

// step plays one step and returns how the child ends if it was the last one.
func (p *player) step(s step) (*Ending, error) {
	p.pace(s.at)
	switch {
	case s.event != nil:
		return p.event(s.event)
	case s.stream == transcript.Stdin && p.host != nil:
		return nil, p.violated(p.host.expect(parseFrame(s.data)))
	case s.stream == transcript.Stdin:
		_, err := io.Copy(io.Discard, p.opts.Stdin)
		return nil, err
	case s.stream == transcript.Stderr:
		_, err := p.opts.Stderr.Write(s.data)
		return nil, err
	}
	data := s.data
	if p.host != nil {
		data = p.host.ids.toClient(data)
	}
	_, err := p.opts.Stdout.Write(data)
	return nil, err
}

func (p *player) violated(err error) error {
	if err == nil {
		return nil
	}
	return &Violation{int(p.host.step.Load()) + 1, err.Error()}
}

// event plays what befell the child.
func (p *player) event(e *transcript.ProcessEvent) (*Ending, error) {
	switch e.Event {
	case transcript.EventKill, transcript.EventTimeout:
		if e.Signal != "" {
			p.stall(e)
		}
	case transcript.EventExit:
		return p.exit(e)
	}
	return nil, nil
}

// stall is silent until the signal comes that ended the recorded child. One
// that printed too much goes on printing.
func (p *player) stall(e *transcript.ProcessEvent) {
	for {
		if e.Reason == transcript.ReasonOutputLimit {
			select {
			case s := <-p.signals:
				if signalName(s) == e.Signal {
					p.told = true
					return
				}
			default:
				if _, err := p.opts.Stdout.Write([]byte("\n")); err != nil {
					return
				}
			}
			continue
		}
		if s := <-p.signals; signalName(s) == e.Signal {
			p.told = true
			return
		}
	}
}

// exit waits for the host to hang up, if the recorded one did, and returns the
// end.
func (p *player) exit(e *transcript.ProcessEvent) (*Ending, error) {
	if p.host != nil && p.rec.waits && !p.told {
		if err := p.host.rest(); err != nil {
			return nil, p.violated(err)
		}
	}
	if p.told && e.Signal == "SIGKILL" {
		for range p.signals { // what did not end the recorded child does not end this one
		}
	}
	end := &Ending{Signal: e.Signal}
	if e.ExitCode != nil {
		end.Code = *e.ExitCode
	}
	return end, nil
}

// pace waits as long as the child took since the step before.
func (p *player) pace(at time.Duration) {
	d := at - p.last
	p.last = at
	if p.opts.Speed <= 0 || d <= 0 {
		return
	}
	// Short delays are added up: a timer is late by more than they are long.
	p.pending += time.Duration(float64(d) / p.opts.Speed)
	if p.pending >= time.Millisecond {
		time.Sleep(p.pending)
		p.pending = 0
	}
}

// signals lists those that the recorded host sent, in the order in which they
// came first.
func (r *Recording) signals() []string {
	var out []string
	for _, s := range r.steps {
		if s.event != nil && s.event.Event != transcript.EventExit && s.event.Signal != "" {
			out = append(out, s.event.Signal)
		}
	}
	return out
}
