package play

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
)

// Violation says where the host did not do what the recorded one did.
type Violation struct {
	Step int // of the recording, from 1
	What string
}

// Error implements error.
func (v *Violation) Error() string {
	return fmt.Sprintf("step %d of the recording: %s", v.Step, v.What)
}

// host reads the live host's frames. A goroutine reads, so that the host never
// waits for a child that is busy printing.
type host struct {
	frames  chan frame
	waiting []frame // answers that came before their turn
	ids     ids
	// step is the one that is played, endedAt the one in which stdin ended.
	step, endedAt atomic.Int64
}

// maxAhead is how many frames a host may be ahead of the recording before it
// has to wait.
const maxAhead = 4096

func newHost(in io.Reader) *host {
	h := &host{frames: make(chan frame, maxAhead), ids: ids{}}
	h.endedAt.Store(-1)
	go h.read(in)
	return h
}

func (h *host) read(in io.Reader) {
	defer close(h.frames)
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			h.frames <- parseFrame(line)
		}
		if err != nil {
			h.endedAt.Store(h.step.Load())
			return
		}
	}
}

// expect waits for the frame that the recorded client sent. Answers may come
// in another order than they did; everything else may not.
func (h *host) expect(recorded frame) error {
	if i := slices.IndexFunc(h.waiting, func(f frame) bool { return f.fits(recorded) }); i >= 0 {
		h.waiting = slices.Delete(h.waiting, i, i+1)
		return nil
	}
	for live := range h.frames {
		switch {
		case recorded.kind == "" || live.fits(recorded): // "": the recorded line was no frame, so any will do
			h.ids.learn(recorded, live)
			return nil
		case live.isAnswer() && len(h.waiting) < maxAhead:
			h.waiting = append(h.waiting, live)
		default:
			return fmt.Errorf("the client sent %s where the recorded one sent %s", live.name(), recorded.name())
		}
	}
	return fmt.Errorf("stdin was closed where the recorded client sent %s", recorded.name())
}

// rest waits for the end of stdin, before which nothing more may come.
func (h *host) rest() error {
	for _, f := range h.waiting {
		return fmt.Errorf("the client sent %s that answers nothing", f.name())
	}
	for f := range h.frames {
		return fmt.Errorf("the client sent %s after the end of the recorded conversation", f.name())
	}
	return nil
}

// earlyEnd complains of a stdin that ended before the turn was over.
func (h *host) earlyEnd(turnOver int) error {
	if at := h.endedAt.Load(); turnOver >= 0 && at >= 0 && at < int64(turnOver) {
		return errors.New("stdin was closed before the turn was over")
	}
	return nil
}

// name is the frame for people.
func (f frame) name() string {
	switch {
	case f.kind == "":
		return "a line that is no frame"
	case f.isAnswer():
		return fmt.Sprintf("%q to %.40q", f.kind, f.id)
	}
	return fmt.Sprintf("%.80q", f.kind)
}
