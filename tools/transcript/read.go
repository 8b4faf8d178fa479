package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// LineError says which line of a sanitized transcript is wrong and why. It
// never quotes a value of the line.
type LineError struct {
	Line int // from 1
	What string
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("transcript line %d: %s", e.Line, e.What) }

// ReadSanitized reads a sanitized transcript and checks every rule of
// transcript.schema.json that one record can break, and that offsets do not go
// back. What it accepts, WriteSanitized writes; the error is a *LineError or a
// read error. Keys may stand in any order; unknown and repeated ones are
// refused, also in extensions.
func ReadSanitized(r io.Reader) (*Transcript, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	t := &Transcript{}
	var doc rawjson.Doc
	var last time.Duration
	for n := 1; ; n++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			if len(line) > 0 {
				return nil, &LineError{n, "no line break at the end: the file was cut"}
			}
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading transcript: %w", err)
		}
		rec, what := parseRecord(&doc, bytes.TrimSuffix(line, []byte("\n")))
		if what == "" && rec.At < last {
			what = "at_ms goes back"
		}
		if what != "" {
			return nil, &LineError{n, what}
		}
		last = rec.At
		t.Records = append(t.Records, rec)
	}
}

// parseRecord returns the record of one line, or what is wrong with it.
func parseRecord(doc *rawjson.Doc, line []byte) (rec Record, what string) {
	if err := doc.Parse(line); err != nil {
		return rec, err.Error()
	}
	v := doc.Root()
	if v.Kind() != rawjson.Object {
		return rec, "not a JSON object"
	}
	seen := map[string]bool{}
	for m := range v.Children() {
		key := m.Key()
		if seen[key] {
			return rec, fmt.Sprintf("key %.40q stands twice", key)
		}
		seen[key] = true
		if what := rec.set(key, m); what != "" {
			return rec, what
		}
	}
	if !seen["at_ms"] {
		return rec, "at_ms is missing"
	}
	return rec, rec.check()
}

// set stores one member of a record and returns what is wrong with it.
func (r *Record) set(key string, v rawjson.Value) string {
	var what string
	switch key {
	case "dir":
		r.Dir = Dir(word(v, key, &what))
	case "stream":
		r.Stream = Stream(word(v, key, &what))
	case "event":
		r.Event = word(v, key, &what)
	case "at_ms":
		n, ok := integer(v)
		if !ok || n < 0 || n > math.MaxInt64/int64(time.Millisecond) {
			return "at_ms is not a whole number of milliseconds from 0"
		}
		r.At = time.Duration(n) * time.Millisecond
	case "data":
		r.Data = []byte(word(v, key, &what))
		if v.Str() == "" {
			r.Data = []byte{}
		}
	case "data_ref":
		r.DataRef = word(v, key, &what)
	case "frame":
		r.Frame = bytes.Clone(v.Raw())
	case "exit_code":
		return r.setExitCode(v)
	case "signal":
		if v.Kind() != rawjson.Null {
			r.Signal = word(v, key, &what)
		}
	case "extensions":
		return r.setExtensions(v)
	default:
		return fmt.Sprintf("unknown key %.40q", key)
	}
	return what
}

func (r *Record) setExitCode(v rawjson.Value) string {
	if v.Kind() == rawjson.Null {
		return ""
	}
	n, ok := integer(v)
	if !ok || n < 0 || n > math.MaxUint32 {
		return "exit_code is not a whole number from 0"
	}
	code := int(n)
	r.ExitCode = &code
	return ""
}

func (r *Record) setExtensions(v rawjson.Value) string {
	if v.Kind() != rawjson.Object {
		return "extensions is not an object"
	}
	var what string
	seen := map[string]bool{}
	for m := range v.Children() {
		key := m.Key()
		if seen[key] {
			return fmt.Sprintf("key %.40q stands twice in extensions", key)
		}
		seen[key] = true
		switch key {
		case "reason":
			r.Reason = word(m, "extensions.reason", &what)
		case "deviations":
			if m.Kind() != rawjson.Array {
				return "extensions.deviations is not a list of words"
			}
			for e := range m.Children() {
				r.Deviations = append(r.Deviations, word(e, "an entry of extensions.deviations", &what))
			}
		default:
			return fmt.Sprintf("unknown key %.40q in extensions", key)
		}
	}
	return what
}

// word returns a string, or sets what when v is none. An empty string is only
// data.
func word(v rawjson.Value, name string, what *string) string {
	if v.Kind() != rawjson.String || v.Str() == "" && name != "data" {
		*what = name + " is not a text"
	}
	return v.Str()
}

func integer(v rawjson.Value) (int64, bool) {
	n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	return n, err == nil && v.Kind() == rawjson.Number
}
