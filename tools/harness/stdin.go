package harness

import (
	"os"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// How stdin ended, in Result and in the bundle.
const (
	stdinClosed = "closed"
	stdinUnread = "unread"
)

// stdinWriter writes to the child in a goroutine of its own, so that a child
// that does not read blocks nothing else. Bytes are recorded before they are
// written: an answer then never stands before its request, and what is
// recorded does not depend on how much the pipe takes.
type stdinWriter struct {
	r *run
	f *os.File // nil when the child has no stdin of ours

	mu      sync.Mutex
	wake    *sync.Cond
	queue   [][]byte
	last    bool // close when the queue is empty
	aborted bool
	done    chan struct{}

	cause string // how it ended; read after wait
}

func newStdinWriter(r *run, f *os.File) *stdinWriter {
	w := &stdinWriter{r: r, f: f, done: make(chan struct{})}
	w.wake = sync.NewCond(&w.mu)
	if f == nil {
		close(w.done)
		return w
	}
	w.write(r.spec.Stdin.Data)
	w.last = r.spec.Stdin.Mode == contract.StdinText
	go w.loop()
	return w
}

// write queues bytes; after finish or abort it does nothing.
func (w *stdinWriter) write(b []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(b) > 0 && !w.last && !w.aborted {
		w.queue = append(w.queue, b)
		w.wake.Signal()
	}
}

// finish closes stdin when everything queued is written.
func (w *stdinWriter) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = true
	w.wake.Signal()
}

// abort closes stdin now.
func (w *stdinWriter) abort() {
	if w.f == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.aborted = true
	w.f.Close() // wakes a blocked write; the second Close does nothing
	w.wake.Signal()
}

// wait waits until the writer has ended; it must have been told to.
func (w *stdinWriter) wait() { <-w.done }

func (w *stdinWriter) loop() {
	defer close(w.done)
	w.cause = w.drainQueue()
	w.f.Close()
	w.r.stdinEnd(w.cause)
}

// drainQueue writes what is queued until there is a reason to stop.
func (w *stdinWriter) drainQueue() string {
	for {
		b, cause := w.next()
		if cause != "" {
			return cause
		}
		w.r.input(b)
		if _, err := w.f.Write(b); err != nil {
			// EPIPE, ECONNRESET, or our own abort. OpenDesign swallows them, and
			// so it is a fact about the run and no error.
			w.abort()
			return stdinUnread
		}
	}
}

// next waits for bytes or for a reason to stop.
func (w *stdinWriter) next() (b []byte, cause string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && !w.last && !w.aborted {
		w.wake.Wait()
	}
	switch {
	case w.aborted && len(w.queue) > 0:
		return nil, stdinUnread
	case len(w.queue) == 0:
		return nil, stdinClosed
	}
	b, w.queue = w.queue[0], w.queue[1:]
	return b, ""
}

// input records bytes for stdin.
func (r *run) input(b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spec.Bundle != nil {
		r.failed(r.spec.Bundle.Chunk(transcript.ServerToCLI, transcript.Stdin, r.now(), b))
	}
}

func (r *run) stdinEnd(cause string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.spec.Bundle != nil {
		r.failed(r.spec.Bundle.End(transcript.ServerToCLI, transcript.Stdin, r.now(), cause))
	}
}
