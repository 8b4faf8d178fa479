package transcript

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// WriteSanitized writes the canonical form of transcript.schema.json: one JSON
// object a line without white space, keys in the order dir, stream, event,
// at_ms, data, data_ref, frame, exit_code, signal, extensions, and the
// record's ordinal as at_ms. Equal transcripts give equal bytes.
//
// A record that the form cannot carry without loss is an error that gives its
// number: data that is not UTF-8, a frame that is not one JSON object on one
// line, an exit without code and signal.
func (t *Transcript) WriteSanitized(w io.Writer) error {
	if in, is := w.(*bytes.Buffer); is {
		return t.writeSanitized(in)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	if err := t.writeSanitized(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing transcript: %w", err)
	}
	return nil
}

// IsSanitized reports whether WriteSanitized writes just this text; the error
// is that of WriteSanitized.
func (t *Transcript) IsSanitized(text []byte) (bool, error) {
	left := remainder{text, true}
	err := t.writeSanitized(&left)
	return left.same && len(left.text) == 0, err
}

// isWritten is IsSanitized of a transcript whose records hold no problem.
func (t *Transcript) isWritten(text []byte) bool {
	var line []byte
	for i := range t.Records {
		line = t.Records[i].appendJSON(line[:0], i)
		rest, is := bytes.CutPrefix(text, line)
		if !is {
			return false
		}
		text = rest
	}
	return len(text) == 0
}

// remainder is what of a text was not written, as long as the same was.
type remainder struct {
	text []byte
	same bool
}

func (l *remainder) Write(b []byte) (int, error) {
	rest, is := bytes.CutPrefix(l.text, b)
	l.text, l.same = rest, l.same && is
	return len(b), nil
}

func (t *Transcript) writeSanitized(out io.Writer) error {
	var line []byte
	for i := range t.Records {
		r := &t.Records[i]
		if problem := r.check(rawjson.Value{}); problem != "" {
			return fmt.Errorf("writing transcript: record %d: %s", i+1, problem)
		}
		line = r.appendJSON(line[:0], i)
		if _, err := out.Write(line); err != nil {
			return fmt.Errorf("writing transcript: %w", err)
		}
	}
	return nil
}

func (r *Record) appendJSON(b []byte, ordinal int) []byte {
	b = append(b, `{"dir":"`...)
	b = append(append(b, r.Dir...), '"')
	if r.Dir == Process {
		b = append(b, `,"event":"`...)
		b = append(append(b, r.Event...), '"')
	} else {
		b = append(b, `,"stream":"`...)
		b = append(append(b, r.Stream...), '"')
	}
	b = append(b, `,"at_ms":`...)
	b = strconv.AppendInt(b, int64(ordinal), 10)
	switch {
	case r.Data != nil:
		b = rawjson.AppendQuoteBytes(append(b, `,"data":`...), r.Data)
	case r.DataRef != "":
		b = rawjson.AppendQuote(append(b, `,"data_ref":`...), r.DataRef)
	case r.Frame != nil:
		b = append(append(b, `,"frame":`...), r.Frame...)
	case r.Event == EventExit:
		// The specification's examples write both, one of them null.
		b = append(b, `,"exit_code":`...)
		if r.ExitCode != nil {
			b = strconv.AppendInt(b, int64(*r.ExitCode), 10)
		} else {
			b = append(b, "null"...)
		}
		if r.Signal == "" {
			b = append(b, `,"signal":null`...)
		}
	}
	if r.Signal != "" {
		b = rawjson.AppendQuote(append(b, `,"signal":`...), r.Signal)
	}
	return append(r.appendExtensions(b), '}', '\n')
}

func (r *Record) appendExtensions(b []byte) []byte {
	if r.Reason == "" && len(r.Deviations) == 0 {
		return b
	}
	b = append(b, `,"extensions":{`...)
	if len(r.Deviations) > 0 {
		b = append(b, `"deviations":[`...)
		for i, d := range canonicalWords(r.Deviations) {
			if i > 0 {
				b = append(b, ',')
			}
			b = rawjson.AppendQuote(b, d)
		}
		b = append(b, ']')
	}
	if r.Reason != "" {
		if len(r.Deviations) > 0 {
			b = append(b, ',')
		}
		b = rawjson.AppendQuote(append(b, `"reason":`...), r.Reason)
	}
	return append(b, '}')
}

func canonicalWords(words []string) []string {
	if slices.IsSorted(words) && len(slices.Compact(slices.Clone(words))) == len(words) {
		return words
	}
	words = slices.Clone(words)
	slices.Sort(words)
	return slices.Compact(words)
}

// check says what keeps the record from being a valid sanitized record, or "".
// It never quotes a record's bytes. frame is the record's, if it was parsed before.
func (r *Record) check(frame rawjson.Value) string {
	for _, d := range r.Deviations {
		if !isWord(d) {
			return "a deviation is not a lower-case word"
		}
	}
	if r.Reason != "" && !isWord(r.Reason) {
		return "the reason is not a lower-case word"
	}
	if r.Dir == Process {
		return r.checkProcess()
	}
	if kindOf(r.Dir, r.Stream) == 0 {
		return "dir and stream do not go together: server->cli has stdin, cli->server has stdout and stderr, cli->file has session"
	}
	if r.Event != "" || r.ExitCode != nil || r.Signal != "" || r.Reason != "" {
		return "a stream record has no event, exit_code, signal or reason"
	}
	n := 0
	for _, has := range []bool{r.Data != nil, r.DataRef != "", r.Frame != nil} {
		if has {
			n++
		}
	}
	switch {
	case n != 1:
		return "want exactly one of data, data_ref and frame"
	case r.Dir == CLIToFile && r.Data == nil:
		return "a session file has data"
	case !utf8.Valid(r.Data):
		return "data is not UTF-8"
	case r.DataRef != "" && !isWord(r.DataRef):
		return "data_ref is not a lower-case word"
	case frame.Exists():
		return frameProblem(frame, r.Frame)
	case r.Frame != nil:
		return FrameProblem(r.Frame)
	}
	return ""
}

func (r *Record) checkProcess() string {
	switch {
	case r.Stream != "" || r.Data != nil || r.DataRef != "" || r.Frame != nil:
		return "a process event has no stream, data, data_ref or frame"
	case !slices.Contains([]string{EventSpawn, EventExit, EventTimeout, EventKill}, r.Event):
		return "event is not spawn, exit, timeout or kill"
	case r.Event == EventExit && (r.ExitCode == nil) == (r.Signal == ""):
		return "an exit has either exit_code or signal"
	case r.Event != EventExit && r.ExitCode != nil:
		return "only an exit has an exit_code"
	case r.Event == EventSpawn && r.Signal != "":
		return "a spawn has no signal"
	case r.Signal != "" && !isSignal(r.Signal):
		return "signal is not the name of a signal"
	}
	return ""
}

// isWord reports whether s is an identifier of ours: lower-case letters,
// digits and underscores.
func isWord(s string) bool {
	for _, c := range []byte(s) {
		if c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}

func isSignal(s string) bool {
	if len(s) < 4 || s[:3] != "SIG" {
		return false
	}
	for _, c := range []byte(s) {
		if c != '_' && c != '+' && c != '-' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
