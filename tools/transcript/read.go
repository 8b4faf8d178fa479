package transcript

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
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
	size := inputSize(r)
	room := roomBytes
	if size > 0 { // most are small, and then the buffer is what they cost
		room = min(room, size+1)
	}
	in := bufio.NewReaderSize(r, room)
	var p recordReader
	records := blocks{size: size}
	var long []byte // a line that does not fit into the buffer
	var last time.Duration
	for n := 1; ; n++ {
		line, err := in.ReadSlice('\n')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = in.ReadSlice('\n') {
			long = append(long, line...)
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if errors.Is(err, io.EOF) {
			if len(line) > 0 {
				return nil, &LineError{n, "no line break at the end: the file was cut"}
			}
			return &Transcript{Records: records.join()}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading transcript: %w", err)
		}
		rec, what := p.record(bytes.TrimSuffix(line, []byte("\n")))
		if what == "" && rec.At < last {
			what = "at_ms goes back"
		}
		if what != "" {
			return nil, &LineError{n, what}
		}
		last = rec.At
		records.add(rec, len(line))
	}
}

// recordReader reads the records of one transcript.
type recordReader struct {
	doc  rawjson.Doc
	room []byte // for the bytes of records, which share it
}

// roomBytes is how much room records share: a million short lines are not a
// million allocations.
const roomBytes = 64 << 10

// keep returns a copy of the decoded string that nothing will overwrite.
func (p *recordReader) keep(v rawjson.Value) []byte {
	from, to := v.Range() // decoding never makes a text longer
	if need := to - from; need > roomBytes/8 {
		return slices.Clip(v.AppendStr(make([]byte, 0, need)))
	} else if need > cap(p.room)-len(p.room) {
		p.room = make([]byte, 0, max(need, min(2*cap(p.room), roomBytes), 4<<10))
	}
	start := len(p.room)
	p.room = v.AppendStr(p.room)
	return slices.Clip(p.room[start:])
}

// record returns the record of one line, or what is wrong with it.
func (p *recordReader) record(line []byte) (rec Record, what string) {
	if err := p.doc.Parse(line); err != nil {
		return rec, err.Error()
	}
	v := p.doc.Root()
	if v.Kind() != rawjson.Object {
		return rec, "not a JSON object"
	}
	var seen keySet
	for m := range v.Children() {
		key := recordKey(m)
		if seen.add(key) {
			return rec, fmt.Sprintf("key %.40q stands twice", key)
		}
		if what := rec.set(p, key, m); what != "" {
			return rec, what
		}
	}
	if !seen.add("at_ms") {
		return rec, "at_ms is missing"
	}
	return rec, rec.check()
}

// recordKeys are the keys of a record, in the canonical order.
var recordKeys = []string{"dir", "stream", "event", "at_ms", "data", "data_ref", "frame", "exit_code", "signal", "extensions"}

// recordKey returns the key of a member, without a copy of a known one.
func recordKey(m rawjson.Value) string {
	for _, k := range recordKeys {
		if m.KeyIs(k) {
			return k
		}
	}
	return m.Key()
}

// keySet holds the few keys of a record.
type keySet struct {
	keys [16]string
	n    int
}

// add adds a key and reports whether it was there already. A record has fewer
// keys than the set has room for: the first unknown one ends its reading.
func (s *keySet) add(key string) bool {
	if slices.Contains(s.keys[:s.n], key) {
		return true
	}
	s.keys[s.n] = key
	s.n++
	return false
}

// set stores one member of a record and returns what is wrong with it.
func (r *Record) set(p *recordReader, key string, v rawjson.Value) string {
	var what string
	switch key {
	case "dir":
		r.Dir = Dir(known(v, key, &what, string(CLIToServer), string(ServerToCLI), string(Process)))
	case "stream":
		r.Stream = Stream(known(v, key, &what, string(Stdout), string(Stderr), string(Stdin)))
	case "event":
		r.Event = word(v, key, &what)
	case "at_ms":
		n, ok := integer(v)
		if !ok || n < 0 || n > math.MaxInt64/int64(time.Millisecond) {
			return "at_ms is not a whole number of milliseconds from 0"
		}
		r.At = time.Duration(n) * time.Millisecond
	case "data":
		if v.Kind() != rawjson.String {
			return "data is not a text"
		}
		r.Data = p.keep(v)
	case "data_ref":
		r.DataRef = word(v, key, &what)
	case "frame":
		raw := v.Raw()
		line := append(append(make([]byte, 0, len(raw)+1), raw...), '\n')
		r.Frame = line[:len(raw)]
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

// known is word for a string that is nearly always one of a few, of which it
// returns the given one instead of a copy.
func known(v rawjson.Value, name string, what *string, words ...string) string {
	for _, w := range words {
		if v.IsStr(w) {
			return w
		}
	}
	return word(v, name, what)
}

// word returns a string, or sets what when v is none or an empty one.
func word(v rawjson.Value, name string, what *string) string {
	s := v.Str()
	if s == "" {
		*what = name + " is not a text"
	}
	return s
}

func integer(v rawjson.Value) (int64, bool) {
	n, err := strconv.ParseInt(string(v.Raw()), 10, 64)
	return n, err == nil && v.Kind() == rawjson.Number
}
