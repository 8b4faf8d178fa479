package transcript

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"os"
	"sync"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// The raw bundle is one file:
//
//	"agent-contracts bundle" NUL version
//	then entries: kind byte, uvarint offset in ns, uvarint length, bytes
//
// It ends with an end entry; a file without one was cut, and everything up to
// the cut can be read. Offsets never go back.
const (
	bundleMagic   = "agent-contracts bundle\x00"
	bundleVersion = 1

	// maxEntry bounds one entry, so that a reader needs constant memory and
	// believes no length that a damaged file claims.
	maxEntry = 1 << 20

	bundleBuffer = 256 << 10

	// flushAfter is how long a byte may wait in memory: a kill -9 of this
	// program loses at most so much of what the child printed.
	flushAfter = 50 * time.Millisecond
)

type entryKind byte

const (
	kindStdin     entryKind = 1
	kindStdout    entryKind = 2
	kindStderr    entryKind = 3
	kindStdinEnd  entryKind = 4 // payload: why
	kindStdoutEnd entryKind = 5
	kindStderrEnd entryKind = 6
	kindProcess   entryKind = 7 // payload: processPayload as JSON
	kindEnd       entryKind = 8

	kindSession    entryKind = 9
	kindSessionEnd entryKind = kindSession + kindStdinEnd - kindStdin
)

// kindOf returns the kind of a chunk, or 0 for a pair that no child has.
func kindOf(dir Dir, s Stream) entryKind {
	switch {
	case dir == ServerToCLI && s == Stdin:
		return kindStdin
	case dir == CLIToServer && s == Stdout:
		return kindStdout
	case dir == CLIToServer && s == Stderr:
		return kindStderr
	case dir == CLIToFile && s == Session:
		return kindSession
	}
	return 0
}

// ProcessEvent is what happened to the child process; the fields are those of
// Record.
type ProcessEvent struct {
	Event    string `json:"event"`
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// BundleWriter streams a raw bundle to disk in constant memory and hashes it
// on the way. Its methods may be called from several goroutines; entries keep
// the order of the calls. After an error every later call returns that error.
type BundleWriter struct {
	mu     sync.Mutex
	f      *os.File
	sum    hash.Hash
	buf    []byte
	last   time.Duration
	timer  *time.Timer // runs while buf holds something
	err    error
	closed bool
}

// CreateBundle creates the file, which must not exist, readable by its owner
// only.
func CreateBundle(path string) (*BundleWriter, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("creating raw bundle: %w", err)
	}
	w := &BundleWriter{f: f, sum: sha256.New(), buf: make([]byte, 0, bundleBuffer)}
	w.buf = append(append(w.buf, bundleMagic...), bundleVersion)
	w.flush()
	return w, w.err
}

// Chunk records bytes that passed through a stream at an offset from the start
// of the child. Chunk borders carry no meaning; a large chunk is cut.
func (w *BundleWriter) Chunk(dir Dir, s Stream, at time.Duration, b []byte) error {
	kind := kindOf(dir, s)
	if kind == 0 {
		return fmt.Errorf("recording a chunk: no stream %q in direction %q", s, dir)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(b) > 0 {
		n := min(len(b), maxEntry)
		w.entry(kind, at, b[:n])
		b = b[n:]
	}
	return w.err
}

// End records that a stream ended, with a word for the cause: "eof" or "cut"
// (bytes are missing), and for stdin "closed" (the child could take all of it)
// or "unread" (it closed its end or ended first).
func (w *BundleWriter) End(dir Dir, s Stream, at time.Duration, cause string) error {
	kind := kindOf(dir, s)
	if kind == 0 {
		return fmt.Errorf("recording an end: no stream %q in direction %q", s, dir)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entry(kind+kindStdinEnd-kindStdin, at, []byte(cause))
	return w.err
}

// Process records an event of the child process and flushes, so that it is on
// disk when the call returns.
func (w *BundleWriter) Process(at time.Duration, e ProcessEvent) error {
	payload, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("recording a process event: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.entry(kindProcess, at, payload)
	w.flush()
	return w.err
}

// Close ends the bundle and returns the hash of the whole file. Without it the
// bundle counts as cut. A second Close is an error.
func (w *BundleWriter) Close() (contract.Digest, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return "", w.err
	}
	w.entry(kindEnd, w.last, nil)
	w.flush()
	err := w.err
	w.closed = true
	w.err = errors.New("raw bundle is closed")
	if cerr := w.f.Close(); err == nil && cerr != nil {
		err = fmt.Errorf("closing raw bundle: %w", cerr)
	}
	if err != nil {
		return "", err
	}
	return contract.Digest("sha256:" + hex.EncodeToString(w.sum.Sum(nil))), nil
}

// entry appends one entry to the buffer. Large payloads pass the buffer by.
func (w *BundleWriter) entry(kind entryKind, at time.Duration, b []byte) {
	if w.err != nil {
		return
	}
	// Several goroutines take their time before they take the lock.
	w.last = max(w.last, at)
	head := 1 + 2*binary.MaxVarintLen64
	if len(w.buf)+head+len(b) > cap(w.buf) {
		w.flush()
	}
	w.buf = append(w.buf, byte(kind))
	w.buf = binary.AppendUvarint(w.buf, uint64(w.last))
	w.buf = binary.AppendUvarint(w.buf, uint64(len(b)))
	if head+len(b) > cap(w.buf) {
		w.flush()
		w.write(b)
		return
	}
	w.buf = append(w.buf, b...)
	w.flushLater()
}

// flushLater starts the clock for the bytes in the buffer unless it runs.
func (w *BundleWriter) flushLater() {
	if w.timer != nil {
		return
	}
	w.timer = time.AfterFunc(flushAfter, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.flush()
	})
}

func (w *BundleWriter) flush() {
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
	w.write(w.buf)
	w.buf = w.buf[:0]
}

func (w *BundleWriter) write(b []byte) {
	if w.err != nil || len(b) == 0 {
		return
	}
	w.sum.Write(b)
	if _, err := w.f.Write(b); err != nil {
		w.err = fmt.Errorf("writing raw bundle: %w", err)
	}
}
