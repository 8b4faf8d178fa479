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
	s := sanitized{p: recordReader{left: size}, records: blocks{size: size}}
	var long []byte // a line that does not fit into the buffer
	for {
		line, err := in.ReadSlice('\n')
		for long = long[:0]; errors.Is(err, bufio.ErrBufferFull); line, err = in.ReadSlice('\n') {
			long = append(long, line...)
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		if errors.Is(err, io.EOF) {
			return s.end(line)
		}
		if err != nil {
			return nil, fmt.Errorf("reading transcript: %w", err)
		}
		if err := s.line(line); err != nil {
			return nil, err
		}
	}
}

// ReadCanonical is ReadSanitized of a text that is at hand, and reports whether
// WriteSanitized would write just that text.
func ReadCanonical(text []byte) (t *Transcript, canonical bool, err error) {
	s := sanitized{p: recordReader{left: len(text)}, records: blocks{size: len(text)}}
	s.records.expect(bytes.Count(text, []byte("\n")))
	for rest := text; ; {
		end := bytes.IndexByte(rest, '\n') + 1
		if end == 0 {
			if t, err = s.end(rest); err != nil {
				return nil, false, err
			}
			return t, t.isWritten(text), nil
		}
		if err := s.line(rest[:end]); err != nil {
			return nil, false, err
		}
		rest = rest[end:]
	}
}

// sanitized is a sanitized transcript that is being read.
type sanitized struct {
	p       recordReader
	records blocks
	last    time.Duration
}

// line takes the next line, with its line break.
func (s *sanitized) line(line []byte) error {
	rec, what := s.p.record(line[:len(line)-1])
	if what == "" && rec.At < s.last {
		what = "at_ms goes back"
	}
	if what != "" {
		return &LineError{s.records.n + 1, what}
	}
	s.last = rec.At
	s.records.add(rec, len(line))
	s.p.left -= len(line)
	return nil
}

// end returns what was read. Nothing may be left behind the last line.
func (s *sanitized) end(left []byte) (*Transcript, error) {
	if len(left) > 0 {
		return nil, &LineError{s.records.n + 1, "no line break at the end: the file was cut"}
	}
	return &Transcript{Records: s.records.join()}, nil
}

// recordReader reads the records of one transcript.
type recordReader struct {
	doc   rawjson.Doc
	frame rawjson.Value // of the record that is being read, if it has one
	room  []byte        // for the bytes of records, which share it
	left  int           // bytes of the input that were not read, if that is known
}

// roomBytes is how much room records share: a million short lines are not a
// million allocations.
const roomBytes = 64 << 10

// roomFor returns room for so many bytes, at the end of that which records share.
func (p *recordReader) roomFor(need int) []byte {
	if need > roomBytes/8 {
		return make([]byte, 0, need)
	}
	if need > cap(p.room)-len(p.room) {
		size := min(2*cap(p.room), roomBytes)
		if p.left > 0 { // as much as there can be
			size = min(p.left, roomBytes)
		}
		p.room = make([]byte, 0, max(need, size, 1<<10))
	}
	start := len(p.room)
	p.room = p.room[:start+need]
	return p.room[start : start : start+need]
}

// keep returns a copy of the decoded string that nothing will overwrite.
func (p *recordReader) keep(v rawjson.Value) []byte {
	from, to := v.Range() // decoding never makes a text longer
	return slices.Clip(v.AppendStr(p.roomFor(to - from)))
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
	p.frame = rawjson.Value{}
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
	return rec, rec.check(p.frame)
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
		line := append(append(p.roomFor(len(raw)+1), raw...), '\n')
		r.Frame, p.frame = line[:len(raw)], v
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
