// Package fault stands between a child and the recorder and breaks what a real
// CLI cannot be made to break (FINE-PRINT 9). Which fault it is comes from the
// probe's scenario; the same bytes give the same bytes, however they are cut
// into chunks.
package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
)

// Injector is a harness.Filter for one run. It keeps no more than the longest
// line, and for partial_line the blank lines behind it.
type Injector struct {
	fault   contract.Fault
	frame   []byte // what unknown_event inserts, one line without its end
	open    []byte // stdout behind its last line break
	held    []byte // partial_line: the last line that is not blank, and blank ones
	seen    int    // lines that begin with "{"
	applied bool
}

// New returns the injector of a fault for a CLI that speaks the dialect.
func New(f *contract.Fault, dialect string) (*Injector, error) {
	i := &Injector{fault: *f}
	if f.Kind != contract.FaultUnknownEvent {
		return i, nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, f.Frames[dialect]); err != nil || b.Len() == 0 {
		return nil, fmt.Errorf("the fault has no frame for dialect %q: add one to fault.frames of the probe's scenario.json", dialect)
	}
	i.frame = b.Bytes()
	return i, nil
}

// Output returns what the recorder gets instead of a chunk. It does not keep
// the chunk.
func (i *Injector) Output(s transcript.Stream, chunk []byte) []byte {
	switch {
	case i.fault.Kind == contract.FaultNoOutput:
		i.applied = true
		return nil
	case s != transcript.Stdout || i.passes():
		return chunk
	}
	var out []byte
	for line := range bytes.Lines(chunk) {
		if len(i.open) > 0 || !bytes.HasSuffix(line, []byte("\n")) {
			i.open = append(i.open, line...)
			line = i.open
		}
		if !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		out = append(out, i.line(line)...)
		i.open = i.open[:0]
	}
	return out
}

// passes reports that stdout goes on as it is, from here to its end.
func (i *Injector) passes() bool {
	lines := i.fault.Kind == contract.FaultMalformedJSON || i.fault.Kind == contract.FaultUnknownEvent
	return i.fault.Kind == contract.FaultExitCode || lines && i.applied && len(i.open) == 0
}

// End returns what the recorder gets when a stream has ended.
func (i *Injector) End(s transcript.Stream) []byte {
	if s != transcript.Stdout || i.fault.Kind == contract.FaultNoOutput {
		return nil
	}
	var out []byte
	if len(i.open) > 0 {
		out = i.line(i.open)
		i.open = nil
	}
	if i.fault.Kind == contract.FaultPartialLine && len(i.held) > 0 {
		line, _ := lineEnd(firstLine(i.held))
		out = append(out, half(line)...)
		i.held, i.applied = nil, true
	}
	return out
}

// Exit returns the exit code that is recorded for a child that ended by itself.
func (i *Injector) Exit(code int) int {
	if i.fault.ExitCode == nil {
		return code
	}
	i.applied = i.applied || i.fault.Kind == contract.FaultExitCode || i.fault.Kind == contract.FaultNoOutput
	return *i.fault.ExitCode
}

// Applied reports whether the run got its fault: a stream may have too few
// lines for it.
func (i *Injector) Applied() bool { return i.applied }

// line returns what takes the place of one line of stdout.
func (i *Injector) line(line []byte) []byte {
	if i.fault.Kind == contract.FaultPartialLine {
		return i.hold(line)
	}
	if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{")) {
		i.seen++
	}
	if i.applied || i.seen < i.fault.Line {
		return line
	}
	i.applied = true
	text, end := lineEnd(line)
	if i.fault.Kind == contract.FaultMalformedJSON {
		return append(half(text), end...)
	}
	if len(end) == 0 { // the frame is the last line now, without an end like the one before
		return bytes.Join([][]byte{text, i.frame}, []byte("\n"))
	}
	return bytes.Join([][]byte{text, end, i.frame, end}, nil)
}

// hold keeps the line back until a later one shows that it was not the last.
func (i *Injector) hold(line []byte) []byte {
	var out []byte
	if len(bytes.TrimSpace(line)) > 0 {
		out = i.held
		i.held = nil
	}
	i.held = append(i.held, line...)
	return out
}

func firstLine(b []byte) []byte {
	for line := range bytes.Lines(b) {
		if len(bytes.TrimSpace(line)) > 0 {
			return line
		}
	}
	return nil
}

// lineEnd splits a line from its line break, "\n" or "\r\n".
func lineEnd(line []byte) (text, end []byte) {
	text = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if len(line) == 0 || line[len(line)-1] != '\n' {
		text = line
	}
	return text, line[len(text):]
}

// half returns a copy of the first half of a text, cut between two characters,
// that is not JSON.
func half(text []byte) []byte {
	text = bytes.TrimRight(text, " \t\r\n")
	n := len(text) / 2
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	text = bytes.TrimRight(text[:n], " \t")
	if json.Valid(text) {
		text = text[:len(text)-1]
	}
	return bytes.Clone(text)
}
