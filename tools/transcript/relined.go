package transcript

import (
	"bytes"
	"slices"
)

// Relined returns the transcript with one line in each record. That is what the
// schema asks for and what this program writes; whoever else records a run may
// note the chunks as they came, and a word that a chunk cuts is then a whole word
// to nobody. Lines stand in the order of their completion, what is left behind the
// last line break of a stream at the end of it. A transcript of lines is returned
// as it is.
func (t *Transcript) Relined() *Transcript {
	if t.ofLines() {
		return t
	}
	a := assembler{open: map[Stream][]byte{}}
	last := t.lastOf()
	for i := range t.Records {
		r := &t.Records[i]
		switch {
		case r.Dir == Process || r.DataRef != "":
			a.records.add(*r, 0)
			continue
		case r.Frame != nil: // a line of its own
			a.tail(r.Stream, r.At, false)
			a.records.add(*r, 0)
		default:
			a.chunk(Entry{Dir: r.Dir, Stream: r.Stream, At: r.At, Data: r.Data})
		}
		if last[r.Stream] == i {
			a.tail(r.Stream, r.At, slices.Contains(r.Deviations, DeviationTruncatedTail))
		}
	}
	return &Transcript{Records: a.records.join()}
}

// lastOf returns the last record of each stream.
func (t *Transcript) lastOf() map[Stream]int {
	last := map[Stream]int{}
	for i := range t.Records {
		last[t.Records[i].Stream] = i
	}
	return last
}

// ofLines says that no record holds several lines, or goes on with the line of
// another one.
func (t *Transcript) ofLines() bool {
	var open [4]bool
	for i := range t.Records {
		r := &t.Records[i]
		if r.Data == nil {
			continue
		}
		n := bytes.IndexByte(r.Data, '\n')
		if n >= 0 && n < len(r.Data)-1 {
			return false
		}
		was := &open[streamNumber(r.Stream)]
		if *was && len(r.Data) > 0 {
			return false
		}
		*was = *was || n < 0 && len(r.Data) > 0
	}
	return true
}

func streamNumber(s Stream) int {
	switch s {
	case Stdin:
		return 0
	case Stdout:
		return 1
	case Stderr:
		return 2
	}
	return 3
}
