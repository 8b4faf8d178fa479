package errorcase

import (
	"bytes"
	"strconv"
	"sync"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// Forms knows the error cases of runs whose transcripts are the same: these
// differ in what Run says and nowhere else. It is safe for concurrent use; the
// zero value is ready.
type Forms struct{ made sync.Map }

// formKey is what the form of a case depends on: the transcript's part, and
// which members of the run are empty, which a record leaves out.
type formKey struct {
	read  *contract.ErrorCase
	empty uint16
}

// form is a written case, cut where the members of its run stand.
type form struct {
	pieces [][]byte
	fields []int // the member between a piece and the next
}

// Is reports whether a text is contract.Encode(r.Case(read)). What read points to
// must not change.
func (f *Forms) Is(text []byte, r Run, read *contract.ErrorCase) (bool, error) {
	values := r.values()
	key := formKey{read: read}
	for i, v := range values {
		if !bare(*v) {
			return isCase(text, r, read)
		}
		if *v == "" {
			key.empty |= 1 << i
		}
	}
	found, ok := f.made.Load(key)
	if !ok {
		made, err := newForm(r, read)
		if err != nil {
			return false, err
		}
		found, _ = f.made.LoadOrStore(key, made)
	}
	made := found.(*form)
	if made == nil {
		return isCase(text, r, read)
	}
	text, same := bytes.CutPrefix(text, made.pieces[0])
	for i := 0; same && i < len(made.fields); i++ {
		value := *values[made.fields[i]]
		if same = len(text) >= len(value) && string(text[:len(value)]) == value; same {
			text, same = bytes.CutPrefix(text[len(value):], made.pieces[i+1])
		}
	}
	return same && len(text) == 0, nil
}

func isCase(text []byte, r Run, read *contract.ErrorCase) (bool, error) {
	want, err := contract.Encode(r.Case(read))
	return bytes.Equal(text, want), err
}

// values are the members that a case takes from its run.
func (r *Run) values() []*string {
	return []*string{
		&r.Agent, &r.CLIVersion, (*string)(&r.Platform), &r.Probe, (*string)(&r.Level), &r.RecordedAt, &r.Observation,
		&r.Fixture, (*string)(&r.FixtureSHA256), (*string)(&r.RawTranscript), &r.Source,
	}
}

// bare reports whether a text stands in JSON as it is.
func bare(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}

// newForm writes a case with a mark in the place of each member of the run; nil
// where a mark is not where it should be, once.
func newForm(r Run, read *contract.ErrorCase) (*form, error) {
	values := r.values()
	marks := make([][]byte, len(values))
	for i, v := range values {
		if *v != "" {
			*v = "<<run-member-" + strconv.Itoa(i) + ">>"
			marks[i] = []byte(*v)
		}
	}
	text, err := contract.Encode(r.Case(read))
	if err != nil {
		return nil, err
	}
	for _, m := range marks {
		if m != nil && bytes.Count(text, m) != 1 {
			return nil, nil
		}
	}
	out := &form{}
	for {
		next, at := -1, len(text)
		for i, m := range marks {
			if j := bytes.Index(text, m); m != nil && j >= 0 && j < at {
				next, at = i, j
			}
		}
		out.pieces = append(out.pieces, text[:at:at])
		if next < 0 {
			return out, nil
		}
		out.fields = append(out.fields, next)
		text = text[at+len(marks[next]):]
	}
}
