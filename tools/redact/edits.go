package redact

import (
	"bytes"
	"strings"
)

// edit replaces s[start:end] by text.
type edit struct {
	start, end int
	text       string
}

// spareEdits are lists of edits that were applied, to be used again: what is
// nested in a text has lists of its own.
type spareEdits [][]edit

func (l *spareEdits) take() []edit {
	n := len(*l) - 1
	if n < 0 {
		return make([]edit, 0, 16)
	}
	list := (*l)[n]
	*l = (*l)[:n]
	return list[:0]
}

func (l *spareEdits) give(list []edit) {
	if cap(list) > 0 && len(*l) < 8 {
		clear(list) // and the texts in it
		*l = append(*l, list)
	}
}

// apply returns s with the edits, which are in order and do not overlap.
func apply(s string, edits []edit) string {
	if len(edits) == 0 {
		return s
	}
	size := len(s)
	for _, e := range edits {
		size += len(e.text) - (e.end - e.start)
	}
	var b strings.Builder
	b.Grow(size)
	at := 0
	for _, e := range edits {
		b.WriteString(s[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.WriteString(s[at:])
	return b.String()
}

// applyBytes returns the line that holds body from shift on, with the edits of
// body.
func applyBytes(line []byte, shift, n int, edits []edit) []byte {
	size := len(line)
	for _, e := range edits {
		size += len(e.text) - (e.end - e.start)
	}
	out := append(make([]byte, 0, size), line[:shift]...)
	out = appendEdited(out, line[shift:shift+n], 0, n, edits)
	return append(out, line[shift+n:]...)
}

// appendEdited appends body[at:end] with its edits.
func appendEdited(out, body []byte, at, end int, edits []edit) []byte {
	for _, e := range edits {
		out = append(append(out, body[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, body[at:end]...)
}

// appendShifted appends edits of a part that begins at offset.
func appendShifted(edits, part []edit, offset int) []edit {
	for _, e := range part {
		e.start += offset
		e.end += offset
		edits = append(edits, e)
	}
	return edits
}

// slabSize is how much room for lines is made at once.
const slabSize = 256 << 10

// keep returns a copy of a line. Lines of one run stand in few pieces of memory,
// which cost less than one for each.
func (r *run) keep(line []byte) []byte {
	if len(line) > slabSize/4 {
		return bytes.Clone(line)
	}
	if len(r.slab)+len(line) > cap(r.slab) {
		r.slab = make([]byte, 0, slabSize)
	}
	from := len(r.slab)
	r.slab = append(r.slab, line...)
	return r.slab[from:len(r.slab):len(r.slab)]
}
