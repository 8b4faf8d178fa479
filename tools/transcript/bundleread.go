package transcript

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// Entry is one entry of a raw bundle: a chunk, the end of a stream, or a
// process event.
type Entry struct {
	Dir    Dir
	Stream Stream
	At     time.Duration

	// Data is a chunk's bytes. It is valid until the next call of Next.
	Data []byte

	// End is the cause with which a stream ended (see BundleWriter.End), and
	// empty for a chunk.
	End string

	// Event is what happened to the process, and nil for a stream's entry.
	Event *ProcessEvent
}

// BundleReader reads a raw bundle in constant memory.
type BundleReader struct {
	r         *bufio.Reader
	c         io.Closer
	size      int // of the bundle in bytes, 0 if it is not known
	buf       []byte
	last      time.Duration
	entries   int
	done      bool
	truncated bool
}

// OpenBundle opens a raw bundle. A file that is not one, or has a version that
// this program does not know, is an error.
func OpenBundle(path string) (*BundleReader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening raw bundle: %w", err)
	}
	r, err := ReadBundle(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("opening raw bundle %q: %w", path, err)
	}
	r.c = f
	return r, nil
}

// ReadBundle reads a raw bundle from any reader.
func ReadBundle(r io.Reader) (*BundleReader, error) {
	b := &BundleReader{r: bufio.NewReaderSize(r, 64<<10), size: inputSize(r)}
	head := make([]byte, len(bundleMagic)+1)
	if _, err := io.ReadFull(b.r, head); err != nil || string(head[:len(bundleMagic)]) != bundleMagic {
		return nil, errors.New("not a raw bundle: the file does not begin with its mark")
	}
	if v := head[len(bundleMagic)]; v != bundleVersion {
		return nil, fmt.Errorf("raw bundle has version %d and this program reads version %d: use a newer program", v, bundleVersion)
	}
	return b, nil
}

// Close closes the file.
func (r *BundleReader) Close() error {
	if r.c == nil {
		return nil
	}
	return r.c.Close()
}

// Truncated reports whether the bundle was cut, by a crash or kill of the
// recorder. It is meaningful after Next returned io.EOF.
func (r *BundleReader) Truncated() bool { return r.truncated }

// Next returns the next entry, or io.EOF after the last one. A cut last entry
// is returned as far as it goes. A file that does not follow the format is an
// error that names the entry.
func (r *BundleReader) Next() (Entry, error) {
	if r.done {
		return Entry{}, io.EOF
	}
	kind, at, err := r.head()
	if err != nil {
		return Entry{}, err
	}
	if kind == kindEnd {
		return Entry{}, r.finish()
	}
	e := Entry{At: at, Dir: CLIToServer}
	switch kind {
	case kindStdin, kindStdinEnd:
		e.Dir, e.Stream = ServerToCLI, Stdin
	case kindStdout, kindStdoutEnd:
		e.Stream = Stdout
	case kindStderr, kindStderrEnd:
		e.Stream = Stderr
	case kindSession, kindSessionEnd:
		e.Dir, e.Stream = CLIToFile, Session
	case kindProcess:
		return r.process(e)
	default:
		return Entry{}, r.damaged("unknown kind")
	}
	if kind >= kindStdinEnd && kind != kindSession {
		if r.truncated {
			return Entry{}, io.EOF
		}
		e.End = string(r.buf)
	} else {
		e.Data = r.buf
	}
	return e, nil
}

// head reads the head and payload of an entry; the payload is in r.buf.
func (r *BundleReader) head() (entryKind, time.Duration, error) {
	kind, err := r.r.ReadByte()
	if err != nil {
		return 0, 0, r.cut(err)
	}
	delta, err := r.uvarint()
	if err != nil {
		return 0, 0, err
	}
	length, err := r.uvarint()
	if err != nil {
		return 0, 0, err
	}
	at := time.Duration(delta)
	if at < r.last || length > maxEntry {
		return 0, 0, r.damaged("offset or length out of range")
	}
	r.entries++
	r.last = at
	if uint64(cap(r.buf)) < length {
		r.buf = make([]byte, length)
	}
	n, err := io.ReadFull(r.r, r.buf[:length])
	r.buf = r.buf[:n]
	if err != nil {
		if cerr := r.cut(err); cerr != io.EOF || n == 0 {
			return 0, 0, cerr
		}
	}
	return entryKind(kind), at, nil
}

func (r *BundleReader) uvarint() (uint64, error) {
	v, err := binary.ReadUvarint(r.r)
	if err == nil {
		return v, nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, r.cut(err)
	}
	return 0, r.damaged("number too large")
}

func (r *BundleReader) process(e Entry) (Entry, error) {
	if r.truncated {
		return Entry{}, io.EOF
	}
	e.Dir, e.Event = Process, &ProcessEvent{}
	if json.Unmarshal(r.buf, e.Event) != nil {
		return Entry{}, r.damaged("unreadable process event")
	}
	return e, nil
}

// finish checks that nothing follows the end entry.
func (r *BundleReader) finish() error {
	r.done = true
	if _, err := r.r.ReadByte(); err == nil {
		return r.damaged("bytes after the end")
	}
	return io.EOF
}

// cut notes that the file ends too early. Other read errors are passed on.
func (r *BundleReader) cut(err error) error {
	r.done = true
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.truncated = true
		return io.EOF
	}
	return fmt.Errorf("reading raw bundle: %w", err)
}

func (r *BundleReader) damaged(what string) error {
	r.done = true
	return fmt.Errorf("raw bundle is damaged at entry %d: %s", r.entries+1, what)
}
