package transcript

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"
	"unicode/utf8"
)

// Assemble turns the chunks of a bundle into a transcript of lines. Lines end
// at "\n" and nowhere else, have no length limit and keep every byte; they
// stand in the order of their completion. What a stream holds after its last
// "\n" is a record of its own, placed where the stream ended, or at the end of
// a bundle that was cut. The result owns its bytes and needs about as much
// memory as the bundle is long.
func Assemble(r *BundleReader) (*Transcript, error) {
	a := assembler{records: blocks{size: r.size}, open: map[Stream][]byte{}}
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		a.entry(e)
	}
	for _, s := range []Stream{Stdin, Stdout, Stderr, Session} {
		a.tail(s, r.last, s != Stdin)
	}
	return &Transcript{Records: a.records.join()}, nil
}

type assembler struct {
	records blocks
	open    map[Stream][]byte // bytes after the last "\n" of each stream
}

func (a *assembler) entry(e Entry) {
	switch {
	case e.Event != nil:
		a.records.add(Record{
			Dir: Process, At: e.At, Event: e.Event.Event,
			ExitCode: e.Event.ExitCode, Signal: e.Event.Signal, Reason: e.Event.Reason,
		}, 0)
	case e.End != "":
		a.tail(e.Stream, e.At, e.Stream != Stdin && e.End != "eof")
	default:
		a.chunk(e)
	}
}

// chunk cuts one chunk into lines. Whole lines share one copy of the chunk.
func (a *assembler) chunk(e Entry) {
	last := bytes.LastIndexByte(e.Data, '\n') + 1
	whole, rest := e.Data[:last], e.Data[last:]
	if len(whole) > 0 {
		whole = append(slices.Clip(a.open[e.Stream]), whole...)
		delete(a.open, e.Stream)
	}
	odd := len(ByteDeviations(whole)) > 0 || bytes.IndexByte(whole, '\r') >= 0 // one look at the chunk saves one at each line
	for len(whole) > 0 {
		end := bytes.IndexByte(whole, '\n') + 1
		line := whole[:end:end]
		var deviations []string
		if odd {
			deviations = ByteDeviations(line)
		}
		a.add(e.Dir, e.Stream, e.At, line, deviations)
		whole = whole[end:]
	}
	if len(rest) > 0 {
		a.open[e.Stream] = append(a.open[e.Stream], rest...)
	}
}

// tail adds what a stream holds after its last line break.
func (a *assembler) tail(s Stream, at time.Duration, cut bool) {
	line := a.open[s]
	if len(line) == 0 {
		return
	}
	delete(a.open, s)
	dir := CLIToServer
	switch s {
	case Stdin:
		dir = ServerToCLI
	case Session:
		dir = CLIToFile
	}
	deviations := ByteDeviations(line)
	if cut {
		deviations = append(deviations, DeviationTruncatedTail)
	}
	a.add(dir, s, at, line, deviations)
}

func (a *assembler) add(dir Dir, s Stream, at time.Duration, line []byte, deviations []string) {
	a.records.add(Record{Dir: dir, Stream: s, At: at, Data: line, Deviations: deviations}, len(line))
}

// ByteDeviations names what is odd about the bytes of a line: ansi (an ESC
// byte), crlf, invalid_utf8, nul; in this order, which is the canonical one.
func ByteDeviations(line []byte) []string {
	var d []string
	if bytes.IndexByte(line, 0x1b) >= 0 {
		d = append(d, DeviationANSI)
	}
	if bytes.HasSuffix(line, []byte("\r\n")) {
		d = append(d, DeviationCRLF)
	}
	if !utf8.Valid(line) {
		d = append(d, DeviationInvalidUTF8)
	}
	if bytes.IndexByte(line, 0) >= 0 {
		d = append(d, DeviationNUL)
	}
	return d
}
